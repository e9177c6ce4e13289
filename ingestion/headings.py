"""From numbered lines to headings: which of them form an outline, and on what level."""

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace

from ingestion.contents import contents_lines
from ingestion.numbering import NumberedLine, parse_line
from ingestion.outline_order import Candidate, in_order
from ingestion.parsed import Heading

_LINE = re.compile(r"[^\n]*")
_BARE_KINDS = ("roman", "letter", "arabic")
"""Kinds without a word in front; they stand below those that have one."""
_LONGEST_NEXT_TITLE = 100


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str
    parsed: NumberedLine

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_headings(text: str, emphasised: Set[int] | None = None) -> tuple[Heading, ...]:
    """Find numbered headings.

    Args:
        text: The document.
        emphasised: Offsets of lines in bold or larger type; None where that is not known.

    Returns:
        Headings in order, provenance "numbering". Lines of contents lists are none.
    """
    lines = [(match.start(), match[0]) for match in _LINE.finditer(text) if match[0].strip()]
    contents = contents_lines([line for _, line in lines])
    candidates = [
        _Line(start, line, parsed)
        for i, (start, line) in enumerate(lines)
        if i not in contents and (parsed := parse_line(line)) is not None
    ]
    accepted: list[_Line] = []
    levels: dict[str, int] = {}
    for kind in _kinds(candidates):
        chosen = _outline(candidates, kind, accepted, emphasised)
        if chosen:
            levels[kind] = 1 if kind == "appendix" else len(levels.keys() - {"appendix"}) + 1
            accepted = sorted([*accepted, *chosen], key=lambda line: line.start)
    following = {start: lines[i + 1] for i, (start, _) in enumerate(lines[:-1])}
    return tuple(_heading(line, accepted, levels, following.get(line.start)) for line in accepted)


def with_bare_numbers(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Give headings such as "4 Requirements" their number where others are "4.1", "4.2".

    A single integer without a dot behind it is no number by itself ("10 tips").
    """
    parents = {h.number.split(".")[0] for h in headings if h.number and "." in h.number}
    return tuple(_with_bare_number(heading, parents) for heading in headings)


def only_top_heading(headings: Sequence[Heading]) -> str | None:
    """Return the title of the only heading of level 1; None if there are none or several."""
    top = [heading.title for heading in headings if heading.level == 1]
    return top[0] if len(top) == 1 else None


def _with_bare_number(heading: Heading, parents: Set[str]) -> Heading:
    number, _, title = heading.title.partition(" ")
    if heading.number is None and title and number in parents:
        return replace(heading, number=number, title=title.strip())
    return heading


def _kinds(candidates: Iterable[_Line]) -> list[str]:
    """Order kinds from the top of the outline down: a container comes before what it contains."""
    seen = dict.fromkeys(line.parsed.kind for line in candidates)
    return sorted(seen, key=lambda kind: (kind in _BARE_KINDS, kind != "appendix"))


def _outline(
    candidates: Sequence[_Line], kind: str, above: Sequence[_Line], emphasised: Set[int] | None
) -> list[_Line]:
    taken = {line.start for line in above}
    lines = [c for c in candidates if c.parsed.kind == kind and c.start not in taken]
    rated = [
        Candidate(
            key=line.parsed.key,
            segment=sum(higher.start < line.start for higher in above),
            weight=1.0 if emphasised is None or line.start in emphasised else 0.35,
        )
        for line in lines
    ]
    chosen = [lines[i] for i in in_order(rated, any_gap=kind not in _BARE_KINDS)]
    if kind in _BARE_KINDS and not _is_convincing(chosen, emphasised):
        return []
    return chosen


def _is_convincing(lines: Sequence[_Line], emphasised: Set[int] | None) -> bool:
    """Tell whether numbers without a word in front are headings rather than a list."""
    if len(lines) < 2:
        return False
    if any(len(line.parsed.key) > 1 for line in lines):
        return True
    if emphasised is not None:
        return sum(line.start in emphasised for line in lines) >= len(lines) / 2
    return sum(line.parsed.title.isupper() for line in lines) >= len(lines) / 2


def _heading(
    line: _Line,
    accepted: Sequence[_Line],
    levels: dict[str, int],
    following: tuple[int, str] | None,
) -> Heading:
    kind = line.parsed.kind
    shortest = min(len(other.parsed.key) for other in accepted if other.parsed.kind == kind)
    level = levels[kind] + len(line.parsed.key) - shortest
    start = line.start + len(line.text) - len(line.text.lstrip())
    end, title = line.start + len(line.text.rstrip()), line.parsed.title
    if not title and following is not None and _continues(following, accepted):
        title = following[1].strip()
        end = following[0] + len(following[1].rstrip())
    return Heading(start, end, level, line.parsed.number, title, "numbering")


def _continues(line: tuple[int, str], accepted: Sequence[_Line]) -> bool:
    """Tell whether the line below "CHAPTER 4" is its title."""
    text = line[1].strip()
    return (
        len(text) <= _LONGEST_NEXT_TITLE
        and text[0].isupper()
        and text[-1] not in ".,;:"
        and all(other.start != line[0] for other in accepted)
    )
