"""Finds contents lists: lines that point to pages instead of saying something.

A contents line ends in a page number, behind dots or behind spaces only. One such line alone may
be anything ("Assurance Level 2"), so what decides is a run of them whose page numbers do not fall.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_PAGE = r"(\d{1,4}|[ivxlIVXL]{1,7}|[A-Z]-\d{1,3}|Error! Bookmark not defined\.)"
_LEADER_LINE = re.compile(rf"\S.*?(?:(?:\.[ \t]?){{3,}}|…+|_{{3,}}|[ \t]{{3,}})[ \t]*{_PAGE}\s*$")
_PAGE_AT_END = re.compile(rf"\S[ \t.]+{_PAGE}\s*$")
_TITLE = re.compile(
    r"\s*(?:table of )?contents|\s*(?:list of |table of )?(?:tables|figures|exhibits|appendices)",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"\s*(?:\d{1,3}(?:[.\-]\d+)*[.)]?\s|[A-Z][.\-]\d*\s|[IVX]+\.\s"
    r"|(?:table|figure|appendix|annex|chapter|section|part)\b)",
    re.IGNORECASE,
)
_MOST_PAGES = 3000
_LONGEST_LINE = 300
_LONGEST_GAP = 2
"""Lines without a page number inside a run: the first halves of wrapped entries."""


def is_contents_line(line: str) -> bool:
    """Tell whether the line, taken by itself, can only be an entry of a contents list."""
    return len(line) <= _LONGEST_LINE and _LEADER_LINE.match(line.strip()) is not None


def contents_lines(lines: Sequence[str], pages: int | None = None) -> set[int]:
    """Return the indexes of the lines that make up contents lists, their titles included.

    Args:
        lines: All lines of the document, in order; empty ones may be among them.
        pages: Number of pages, where known: a list of larger numbers points to something else.
    """
    found: set[int] = set()
    largest = _MOST_PAGES if pages is None else 2 * pages + 20
    for run in _runs(lines, largest):
        title = _title_before(lines, run[0])
        if _is_contents(lines, run, titled=title is not None):
            found.update(range(run[0] if title is None else title, run[-1] + 1))
    return found


def _runs(lines: Sequence[str], largest: int) -> list[list[int]]:
    """Group lines that end in a page number, allowing for a wrapped entry between two of them."""
    runs: list[list[int]] = []
    gap = _LONGEST_GAP + 1
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        page = _PAGE_AT_END.search(line) if len(line) <= _LONGEST_LINE else None
        if page is None or (page[1].isdigit() and int(page[1]) > largest):
            gap += 1
            continue
        if gap > _LONGEST_GAP:
            runs.append([])
        runs[-1].append(index)
        gap = 0
    return runs


def _is_contents(lines: Sequence[str], run: list[int], titled: bool) -> bool:
    if len(run) < (2 if titled else 4):
        return False
    leaders = sum(is_contents_line(lines[i]) for i in run)
    entries = sum(_ENTRY.match(lines[i]) is not None for i in run)
    pages = [page for i in run if (page := _page_number(lines[i])) is not None]
    falls = sum(later < earlier for earlier, later in pairwise(pages))
    if falls > len(run) * 0.1:
        return False
    return titled or leaders >= len(run) / 2 or entries >= len(run) / 2


def _page_number(line: str) -> int | None:
    match = _PAGE_AT_END.search(line)
    return int(match[1]) if match and match[1].isdigit() else None


def _title_before(lines: Sequence[str], first: int) -> int | None:
    above = [i for i in range(max(0, first - 6), first) if lines[i].strip()][-3:]
    return next((i for i in above if _TITLE.fullmatch(lines[i].strip(" :"))), None)
