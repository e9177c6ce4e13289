"""Makes headings of a PDF's bookmarks, those that the text bears out.

Bookmarks are written by people and programs: some name another document, some a page, some point
to the wrong place. One is trusted only if its title is printed on the page that it points to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import pypdfium2 as pdfium

from graph.fold import fold
from ingestion.numbering import split_number
from ingestion.parsed import Heading
from ingestion.pdf_page import Line

_DEEPEST = 12
_MOST_LINES = 4
"""Lines over which a printed title may run."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of a PDF's outline."""

    title: str
    level: int
    """1 for the top."""
    page: int
    """0-indexed."""


def read_bookmarks(document: pdfium.PdfDocument) -> list[Bookmark]:
    """Return the bookmarks that have a title and point to a page."""
    bookmarks: list[Bookmark] = []
    for entry in cast("Iterator[pdfium.PdfBookmark]", document.get_toc(max_depth=_DEEPEST)):
        destination = entry.get_dest()
        page = cast("int | None", destination.get_index()) if destination else None
        title = fold(entry.get_title()).strip()
        if title and page is not None:
            bookmarks.append(Bookmark(title, cast("int", entry.level) + 1, page))
    return bookmarks


def printed_headings(
    bookmarks: Sequence[Bookmark], lines: Sequence[Line], starts: Sequence[int]
) -> tuple[Heading, ...]:
    """Find each bookmark's title among the lines of its page.

    Args:
        bookmarks: In outline order.
        lines: The lines of the text, in order.
        starts: Offset of each line in the text.

    Returns:
        Headings in order of the text; bookmarks that are not found give none.
    """
    by_page: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        by_page.setdefault(line.page, []).append(index)
    taken: set[int] = set()
    headings: list[Heading] = []
    for bookmark in bookmarks:
        found = _find(
            bookmark, lines, [i for i in by_page.get(bookmark.page, []) if i not in taken]
        )
        if found is None:
            continue
        taken.update(range(found[0], found[1] + 1))
        printed = " ".join(line.text for line in lines[found[0] : found[1] + 1])
        number, title = split_number(printed)
        start, end = starts[found[0]], starts[found[1]] + len(lines[found[1]].text)
        headings.append(Heading(start, end, bookmark.level, number, title, "bookmarks"))
    return tuple(sorted(headings, key=lambda heading: heading.start))


def _find(
    bookmark: Bookmark, lines: Sequence[Line], candidates: Sequence[int]
) -> tuple[int, int] | None:
    """Return first and last index of the lines that print the title, number or not."""
    wanted = _spellings(bookmark.title)
    longest = 2 * len(bookmark.title) + 20
    for count in range(1, _MOST_LINES + 1):  # fewest first, or the line above may seem to belong
        for at in range(len(candidates) - count + 1):
            found = candidates[at : at + count]
            printed = " ".join(lines[i].text for i in found)
            if len(printed) <= longest and wanted & _spellings(printed):
                return found[0], found[-1]
    return None


def _spellings(title: str) -> set[str]:
    """Return the title's letters and figures, with its number and without."""
    forms = (title, split_number(title)[1])
    return {"".join(c for c in form.casefold() if c.isalnum()) for form in forms} - {""}
