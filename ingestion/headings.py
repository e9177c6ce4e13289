"""From numbered lines to headings: which of them form an outline, and on what level."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mode

from ingestion.contents import contents_lines
from ingestion.numbering import BARE_KINDS, NumberedLine, parse_line
from ingestion.outline_order import Candidate, in_order, is_start, unbroken_depths
from ingestion.parsed import Heading

_LINE = re.compile(r"[^\n]*")
_TextLine = tuple[int, str]
"""Offset and text of a line."""
_LONGEST_NEXT_TITLE = 100
_FEW = 5
"""Headings below which their numbers must begin at 1 and have no gap."""
_SHORTEST_SECTION, _MOST_SHORT = 30, 0.8
"""Characters between two headings, and the share of shorter gaps that makes a list of them."""
_AGREEMENT = 0.8
_JOINING = (" AND", " OR", " OF", " THE", " FOR", " TO", " IN", " WITH", " BY", " &", ",", "-")
_WRAPPED_FROM = 50
"""Characters from which a title in capitals may have been wrapped by the width of the page."""
_FEWEST_ROMAN, _ROMAN_GAP = 3, 150
_STRESSED_WEIGHT, _PLAIN_WEIGHT = 1.6, 0.35
"""Weights of lines in bold or larger type and of others, where type is known."""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str
    parsed: NumberedLine

    @property
    def end(self) -> int:
        if self.parsed.length is not None:
            indent = len(self.text) - len(self.text.lstrip())
            return self.start + indent + self.parsed.length
        return self.start + len(self.text.rstrip())


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
    levels: dict[str, int] = {}  # by kind, what the length of a number is added to
    for kind in _kinds(candidates):
        chosen = _outline(candidates, kind, accepted, emphasised)
        if chosen:
            shortest = min(len(line.parsed.key) for line in chosen)
            levels[kind] = _level(kind, levels) - shortest
            accepted = sorted([*accepted, *chosen], key=lambda line: line.start)
    following = {start: lines[i + 1] for i, (start, _) in enumerate(lines[:-1])}
    starts = {line.start for line in accepted}
    return tuple(
        _heading(line, levels, _title_below(following.get(line.start), starts)) for line in accepted
    )


def merge_headings(
    bookmarks: Sequence[Heading], numbered: Sequence[Heading]
) -> tuple[Heading, ...]:
    """Join headings from bookmarks with numbered ones, where the two bear each other out.

    Bookmarks often are only a part of the outline. The numbered headings are added if nearly all
    of the bookmarks that carry numbers are among them; else the bookmarks stand alone.
    """
    by_start = {heading.start: heading for heading in numbered}
    both = [(mark, by_start[mark.start]) for mark in bookmarks if mark.start in by_start]
    with_number = sum(mark.number is not None for mark in bookmarks)
    if not both or len(both) < with_number * _AGREEMENT:
        return tuple(bookmarks)
    shift = mode(heading.level - mark.level for mark, heading in both)
    others = [mark for mark in bookmarks if mark.start not in by_start]
    merged = [*numbered, *(replace(mark, level=max(1, mark.level + shift)) for mark in others)]
    return _without_overlaps(sorted(merged, key=lambda heading: heading.start))


def _without_overlaps(headings: Iterable[Heading]) -> tuple[Heading, ...]:
    kept: list[Heading] = []
    for heading in headings:
        if not kept or heading.start >= kept[-1].end:
            kept.append(heading)
    return tuple(kept)


def nested_by_number(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Put "3.1" below "3" where a flat list of bookmarks has them on one level."""
    nested: list[Heading] = []
    levels: dict[str, int] = {}
    for heading in headings:
        parent = heading.number.rpartition(".")[0] if heading.number else ""
        level = max(heading.level, levels[parent] + 1) if parent in levels else heading.level
        if heading.number:
            levels[heading.number] = level
        nested.append(replace(heading, level=level))
    return tuple(nested)


def with_bare_numbers(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Give headings such as "4 Requirements" their number where others are "4.1", "4.2".

    A single integer without a dot behind it is no number by itself ("10 tips").
    """
    parents = {h.number.split(".")[0] for h in headings if h.number and "." in h.number}
    return tuple(_with_bare_number(heading, parents) for heading in headings)


def only_top_heading(headings: Sequence[Heading]) -> str | None:
    """Return the title of the first heading if no other is on its level or above."""
    if not headings or any(h.level <= headings[0].level for h in headings[1:]):
        return None
    return headings[0].title or None


def _with_bare_number(heading: Heading, parents: Set[str]) -> Heading:
    number, _, title = heading.title.partition(" ")
    if heading.number is None and title and number in parents:
        return replace(heading, number=number, title=title.strip())
    return heading


def _kinds(candidates: Iterable[_Line]) -> list[str]:
    """Order kinds from the top of the outline down: a container comes before what it contains."""
    seen = dict.fromkeys(line.parsed.kind for line in candidates)
    return sorted(
        seen, key=lambda kind: (kind in BARE_KINDS, kind != "appendix", kind == "section")
    )


def _level(kind: str, levels: Mapping[str, int]) -> int:
    if kind == "appendix":
        return 1
    if kind == "lettered" and "appendix" in levels:
        return 2
    return len(levels.keys() - {"appendix", "lettered"}) + 1


def _outline(
    candidates: Sequence[_Line], kind: str, above: Sequence[_Line], emphasised: Set[int] | None
) -> list[_Line]:
    taken = {line.start for line in above}
    lines = [c for c in candidates if c.parsed.kind == kind and c.start not in taken]
    any_gap = kind not in BARE_KINDS
    if emphasised is None:
        chosen = _in_order(lines, above, lambda _: 1.0, any_gap)
    else:
        stressed = emphasised
        lines = _as_stressed(lines, above, stressed)
        chosen = _in_order(lines, above, lambda line: _weight(line, stressed), any_gap)
    if any_gap:
        # One such line in plain type is quoted from another document.
        alone = len(chosen) == 1 and emphasised is not None
        return [] if alone and not _is_stressed(chosen[0], emphasised or set()) else chosen
    has_appendix = kind == "lettered" and any(line.parsed.kind == "appendix" for line in above)
    return chosen if _is_convincing(chosen, emphasised, has_appendix) else []


def _is_stressed(line: _Line, emphasised: Set[int]) -> bool:
    return line.start in emphasised or line.parsed.title.isupper()


def _weight(line: _Line, emphasised: Set[int]) -> float:
    return _STRESSED_WEIGHT if _is_stressed(line, emphasised) else _PLAIN_WEIGHT


def _as_stressed(
    lines: Sequence[_Line], above: Sequence[_Line], emphasised: Set[int]
) -> list[_Line]:
    """Drop plain lines where lines in bold or larger type are an unbroken outline by themselves.

    That is decided for each depth of numbers apart, as "4." may be bold and "4.1.2" plain. Lines
    without a title ("Section 4.1.2", broken off from a sentence) must be stressed in any case.
    """
    stressed = [line for line in lines if _is_stressed(line, emphasised)]
    rated = [_candidate(line, above, 1.0) for line in stressed]
    unbroken = unbroken_depths(rated)
    return [
        line
        for line in lines
        if _is_stressed(line, emphasised)
        or (line.parsed.title and len(line.parsed.key) not in unbroken)
    ]


def _in_order(
    lines: Sequence[_Line],
    above: Sequence[_Line],
    weight: Callable[[_Line], float],
    any_gap: bool,
) -> list[_Line]:
    rated = [_candidate(line, above, weight(line)) for line in lines]
    return [lines[i] for i in in_order(rated, any_gap)]


def _candidate(line: _Line, above: Sequence[_Line], weight: float) -> Candidate:
    segment = bisect_left(above, line.start, key=lambda higher: higher.start)
    return Candidate(line.parsed.key, segment, weight)


def _is_convincing(lines: Sequence[_Line], emphasised: Set[int] | None, has_appendix: bool) -> bool:
    """Tell whether numbers without a word in front are headings rather than a list."""
    if len(lines) < 2 or _has_hardly_text_between(lines):
        return False
    if len(lines) < _FEW and not (is_start(lines[0].parsed.key) and _is_unbroken(lines)):
        return False
    depths = {len(line.parsed.key) for line in lines}
    if has_appendix or (max(depths) > 1 and lines[0].parsed.kind == "arabic"):
        return True
    if emphasised is None and lines[0].parsed.kind == "roman" and _are_roman_parts(lines):
        return True
    return sum(_is_stressed(line, emphasised or set()) for line in lines) >= len(lines) / 2


def _are_roman_parts(lines: Sequence[_Line]) -> bool:
    """Tell whether Roman numbers count through a text of some length, as list items do not."""
    if len(lines) < _FEWEST_ROMAN or not is_start(lines[0].parsed.key) or not _is_unbroken(lines):
        return False
    gaps = sorted(after.start - before.end for before, after in pairwise(lines))
    return gaps[len(gaps) // 2] >= _ROMAN_GAP


def _is_unbroken(lines: Sequence[_Line]) -> bool:
    """Tell whether single integers, or letters, count on without a gap."""
    keys = [line.parsed.key for line in lines]
    if max(map(len, keys)) > 1:
        return True
    return all(after[0] - before[0] == 1 or is_start(after) for before, after in pairwise(keys))


def _has_hardly_text_between(lines: Sequence[_Line]) -> bool:
    """Tell a list of short items, which follow one another, from headings with sections."""
    gaps = [
        after.start - before.end
        for before, after in pairwise(lines)
        if after.parsed.key[: len(before.parsed.key)]
        != before.parsed.key  # a subsection may follow
    ]
    return bool(gaps) and sum(gap < _SHORTEST_SECTION for gap in gaps) >= len(gaps) * _MOST_SHORT


def _heading(line: _Line, levels: Mapping[str, int], title_below: _TextLine | None) -> Heading:
    parsed = line.parsed
    level = levels[parsed.kind] + len(parsed.key)
    start = line.start + len(line.text) - len(line.text.lstrip())
    end, title = line.end, parsed.title
    if title_below is not None and (not title or _is_wrapped(line, title_below[1])):
        title = f"{title} {title_below[1].strip()}".strip()
        end = title_below[0] + len(title_below[1].rstrip())
    return Heading(start, end, level, parsed.number, title, "numbering")


def _is_wrapped(line: _Line, below: str) -> bool:
    """Tell whether a title in capitals goes on in the line below it."""
    title = line.parsed.title
    if line.parsed.length is not None or not title.isupper() or not below.strip().isupper():
        return False
    return title.endswith(_JOINING) or len(line.text.strip()) >= _WRAPPED_FROM


def _title_below(line: _TextLine | None, headings: Set[int]) -> _TextLine | None:
    """Return the line below "CHAPTER 4" if it is its title."""
    if line is None or line[0] in headings:
        return None
    text = line[1].strip()
    is_title = len(text) <= _LONGEST_NEXT_TITLE and text[0].isupper() and text[-1] not in ".,;:"
    return line if is_title else None
