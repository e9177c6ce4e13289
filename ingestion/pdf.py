"""Reads PDF files with PDFium: text with pages, headings from bookmarks or from numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graph.errors import UnreadableFile
from graph.fold import fold
from ingestion.bookmarks import Bookmark, printed_headings, read_bookmarks
from ingestion.contents import contents_lines
from ingestion.headings import find_headings, with_bare_numbers
from ingestion.hyphens import Vocabulary
from ingestion.media import PDF
from ingestion.paragraphs import Composed, compose
from ingestion.parsed import Heading, ParsedDocument
from ingestion.pdf_page import Line, read_lines
from ingestion.running_lines import running_lines

ENGINE = f"pypdfium2 {pdfium.PYPDFIUM_INFO.version}"
_DIGITS = re.compile(r"\d+")
_MOST_EXAMPLES = 5
_SPARSE = 40
"""Characters a page, on average, below which a person should look at the file."""
_MOST_UNUSED_BOOKMARKS = 0.5
"""Share of bookmarks that may be wrong before all of them are distrusted."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """What was read from the file."""

    pages: list[list[Line]]
    pictures: tuple[int, ...]
    """1-indexed pages that hold pictures and no text."""
    unreadable: tuple[int, ...]
    """1-indexed pages that PDFium cannot load."""
    bookmarks: list[Bookmark]
    properties: dict[str, str]


def parse_pdf(data: bytes) -> ParsedDocument:
    """Read a PDF file.

    Running heads and feet, page numbers and contents lists are left out of the text; what was
    left out is named in `left_out`.

    Raises:
        UnreadableFile: "encrypted", "broken", "empty" (no pages) or "no_text" (needs OCR).
    """
    contents = _read(data)
    running = running_lines(contents.pages)
    dropped = {id(line) for line in running}
    pages = [[line for line in page if id(line) not in dropped] for page in contents.pages]
    without_text = tuple(n for n, page in enumerate(pages, 1) if not _has_text(page))
    if len(without_text) == len(pages):
        raise _no_text(contents)
    pages, contents_pages = _without_contents_lists(pages)
    _mend_hyphens(pages)
    composed = compose(pages)
    lines = [line for page in pages for line in page]
    return ParsedDocument(
        text=composed.text,
        page_starts=composed.page_starts,
        headings=_headings(contents.bookmarks, lines, composed),
        title=contents.properties.get("title"),
        metadata=contents.properties,
        media_type=PDF,
        engine=ENGINE,
        pages_without_text=without_text,
        warnings=_warnings(contents, without_text, len(composed.text)),
        left_out=_left_out(running, contents_pages),
    )


def _read(data: bytes) -> _Contents:
    document = _open(data)
    try:
        if len(document) == 0:
            raise UnreadableFile("empty", "the PDF has no pages; fetch the file again")
        pages: list[list[Line]] = []
        pictures: list[int] = []
        unreadable: list[int] = []
        for index in range(len(document)):
            try:
                page = document[index]
            except pdfium.PdfiumError:
                unreadable.append(index + 1)
                pages.append([])
                continue
            pages.append(read_lines(page, index))
            if not pages[-1] and _has_pictures(page):
                pictures.append(index + 1)
            page.close()  # at once, or memory grows with the number of pages
        properties = _properties(document)
        return _Contents(
            pages, tuple(pictures), tuple(unreadable), read_bookmarks(document), properties
        )
    finally:
        document.close()


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium_c.FPDF_ERR_PASSWORD:
            raise UnreadableFile(
                "encrypted", "the PDF needs a password; save a copy without one"
            ) from error
        if error.err_code == pdfium_c.FPDF_ERR_SECURITY:
            raise UnreadableFile(
                "encrypted", "the PDF's encryption is not supported; save a copy without it"
            ) from error
        raise UnreadableFile(
            "broken", f"PDFium cannot open it ({error}); fetch the file again or repair it"
        ) from error


def _has_pictures(page: pdfium.PdfPage) -> bool:
    pictures = cast("Iterator[object]", page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE]))
    return next(pictures, None) is not None


def _properties(document: pdfium.PdfDocument) -> dict[str, str]:
    raw = document.get_metadata_dict(skip_empty=True)
    return {key.lower(): value for key, text in raw.items() if (value := fold(text).strip())}


def _has_text(page: Sequence[Line]) -> bool:
    return any(character.isalnum() for line in page for character in line.text)


def _no_text(contents: _Contents) -> UnreadableFile:
    count = len(contents.pages)
    pages = "1 page" if count == 1 else f"{count} pages"
    if contents.pictures:
        return UnreadableFile("no_text", f"a scan without text ({pages}): it needs OCR first")
    return UnreadableFile("no_text", f"no text on its {pages}; if there should be some, run OCR")


def _without_contents_lists(pages: list[list[Line]]) -> tuple[list[list[Line]], list[int]]:
    """Return the pages without contents lists, and the 1-indexed pages that had one."""
    lines = [line for page in pages for line in page]
    dropped = contents_lines([line.text for line in lines])
    listed = {id(lines[i]) for i in dropped}
    kept = [[line for line in page if id(line) not in listed] for page in pages]
    return kept, sorted({lines[i].page + 1 for i in dropped})


def _mend_hyphens(pages: Sequence[Sequence[Line]]) -> None:
    vocabulary = Vocabulary(line.text for page in pages for line in page)
    for page in pages:
        for line in page:
            line.text = vocabulary.mend(line.text)


def _headings(
    bookmarks: Sequence[Bookmark], lines: Sequence[Line], composed: Composed
) -> tuple[Heading, ...]:
    """Take headings from bookmarks that the text bears out, else from numbers."""
    printed = printed_headings(bookmarks, lines, composed.line_starts)
    if len(printed) >= 2 and len(printed) >= len(bookmarks) * (1 - _MOST_UNUSED_BOOKMARKS):
        return with_bare_numbers(printed)
    return find_headings(composed.text, _emphasised(lines, composed))


def _emphasised(lines: Sequence[Line], composed: Composed) -> set[int]:
    """Return the offsets of the lines in bold or in larger type than most of the text."""
    usual = _usual_size(lines)
    return {
        start
        for line, start in zip(lines, composed.line_starts, strict=True)
        if line.starts_bold or line.size > usual * 1.08
    }


def _usual_size(lines: Sequence[Line]) -> float:
    """Return the type size in which most characters are set."""
    characters: Counter[float] = Counter()
    for line in lines:
        characters[round(line.size, 1)] += len(line.text)
    return characters.most_common(1)[0][0] if characters else 0.0


def _warnings(contents: _Contents, without_text: Sequence[int], characters: int) -> tuple[str, ...]:
    warnings: list[str] = []
    pages = len(contents.pages)
    if contents.pictures:
        warnings.append(f"only pictures on pages {_ranges(contents.pictures)}: they need OCR")
    if contents.unreadable:
        warnings.append(f"pages {_ranges(contents.unreadable)} are damaged and were not read")
    if characters < _SPARSE * pages:
        warnings.append(f"only {characters} characters on {pages} pages: look at the file")
    return tuple(warnings)


def _left_out(running: Sequence[Line], contents_pages: Sequence[int]) -> tuple[str, ...]:
    left_out: list[str] = []
    if running:
        examples = sorted({_DIGITS.sub("#", line.text) for line in running})
        left_out.append(f"running heads and page numbers: {'; '.join(examples[:_MOST_EXAMPLES])}")
    if contents_pages:
        left_out.append(f"contents lists on pages {_ranges(contents_pages)}")
    return tuple(left_out)


def _ranges(numbers: Sequence[int]) -> str:
    """Write ascending page numbers briefly: 1, 3-5."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
