"""Joins the lines of pages to paragraphs, and so makes a PDF's text with its positions.

Two lines are joined by a space when nothing but the page's width parted them: same type, next to
each other in one column, and the first so long that the next word had no room. All others keep
their line end; a wider gap or other type is marked by an empty line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ingestion.pdf_page import Line

_SAME_COLUMN = 40.0
"""Points by which the left edges of a paragraph's lines may differ: indents, bullets."""
_HEADING_INDENT = 90.0
_SAME_EDGE = 4.0
"""Points by which they differ at most where they stand in line: a cell of a table begins where the
text beside it does not."""
_NEIGHBOURS = 8
"""Lines before and after that show how wide the column is."""
_LEAST_LEADING = 1.1
_CHARACTER_WIDTH = 0.38
"""Of a usual character, in heights of the type's box."""
_LIST_ITEM = re.compile(
    r"(?:[\u2022\u25cf\u25cb\u25aa\u25a0\u25e6\u2023\u00b7\uf0b7\uf0a7o*]|[\-\u2013\u2014])\s"
    r"|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{2,5})[.)]\s"
    r"|\d+(?:\.\d+)+\.?\s+[A-Z]"
)
_OPEN_HYPHEN = re.compile(r"\w-$")
_TERMINAL = (".", "!", "?", ":", ";")


@dataclass(frozen=True, slots=True)
class Composed:
    """The text of all pages."""

    text: str
    line_starts: tuple[int, ...]
    """Offset of each line, in the order given."""
    page_starts: tuple[int, ...]


def compose(pages: Sequence[Sequence[Line]]) -> Composed:
    """Join the lines of all pages to one text.

    Args:
        pages: The lines of each page in reading order; pages may be empty.
    """
    parts: list[str] = []
    line_starts: list[int] = []
    page_starts: list[int] = []
    length = 0
    before: Line | None = None
    leading = _typical_leading(pages)
    for lines in pages:
        page_starts.append(length)
        for i, line in enumerate(lines):
            if before is not None:
                neighbours = lines[max(0, i - _NEIGHBOURS) : i + _NEIGHBOURS]
                gap = _gap(before, line, neighbours, leading)
                parts.append(gap)
                length += len(gap)
            if i == 0:
                page_starts[-1] = length
            line_starts.append(length)
            parts.append(line.text)
            length += len(line.text)
            before = line
    return Composed("".join(parts), tuple(line_starts), tuple(page_starts))


def _typical_leading(pages: Sequence[Sequence[Line]]) -> float:
    """Distance from one baseline to the next in most of the text, in heights of the type."""
    steps = [
        (after.top - before.bottom) / after.size
        for lines in pages
        for before, after in pairwise(lines)
        if after.size and 0.5 < (after.top - before.bottom) / after.size < 2.5
    ]
    return max(median(steps), _LEAST_LEADING) if steps else _LEAST_LEADING


def _gap(before: Line, line: Line, neighbours: Sequence[Line], leading: float) -> str:
    """Return what parts two lines: nothing, a space, a line end or an empty line."""
    if before.table is not None or line.table is not None:
        return "\n" if before.table == line.table else "\n\n"
    same_type = before.ends_bold == line.starts_bold and _alike(before.size, line.size)
    # The text of a definition hangs below a term that stands to the left of it,
    # and the second line of a heading below its title, behind the number.
    indent = line.left - before.left
    hangs = indent > 0 and (
        line.text[0].islower() or (line.starts_bold and indent < _HEADING_INDENT)
    )
    same_column = hangs or abs(before.left - line.left) <= _SAME_COLUMN
    if before.page != line.page:
        return " " if same_type and same_column and _runs_over_page(before, line) else "\n\n"
    step = (line.top - before.bottom) / line.size if line.size else 0.0
    if not same_type or step > leading * 1.25 + 0.05:
        return "\n\n"
    if step <= 0.3 or not same_column or _LIST_ITEM.match(line.text):
        return "\n"
    if _OPEN_HYPHEN.search(before.text):  # "WAC 458-20-" and "102" below it
        return ""
    return " " if _is_full(before, line, neighbours) else "\n"


def _alike(size: float, other: float) -> bool:
    return abs(size - other) <= 0.1 * max(size, other)


def _runs_over_page(before: Line, line: Line) -> bool:
    return not before.text.endswith(_TERMINAL) and (
        line.text[0].islower() or before.text.endswith(",")
    )


def _is_full(before: Line, line: Line, neighbours: Sequence[Line]) -> bool:
    """Tell whether the first word of `line` had no room at the end of the line before."""
    first_word = line.text.split(" ", 1)[0]
    edge = max(
        other.right
        for other in (before, line, *neighbours)
        if min(abs(other.left - before.left), abs(other.left - line.left)) <= _SAME_EDGE
    )
    return before.right + (len(first_word) + 1) * _character_width(line) > edge


def _character_width(line: Line) -> float:
    """Return the mean width of the line's characters in points, for capitals a good deal more."""
    if line.top == line.bottom and line.right > line.left:
        return (line.right - line.left) / len(line.text)
    return line.size * _CHARACTER_WIDTH
