"""Finds running heads, running feet and page numbers: the same line at the same place of pages.

Only lines in a page's margin come into question, and only where the same text stands at the same
height on three pages or more that lie close together, and hardly anywhere else; figures in it may
differ from page to page. A line that is nothing but a number must besides count on with the pages.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ingestion.numbering import roman_value
from ingestion.pdf_page import Line

_MARGIN = 0.092
"""Share of a page's height at its top and bottom: one inch of eleven."""
_FAR_MARGIN = 0.14
"""Where it ends for the outermost line, if that is on most pages of the document."""
_SAME_HEIGHT = 8.0
"""Points by which the height of a running line may differ from one page to another."""
_LEAST_IN_MARGIN = 0.3
"""Share of all lines alike that must stand in the margin: rows of a table stand anywhere."""
_FEWEST = 3
_WIDEST_GAP = 2.5
"""Pages from one occurrence to the next, on average; running heads alternate left and right."""
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"\b[ivxlc]+\b")
PAGE_NUMBER = re.compile(
    r"(?:page|p\.)?\s*[\-\u2013\u2014|]?\s*(?:[A-Z0-9]{1,3}-)?(\d{1,4}|[ivxlc]{1,7})"
    r"\s*[\-\u2013\u2014|]?\s*(?:(?:of|/)\s*\d{1,4})?",
    re.IGNORECASE,
)


def running_lines(pages: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the lines that are no content, in no particular order.

    Args:
        pages: The lines of each page.
    """
    everywhere = Counter(_likeness(line) for page in pages for line in page)
    alike: defaultdict[tuple[str, bool], list[Line]] = defaultdict(list)
    for page in pages:
        for line in _margin_lines(page):
            alike[_likeness(line), line.place < 0.5].append(line)
    found: list[Line] = []
    for (likeness, _), lines in alike.items():
        if likeness != "#" and len(lines) < everywhere[likeness] * _LEAST_IN_MARGIN:
            continue
        for level in _levels(lines):
            if not _is_dense(level) or (likeness == "#" and not _counts_on(level)):
                continue
            often = len(level) >= len(pages) * 0.6
            found.extend(line for line in level if often or _is_in_margin(line, _MARGIN))
    return found


def _margin_lines(page: Sequence[Line]) -> Iterator[Line]:
    """Yield lines in the margins; beyond the narrow ones only those that stand outermost."""
    highest = min((line.place for line in page), default=0.0)
    lowest = max((line.place for line in page), default=1.0)
    for line in page:
        outermost = line.place in (highest, lowest)
        if _is_in_margin(line, _FAR_MARGIN if outermost else _MARGIN):
            yield line


def _is_in_margin(line: Line, margin: float) -> bool:
    return min(line.place, 1 - line.place) <= margin


def _likeness(line: Line) -> str:
    if PAGE_NUMBER.fullmatch(line.text):
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
    match = PAGE_NUMBER.fullmatch(line.text)
    number = match[1] if match else "0"
    return int(number) if number.isdigit() else roman_value(number)
