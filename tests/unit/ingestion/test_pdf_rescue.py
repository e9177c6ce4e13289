import shutil
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pypdfium2 as pdfium
import pytest

from graph.errors import UnreadableFile
from ingestion import ocr, pdf_rescue
from ingestion.garbled import is_broken
from ingestion.ocr import Recognised, recognise
from ingestion.pdf import parse_pdf
from ingestion.pdf_fallback import read_whole, reread
from ingestion.pdf_file import read_pdf
from ingestion.pdf_page import Line
from ingestion.pdf_rescue import rescue
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


def test_content_that_is_packed_as_a_picture_is_left_alone_by_all_engines_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("another engine was given the file")

    for name in ("ingestion.pdf_rescue.reread", "ingestion.pdf_file.read_whole"):
        monkeypatch.setattr(name, refuse)
    monkeypatch.setattr(pdf_rescue, "tesseract", lambda: None)
    packed = b"9 0 obj\n<< /Length 9 /Filter /JBIG2Decode >>\nstream\n"
    data = write_pdf([Page(flowing(TEXT))]).replace(b"4 0 obj\n", packed + b"4 0 obj\n", 1)
    parsed = parse_pdf(data)
    file = replace(read_pdf(data), broken=frozenset({0}))

    assert rescue(file, data, 1.0).file == file
    assert parsed.text.startswith("The agency publishes this manual")
    assert [warning for warning in parsed.warnings if "packed as pictures" in warning]
    with pytest.raises(UnreadableFile) as raised:
        parse_pdf(b"%PDF-1.4\n" + packed)
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
    assert "time was up" in str(raised.value)


def test_pages_for_which_ocr_had_no_time_are_not_said_to_be_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first_only(data: bytes, pages: Sequence[int], command: str, seconds: float) -> Recognised:
        assert pages == [1, 2, 3, 4]
        return Recognised({}, frozenset(pages[1:]))

    monkeypatch.setattr(pdf_rescue, "recognise", first_only)
    monkeypatch.setattr(pdf_rescue, "tesseract", lambda: "tesseract")
    monkeypatch.setattr(pdf_rescue, "tesseract_version", lambda command: "tesseract 5")
    parsed = parse_pdf(write_pdf([Page(flowing([*TEXT, *TEXT])), *[Page(picture=True)] * 4]))

    assert parsed.pages_without_text == (2, 3, 4, 5)
    assert "pictures without text on pages 2: OCR found nothing" in parsed.warnings
    (untried,) = [warning for warning in parsed.warnings if "time was up" in warning]
    assert untried.startswith("pictures without text on pages 3-5: OCR was not tried")


@pytest.mark.parametrize("page_seconds", [0.0, 30.0], ids=["between pages", "in a page"])
def test_ocr_names_the_pages_that_it_had_no_time_for(
    monkeypatch: pytest.MonkeyPatch, page_seconds: float
) -> None:
    clock = iter([0.0, 0.0, 20.0, 70.0, 70.0])

    def recognised(image: bytes, page: int, command: str, seconds: float) -> list[Line] | None:
        return None if page == 1 and page_seconds else []

    monkeypatch.setattr(ocr.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(ocr, "_recognised", recognised)
    found = recognise(write_pdf([Page(flowing(TEXT))] * 4), [0, 1, 2, 3], "tesseract", 60.0)

    # Page 0 is tried at once, page 1 with 40 seconds left, page 2 when the time is over.
    assert found.untried == (frozenset({1, 2, 3}) if page_seconds else frozenset({2, 3}))


def test_without_tesseract_a_scan_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    data = scanned(write_pdf([Page([Put(TEXT[0], 72, 600, 18)])]))
    with pytest.raises(UnreadableFile, match="install tesseract") as raised:
        parse_pdf(data)

    assert raised.value.status == "needs_ocr"
