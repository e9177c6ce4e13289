"""Finds running heads, running feet and page numbers: the same line at the same place of pages.

Only lines in a page's margin come into question, and only where the same text stands at the same
height on three pages or more that lie close together; figures in it may differ from page to page.
A line that is nothing but a number must besides count on with the pages.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ingestion.numbering import roman_value
from ingestion.pdf_page import Line

_MARGIN = 0.092
"""Share of a page's height at its top and bottom: one inch of eleven."""
_FAR_MARGIN = 0.14
"""Where the margin ends for lines that are on most pages of the document."""
_SAME_HEIGHT = 8.0
"""Points by which the height of a running line may differ from one page to another."""
_FEWEST = 3
_WIDEST_GAP = 2.5
"""Pages from one occurrence to the next, on average; running heads alternate left and right."""
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"(?:page|p\.)?\s*[\-\u2013\u2014|]?\s*(?:[A-Z0-9]{1,3}-)?(\d{1,4}|[ivxlc]{1,7})"
    r"\s*[\-\u2013\u2014|]?\s*(?:(?:of|/)\s*\d{1,4})?",
    re.IGNORECASE,
)


def running_lines(pages: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the lines that are no content, in no particular order.

    Args:
        pages: The lines of each page.
    """
    alike: defaultdict[tuple[str, bool], list[Line]] = defaultdict(list)
    for line in (line for page in pages for line in page):
        if _is_in_margin(line, _FAR_MARGIN):
            alike[_likeness(line), line.place < 0.5].append(line)
    found: list[Line] = []
    for (likeness, _), lines in alike.items():
        for level in _levels(lines):
            if not _is_dense(level) or (likeness == "#" and not _counts_on(level)):
                continue
            margin = _FAR_MARGIN if len(level) >= len(pages) * 0.6 else _MARGIN
            found.extend(line for line in level if _is_in_margin(line, margin))
    return found


def _is_in_margin(line: Line, margin: float) -> bool:
    return min(line.place, 1 - line.place) <= margin


def _likeness(line: Line) -> str:
    if _PAGE_NUMBER.fullmatch(line.text):
        return "#"
    return _DIGITS.sub("#", _ROMAN.sub("#", " ".join(line.text.lower().split())))


def _levels(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Group lines by their height on the page."""
    level: list[Line] = []
    for line in sorted(lines, key=lambda line: line.top):
        if level and line.top - level[-1].top > _SAME_HEIGHT:
            yield level
            level = []
        level.append(line)
    yield level


def _is_dense(lines: Iterable[Line]) -> bool:
    numbers = sorted({line.page for line in lines})
    if len(numbers) < _FEWEST:
        return False
    return (numbers[-1] - numbers[0]) / (len(numbers) - 1) <= _WIDEST_GAP


def _counts_on(lines: Sequence[Line]) -> bool:
    """Tell whether most of the numbers differ from their pages' by the same, or by few amounts."""
    differences = Counter(_number(line) - line.page for line in lines)
    return sum(n for n in differences.values() if n >= _FEWEST) >= len(lines) / 2


def _number(line: Line) -> int:
    match = _PAGE_NUMBER.fullmatch(line.text)
    number = match[1] if match else "0"
    return int(number) if number.isdigit() else roman_value(number)
