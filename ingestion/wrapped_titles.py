"""Adds to a heading found by its number the lines over which its title runs on in large type.

"Chapter 1. Securing and protecting" stands above "data" in type that no running text has; in the
text both are lines of their own.
"""

from collections.abc import Sequence
from dataclasses import replace

from ingestion.numbering import parse_line
from ingestion.parsed import Heading
from ingestion.pdf_page import Line

_LARGE = 1.3
"""Type that only titles have, in sizes of the usual type."""
_WIDEST_STEP = 2.0
"""From one baseline to the next, in sizes of the type."""
_MOST_LINES, _LONGEST = 3, 100


def with_wrapped_lines(
    headings: Sequence[Heading], lines: Sequence[Line], starts: Sequence[int], usual: float
) -> tuple[Heading, ...]:
    """Return the headings, some of them longer.

    Args:
        headings: In order.
        lines: The lines of the text, in order.
        starts: Offset of each line in the text.
        usual: Type size of running text, in points.
    """
    by_start = {start: i for i, start in enumerate(starts)}
    taken = {heading.start for heading in headings}
    longer: list[Heading] = []
    for heading in headings:
        at = by_start.get(heading.start)
        last = at
        while at is not None and last is not None and last + 1 < len(lines):
            following = lines[last + 1]
            is_more = (
                last - at < _MOST_LINES
                and starts[last + 1] not in taken
                and _runs_on(lines[last], following, usual)
            )
            if not is_more:
                break
            last += 1
        longer.append(_extended(heading, lines, starts, last))
    return tuple(longer)


def _runs_on(line: Line, below: Line, usual: float) -> bool:
    step = below.top - line.bottom
    return (
        line.page == below.page
        and below.size >= usual * _LARGE
        and line.ends_bold == below.starts_bold
        and 0 < step <= below.size * _WIDEST_STEP
        and len(below.text) <= _LONGEST
        and parse_line(below.text) is None
    )


def _extended(
    heading: Heading, lines: Sequence[Line], starts: Sequence[int], last: int | None
) -> Heading:
    if last is None or starts[last] + len(lines[last].text) <= heading.end:
        return heading
    more = [
        line.text
        for line, start in zip(lines, starts, strict=True)
        if heading.end <= start <= starts[last]
    ]
    title = " ".join([heading.title, *more]).strip()
    return replace(heading, end=starts[last] + len(lines[last].text), title=title)
