"""The numbers that are printed on pages, where they differ from the count of the file's pages."""

import re
from collections.abc import Sequence

from ingestion.numbering import roman_value

_PARTS = re.compile(r"(.*?)(\d*)", re.DOTALL)


def label_spans(labels: Sequence[str]) -> tuple[str, ...]:
    """Write the labels of a file's pages briefly, such as ("1-2: iii-iv", "3-20: 1-18").

    Args:
        labels: Of each page, in order; empty where a page has none.

    Returns:
        Pages of the file, counted from 1, and what is printed on them; empty where that is the
        same for all pages.
    """
    if all(label in ("", str(number)) for number, label in enumerate(labels, start=1)):
        return ()
    spans: list[list[int]] = []
    for index in range(len(labels)):
        if spans and _follows(labels[index - 1], labels[index]):
            spans[-1][1] = index
        else:
            spans.append([index, index])
    return tuple(
        f"{first + 1}: {labels[first]}"
        if first == last
        else f"{first + 1}-{last + 1}: {labels[first]}-{labels[last]}"
        for first, last in spans
        if labels[first]
    )


def printed_on(labels: Sequence[str], first: int | None, last: int | None) -> str | None:
    """Return what is printed on pages, such as "iii" or "iii-iv"; None where it is their count.

    Args:
        labels: Of each page, in order; empty where a page has none; none at all without pages.
        first: 1-indexed.
        last: 1-indexed, inclusive.
    """
    if first is None or last is None or not labels:
        return None
    a, b = labels[first - 1], labels[last - 1]
    if not a or not b or (a, b) == (str(first), str(last)):
        return None
    return a if a == b else f"{a}-{b}"


def _follows(before: str, after: str) -> bool:
    """Return whether a label is the next after another: iv after iii, A-2 after A-1."""
    pairs = (_number(before), _number(after))
    return any(
        kind_a == kind_b and b == a + 1 for (kind_a, a) in pairs[0] for (kind_b, b) in pairs[1]
    )


def _number(label: str) -> list[tuple[str, int]]:
    """Return what a label may count: prefix and number."""
    match = _PARTS.fullmatch(label)
    found = [(match[1], int(match[2]))] if match and match[2] else []
    roman = roman_value(label.lower())
    return [*found, ("roman", roman)] if roman else found
