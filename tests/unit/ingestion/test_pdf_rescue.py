import shutil
from typing import Any, cast

import pypdfium2 as pdfium
import pytest

from graph.errors import UnreadableFile
from ingestion.garbled import is_broken
from ingestion.pdf import parse_pdf
from ingestion.pdf_fallback import read_whole, reread
from tests.unit.ingestion.pdf_writer import Page, Put, flowing, write_pdf

TEXT = ["The agency publishes this manual", "for everybody who builds roads."]

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None, reason="the tesseract command is not installed"
)


@pytest.mark.parametrize("broken", ["\ufffd", "\ue123", "\x1f", "(cid:12)"])
def test_many_characters_that_are_none_make_a_page_broken(broken: str) -> None:
    assert is_broken(broken * 10 + "some letters")
    assert not is_broken(broken * 2 + "some letters " * 20)


def test_bullets_and_hyphen_marks_are_not_broken_characters() -> None:
    assert not is_broken("\uf0b7 item\n" * 50)
    assert not is_broken("peri\ufffeodic " * 50)


def test_another_engine_reads_a_page_that_has_nothing_so_far() -> None:
    data = write_pdf([Page(flowing(TEXT)), Page(flowing(TEXT))])
    better = reread(data, [1], lambda _: [])

    assert list(better) == [1]
    assert [line.text for line in better[1].lines] == TEXT
    assert better[1].engine.startswith("pypdf ")


def test_a_page_that_no_engine_reads_better_is_left_as_it_is() -> None:
    assert reread(write_pdf([Page(picture=True)]), [0], lambda _: []) == {}
    assert reread(b"%PDF-1.4 rubbish", [0], lambda _: []) == {}


def test_a_file_that_one_engine_cannot_open_is_given_to_the_next() -> None:
    data = write_pdf([Page(flowing(TEXT))])
    whole = read_whole(data)

    assert whole is not None
    assert [line.text for line in whole[0][0]] == TEXT
    assert read_whole(b"%PDF-1.4 rubbish") is None


def test_a_page_of_spaces_is_blank_and_not_broken() -> None:
    parsed = parse_pdf(write_pdf([Page(flowing([*TEXT, *TEXT])), Page([Put("   ", 72, 500)])]))

    assert parsed.pages_without_text == (2,)
    assert not [warning for warning in parsed.warnings if "missing" in warning]


def test_what_read_each_page_is_recorded() -> None:
    parsed = parse_pdf(write_pdf([Page(flowing(TEXT)), Page(flowing(TEXT))]))

    assert parsed.page_engines == (parsed.engine, parsed.engine)


def test_content_that_is_packed_as_a_picture_is_refused() -> None:
    data = write_pdf([Page(flowing(TEXT))])
    bomb = data.replace(b"4 0 obj\n", b"9 0 obj\n<< /Length 9 /Filter /JBIG2Decode >>\nstream\n", 1)
    with pytest.raises(UnreadableFile, match="packed") as raised:
        parse_pdf(bomb)

    assert raised.value.status == "broken"


def scanned(data: bytes) -> bytes:
    """Return the PDF with each page as a picture of it."""
    from io import BytesIO

    source, target = pdfium.PdfDocument(data), pdfium.PdfDocument.new()
    for page in source:
        bitmap = cast("Any", page).render(scale=2)
        sheet = cast("Any", target.new_page(*page.get_size()))
        picture = cast("Any", pdfium.PdfImage.new(target))
        picture.set_bitmap(bitmap)
        picture.set_matrix(pdfium.PdfMatrix().scale(*page.get_size()))
        sheet.insert_obj(picture)
        sheet.gen_content()
    out = BytesIO()
    target.save(out)
    return out.getvalue()


@needs_tesseract
def test_a_scanned_page_is_recognised_and_named() -> None:
    lines = [Put(text, 72, 600 - 40 * i, 18) for i, text in enumerate(TEXT)]
    parsed = parse_pdf(scanned(write_pdf([Page(lines)])))

    assert "publishes this manual" in parsed.text
    assert parsed.engine.startswith("tesseract ")
    assert parsed.pages_without_text == ()
    assert "recognised from pictures" in parsed.warnings[0]


@needs_tesseract
def test_ocr_stops_when_its_time_is_over() -> None:
    data = scanned(write_pdf([Page([Put(TEXT[0], 72, 600, 18)])]))
    with pytest.raises(UnreadableFile) as raised:
        parse_pdf(data, seconds=1.0)

    assert raised.value.status == "needs_ocr"


def test_without_tesseract_a_scan_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    data = scanned(write_pdf([Page([Put(TEXT[0], 72, 600, 18)])]))
    with pytest.raises(UnreadableFile, match="install tesseract") as raised:
        parse_pdf(data)

    assert raised.value.status == "needs_ocr"
