"""Takes away the numbers that drafts and transcripts print beside their lines.

They are recognised by counting on from line to line through most of a document, whether over the
pages or from 1 on each of them; numbers of headings and lists do not.
"""

import re
from collections.abc import Sequence

from ingestion.pdf_page import Line

_NUMBERED = re.compile(r"(\d{1,5})(?:\s+|$)")
_FEWEST = 15
_LEAST_SHARE = 0.5
"""Share of a document's lines that must be counted."""


def without_line_numbers(pages: Sequence[Sequence[Line]]) -> tuple[list[list[Line]], bool]:
    """Return the pages with line numbers taken off, and whether there were any.

    Lines that are nothing but such a number are dropped. The lines of `pages` are changed.
    """
    numbered = [line for page in pages for line in page if _NUMBERED.match(line.text)]
    counted = _counted(numbered)
    total = sum(len(page) for page in pages)
    if len(counted) < max(_FEWEST, total * _LEAST_SHARE):
        return [list(page) for page in pages], False
    for line in counted:
        line.text = _NUMBERED.sub("", line.text, count=1)
    return [[line for line in page if line.text] for page in pages], True


def _counted(lines: Sequence[Line]) -> list[Line]:
    """Return the lines whose numbers follow that of the line before, on their own page or not."""
    counted: list[Line] = []
    for before, line in zip([None, *lines], lines, strict=False):
        number = _number(line)
        follows = before is not None and 0 < number - _number(before) <= 2
        starts = number == 1 and (before is None or before.page != line.page)
        if follows or starts:
            counted.append(line)
    return counted


def _number(line: Line) -> int:
    match = _NUMBERED.match(line.text)
    return int(match[1]) if match else 0
