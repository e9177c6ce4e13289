import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from graph.errors import UnreadableFile
from ingestion.page_image import WIDTH, PageImage, PageRequest, draw_page, scale_of
from ingestion.parsed import ReadLimits
from ingestion.read import Reader
from tests.unit.ingestion.pdf_writer import Page, flowing, write_pdf

LINES = ["Rails are inspected twice a", "week on main tracks."]
PDF = write_pdf([Page(flowing(["First page."])), Page(flowing(["Tracks", "", *LINES, "", "End."]))])


def request(page: int = 2, passage: str = " ".join(LINES), data: bytes = PDF) -> PageRequest:
    return PageRequest("", hashlib.sha256(data).hexdigest(), page, passage, ReadLimits())


def colors(picture: PageImage) -> Image.Image:
    return Image.open(io.BytesIO(picture.png))


def refused(request: PageRequest, data: bytes = PDF) -> str:
    with pytest.raises(UnreadableFile) as raised:
        draw_page(data, request)
    return raised.value.status


def test_each_line_of_the_passage_is_marked_where_it_stands() -> None:
    picture = draw_page(PDF, request())

    assert (picture.width, picture.height) == colors(picture).size == (WIDTH, 1553)
    scale = WIDTH / 612
    baselines = [792 - (700 - 13 * 2), 792 - (700 - 13 * 3)]
    assert len(picture.marks) == 2
    for (left, top, right, bottom), baseline in zip(picture.marks, baselines, strict=True):
        assert abs(left - 72 * scale) < 6
        assert top < baseline * scale < bottom
        assert right < 300 * scale
        assert colors(picture).getpixel((left + 1, top + 1)) == (255, 230, 120)


def test_a_page_without_the_passage_is_drawn_without_marks() -> None:
    picture = draw_page(PDF, request(page=1))

    assert picture.marks == ()
    assert len(picture.png) > 1000


def test_a_turned_page_is_marked_where_the_words_are() -> None:
    turned = PDF.replace(b"/MediaBox", b"/Rotate 90 /MediaBox")
    picture = draw_page(turned, request(data=turned))

    assert picture.width > picture.height
    dark = colors(picture).convert("L").point(lambda value: 255 if value < 100 else 0)
    for mark in picture.marks:
        assert dark.crop(mark).getbbox(), mark
    assert picture.marks


def test_a_file_with_other_bytes_is_not_shown() -> None:
    assert refused(request(data=b"other")) == "changed"


def test_a_page_that_is_not_there_and_a_file_that_is_no_pdf_are_named() -> None:
    assert refused(request(page=3)) == "no_page"
    assert refused(request(data=b"text"), b"text") == "broken"


@pytest.mark.parametrize("size", [(612, 792), (14_400, 14_400), (1, 14_400), (14_400, 1)])
def test_no_page_is_too_large_to_draw(size: tuple[float, float]) -> None:
    scale = scale_of(*size)

    assert size[0] * scale <= WIDTH + 1e-6
    assert size[0] * scale * size[1] * scale <= 6_000_001


@pytest.mark.parametrize("size", [(0, 792), (612, float("nan")), (float("inf"), 1), (-1, 1)])
def test_a_page_without_a_size_is_refused(size: tuple[float, float]) -> None:
    with pytest.raises(UnreadableFile, match="no size"):
        scale_of(*size)


def test_a_reader_draws_in_its_process_between_files_that_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(PDF)
    digest = hashlib.sha256(PDF).hexdigest()
    with Reader() as reader:
        text = reader.read(path).text
        picture = reader.draw(path, 2, sha256=digest, passage=" ".join(LINES))
        with pytest.raises(UnreadableFile) as gone:
            reader.draw(tmp_path / "b.pdf", 2, sha256=digest, passage="")
        again = reader.draw(path, 2, sha256=digest, passage=" ".join(LINES))

    assert "Rails" in text
    assert picture == again
    assert len(picture.marks) == 2
    assert gone.value.status == "not_found"
