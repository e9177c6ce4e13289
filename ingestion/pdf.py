"""Reads PDF files: text with pages, headings from bookmarks or from numbers."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import dropwhile, takewhile

from graph.errors import UnreadableFile
from ingestion.bookmarks import Bookmark, printed_headings
from ingestion.contents import contents_lines
from ingestion.headings import (
    find_headings,
    merge_headings,
    nested_by_number,
    with_bare_numbers,
)
from ingestion.hyphens import Vocabulary
from ingestion.line_numbers import without_line_numbers
from ingestion.media import PDF
from ingestion.paragraphs import Composed, compose
from ingestion.parsed import Heading, ParsedDocument, Table
from ingestion.pdf_file import ENGINE, PdfFile, read_pdf
from ingestion.pdf_fonts import below_type, headings_by_type
from ingestion.pdf_layout import in_reading_order
from ingestion.pdf_page import Line
from ingestion.pdf_rescue import Rescued, rescue
from ingestion.pdf_tables import mark_tables, table_spans
from ingestion.repeated_pages import find_repeats, in_words
from ingestion.running_lines import PAGE_NUMBER, running_lines
from ingestion.wrapped_titles import with_wrapped_lines

_DIGITS = re.compile(r"\d+")
_MOST_EXAMPLES = 5
_SPARSE = 40
"""Characters a page, on average, below which a person should look at the file."""
_FEWEST_PRINTED = 0.5
"""Share of bookmarks that must be found in the text, or none of them is trusted."""
_LARGER = 1.08
_GOOD_SHARE = 0.15
_FEW_NUMBERED = 5
"""Numbered headings up to which type is asked, too: they may be those of a part or a quotation."""
_NEEDS_OCR = "it needs OCR; install tesseract and ingest again, or fetch a copy with text"
_NOTHING_FOUND = "it needs OCR, and tesseract found no text; fetch a better copy"
_TIME_WAS_UP = "OCR was not tried on all of them, time was up; allow more seconds per file"
_NOT_TRIED = "OCR was not tried, time was up; allow more seconds per file"
_PACKED = "content that is packed as pictures are was not read: save the file anew"
_TITLE_SIZE = 1.15
"""A title's type, in sizes of the document's usual type."""
_TITLE_PAGES = 3
_NEARLY_AS_LARGE, _MUCH_LARGER = 0.65, 1.25

_Pages = list[list[Line]]


def parse_pdf(data: bytes, seconds: float = 120.0) -> ParsedDocument:
    """Read a PDF file.

    Running heads and feet, page numbers and contents lists are not in the text; `left_out` tells
    which. Pages that PDFium cannot read are given to other engines, scans to tesseract where it is
    installed; the others of them count as pages without text.

    Args:
        data: All of the file.
        seconds: Time for the whole file; OCR stops before it is over.

    Raises:
        UnreadableFile: "encrypted", "broken", "empty" (no pages), "needs_ocr" or "no_text".
    """
    rescued = rescue(read_pdf(data), data, seconds)
    file, garbled = rescued.file, rescued.garbled
    file = replace(file, pages=[in_reading_order(page) for page in file.pages])
    running = running_lines(file.pages)
    pages, had_numbers = without_line_numbers(_content(file, running, garbled))
    without_text = tuple(number for number, page in enumerate(pages, 1) if not _has_text(page))
    if len(without_text) == len(pages):
        raise _no_text(rescued)
    repeats = find_repeats(pages)
    pages = [[] if index in repeats else page for index, page in enumerate(pages)]
    pages, contents_pages = _without_contents_lists(pages)
    headers = mark_tables(pages)
    _mend_hyphens(pages)
    composed = compose(pages)
    lines = [line for page in pages for line in page]
    tables = table_spans(lines, composed.line_starts, headers)
    printed_title = _printed_title(pages)
    engine, page_engines = _engines(file)
    return ParsedDocument(
        text=composed.text,
        page_starts=composed.page_starts,
        headings=_outside(tables, _headings(file.bookmarks, lines, composed, printed_title)),
        title=file.properties.get("title"),
        printed_title=printed_title,
        metadata=file.properties,
        media_type=PDF,
        engine=engine,
        page_engines=page_engines,
        pages_without_text=without_text,
        warnings=(*_warnings(rescued, without_text, len(composed.text)), *in_words(repeats)),
        left_out=_left_out(running, contents_pages, had_numbers, file.hidden),
        tables=tables,
        page_labels=file.labels,
    )


def _content(file: PdfFile, running: Sequence[Line], garbled: Set[int]) -> _Pages:
    """Return the pages without running lines.

    Pages with nothing else keep them if it is the first page, which may be a title, or if most
    pages are so.
    """
    dropped = {id(line) for line in running}
    readable = [[] if index in garbled else page for index, page in enumerate(file.pages)]
    pages = [[line for line in page if id(line) not in dropped] for page in readable]
    mostly_empty = sum(not page for page in pages) > len(pages) / 2
    for index, page in enumerate(readable):
        if not pages[index] and index not in file.pictures and (index == 0 or mostly_empty):
            pages[index] = [line for line in page if not PAGE_NUMBER.fullmatch(line.text)]
    return pages


def _has_text(page: Sequence[Line]) -> bool:
    return any(character.isalnum() for line in page for character in line.text)


def _no_text(rescued: Rescued) -> UnreadableFile:
    count = len(rescued.file.pages)
    pages = "1 page" if count == 1 else f"{count} pages"
    advice = _NOTHING_FOUND if rescued.tried else _NEEDS_OCR
    advice = _TIME_WAS_UP if rescued.untried else advice
    if rescued.garbled:
        problem = f"its fonts do not tell which letters they show ({pages}): {advice}"
    elif rescued.file.pictures:
        problem = f"a scan without text ({pages}): {advice}"
    else:
        problem = f"no text on its {pages}; if people see some there, it needs OCR first"
        return UnreadableFile("no_text", problem)
    return UnreadableFile("needs_ocr", problem)


def _without_contents_lists(pages: _Pages) -> tuple[_Pages, list[int]]:
    """Return the pages without contents lists, and the 1-indexed pages that had one."""
    lines = [line for page in pages for line in page]
    dropped = contents_lines([line.text for line in lines], len(pages))
    listed = {id(lines[i]) for i in dropped}
    kept = [[line for line in page if id(line) not in listed] for page in pages]
    if not any(map(_has_text, kept)):  # a file with nothing else: that is its content
        return pages, []
    return kept, sorted({lines[i].page + 1 for i in dropped})


def _mend_hyphens(pages: _Pages) -> None:
    vocabulary = Vocabulary(line.text for page in pages for line in page)
    for page in pages:
        for line in page:
            line.text = vocabulary.mend(line.text)


def _headings(
    bookmarks: Sequence[Bookmark], lines: Sequence[Line], composed: Composed, title: str | None
) -> tuple[Heading, ...]:
    """Take headings from numbers and from bookmarks that the text bears out, else from type."""
    usual = _usual_size(lines)
    emphasised = {
        start
        for line, start in zip(lines, composed.line_starts, strict=True)
        if line.starts_bold or line.size > usual * _LARGER
    }
    found = find_headings(composed.text, emphasised)
    numbered = with_wrapped_lines(found, lines, composed.line_starts, usual)
    printed = printed_headings(bookmarks, lines, composed.line_starts)
    if len(printed) < 2 or len(printed) < len(bookmarks) * _FEWEST_PRINTED:
        if len(numbered) > _FEW_NUMBERED:
            return numbered
        typed = headings_by_type(lines, composed.line_starts, usual, title)
        return below_type(typed, numbered)
    return merge_headings(nested_by_number(with_bare_numbers(printed)), numbered)


def _outside(tables: Sequence[Table], headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Return the headings that are no rows of tables."""
    starts = [table.start for table in tables]

    def is_row(heading: Heading) -> bool:
        i = bisect_right(starts, heading.start) - 1
        return i >= 0 and heading.start < tables[i].end

    return tuple(heading for heading in headings if not is_row(heading))


def _usual_size(lines: Sequence[Line]) -> float:
    """Return the type size of running text: the largest one with a good share of the characters.

    Tables in small type may hold more characters than the text.
    """
    characters: Counter[float] = Counter()
    for line in lines:
        characters[round(line.size, 1)] += len(line.text)
    enough = characters.total() * _GOOD_SHARE
    return max((size for size, number in characters.items() if number >= enough), default=0.0)


def _printed_title(pages: _Pages) -> str | None:
    """Return what the title page sets in type that is larger than all the rest.

    It is the first page, or a later one with much larger type, as behind a cover note; on it, the
    first lines together that are nearly as large as the largest, which may name the publisher.
    """
    page, *others = [page for page in pages if page][:_TITLE_PAGES]
    for other in others:
        if _largest_size(other) > _largest_size(page) * _MUCH_LARGER:
            page = other
    usual = _usual_size([line for page in pages for line in page])
    least = max(usual * _TITLE_SIZE, _largest_size(page) * _NEARLY_AS_LARGE)
    large = dropwhile(lambda line: line.size < least or len(line.text) < 2, page)
    title = " ".join(line.text for line in takewhile(lambda line: line.size >= least, large))
    return title if 4 <= len(title) <= 250 else None


def _largest_size(page: Sequence[Line]) -> float:
    return max((line.size for line in page if len(line.text) > 1), default=0.0)


def _warnings(rescued: Rescued, without_text: Sequence[int], characters: int) -> tuple[str, ...]:
    file = rescued.file
    by_ocr = [i + 1 for i, engine in sorted(file.engines.items()) if engine.startswith("tesseract")]
    scans = [number for number in without_text if number - 1 in file.pictures]
    damaged = [index + 1 for index in file.damaged]
    unreadable = [index + 1 for index in sorted(rescued.garbled)]
    broken = [index + 1 for index in sorted(file.broken) if index not in rescued.garbled]
    warnings: list[str] = []
    if by_ocr:
        warnings.append(f"the text of pages {_ranges(by_ocr)} was recognised from pictures")
    warnings += _ocr_warnings("pictures without text", scans, rescued)
    warnings += _ocr_warnings("fonts without letters", unreadable, rescued)
    if broken:
        warnings.append(f"characters are missing on pages {_ranges(broken)}: no engine knows them")
    if file.packed:
        warnings.append(_PACKED)
    if damaged:
        warnings.append(f"pages {_ranges(damaged)} are damaged and were not read")
    if characters < _SPARSE * len(file.pages):
        warnings.append(f"only {characters} characters in all: look at the file")
    return tuple(warnings)


def _ocr_warnings(what: str, pages: Sequence[int], rescued: Rescued) -> Iterator[str]:
    """Say what became of pages, 1-indexed, whose text only OCR could give."""
    tried = [number for number in pages if number - 1 not in rescued.untried]
    untried = [number for number in pages if number - 1 in rescued.untried]
    if tried:
        outcome = "OCR found nothing" if rescued.tried else "they need OCR"
        yield f"{what} on pages {_ranges(tried)}: {outcome}"
    if untried:
        yield f"{what} on pages {_ranges(untried)}: {_NOT_TRIED}"


def _engines(file: PdfFile) -> tuple[str, tuple[str, ...]]:
    """Return what read the file, in words, and what read each page."""
    by_page = tuple(file.engines.get(i, ENGINE) for i in range(len(file.pages)))
    if len(set(by_page)) == 1:
        return by_page[0], by_page
    parts = [ENGINE]
    for engine in dict.fromkeys(file.engines.values()):
        numbers = [i + 1 for i, name in enumerate(by_page) if name == engine]
        parts.append(f"{engine} (pages {_ranges(numbers)})")
    return "; ".join(parts), by_page


def _left_out(
    running: Sequence[Line],
    contents_pages: Sequence[int],
    had_numbers: bool,
    hidden: Set[int],
) -> tuple[str, ...]:
    left_out: list[str] = []
    if running:
        examples = sorted({_DIGITS.sub("#", line.text) for line in running})
        left_out.append(f"running heads and page numbers: {'; '.join(examples[:_MOST_EXAMPLES])}")
    if contents_pages:
        left_out.append(f"contents lists on pages {_ranges(contents_pages)}")
    if had_numbers:
        left_out.append("the numbers of the lines")
    if hidden:
        pages = _ranges(sorted(index + 1 for index in hidden))
        left_out.append(f"text that nobody can see on pages {pages}")
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
