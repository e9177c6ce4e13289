"""From character offsets to physical pages."""

from bisect import bisect_right
from collections.abc import Sequence


def page_at(page_starts: Sequence[int], offset: int) -> int | None:
    """Return the 1-indexed page that holds the character; None for formats without pages.

    Args:
        page_starts: Offset where each page begins, ascending. Of pages that begin at the same
            offset all but the last are empty.
        offset: Character offset in the document's text.
    """
    return bisect_right(page_starts, offset) or None


def page_range(
    page_starts: Sequence[int], text: str, start: int, end: int
) -> tuple[int | None, int | None]:
    """Return first and last page of text[start:end], white space at its ends not counted."""
    stretch = text[start:end]
    first = start + len(stretch) - len(stretch.lstrip())
    last = max(first, start + len(stretch.rstrip()) - 1)
    return page_at(page_starts, first), page_at(page_starts, last)
