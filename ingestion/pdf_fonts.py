"""Finds headings by their type, in PDFs that have neither bookmarks nor numbers.

A heading is a short line, or a few together, in larger or bold type or in centred capitals, with
nothing beside it. What a document sets so again and again without text below it (lists, tables,
captions) is no heading.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ingestion.numbering import split_number
from ingestion.parsed import Heading
from ingestion.pdf_page import Line

_LARGER = 1.12
"""A heading's type, in sizes of the usual type."""
_ALIKE = 0.06
_LONGEST, _MOST_LINES, _MOST_CAPITAL_LINES = 150, 4, 2
_FEWEST_LETTERS = 0.6
_FEWEST = 2
_SAME_BASELINE = 3.0
_WIDEST_STEP = 2.0
"""From one baseline to the next inside a heading, in sizes of its type."""
_OFF_CENTRE = 12.0
_WIDER = 1.4
_NEAR = 4.0
"""Sizes of type within which two lines side by side belong together."""
_LEAST_INDENT = 40.0
_MOST_BOLD = 0.4
"""Share of characters in bold above which bold marks nothing."""
_SHORTEST_TEXT, _MOST_EMPTY = 40, 0.5
"""Characters below a heading, and the share of a style's headings that may have fewer."""
_MOST_OF_TEXT = 0.25
"""Share of the document's lines that headings may take up."""
_CELL = 30
"""Characters from which on a line is no cell of a table."""
_DEEPEST = 4
_PAGE = re.compile(r"\bpage \d+\b", re.IGNORECASE)
"""In a running head of a document with too few pages to tell it as one."""
_COUNTED = re.compile(r"(?P<number>\d{1,2}) (?P<title>[A-Z].*)")
_MOST_COUNTED = 0.6
"""Share of the headings that must begin with a counted number."""


@dataclass(frozen=True, slots=True)
class _Style:
    size: float
    kind: str
    """"large", "bold" or "capitals"."""


@dataclass(slots=True)
class _Run:
    """Lines that together may be a heading."""

    first: int
    last: int
    style: _Style


def headings_by_type(
    lines: Sequence[Line], starts: Sequence[int], usual: float, title: str | None
) -> tuple[Heading, ...]:
    """Return headings in order, provenance "fonts"; empty where type tells nothing.

    Args:
        lines: The lines of the text, in order.
        starts: Offset of each line in the text.
        usual: Type size of running text, in points.
        title: The printed title of the document, which is no heading of a section.
    """
    candidates = list(_candidates(lines, usual))
    leading = _leading(lines)
    runs = [
        run
        for run in _runs(lines, candidates)
        if _fits(lines, run, title)
        and (run.style.kind != "capitals" or _stands_alone(lines, run, leading))
    ]
    runs = _with_text(lines, runs)
    taken = sum(run.last - run.first + 1 for run in runs)
    if len(runs) < _FEWEST or taken > len(lines) * _MOST_OF_TEXT:
        return ()
    levels = _levels(runs)
    found = [_heading(lines, starts, run, levels[run.style]) for run in runs]
    return _with_counted_numbers(found)


def below_type(typed: Sequence[Heading], numbered: Sequence[Heading]) -> tuple[Heading, ...]:
    """Put numbered headings below those found by type, where type finds more of them.

    Where it does not, the numbered ones stand alone, as they say more about the outline.
    """
    if len(typed) <= len(numbered):
        return tuple(numbered)
    deepest = max(heading.level for heading in typed)
    lower = [replace(heading, level=heading.level + deepest) for heading in numbered]
    kept: list[Heading] = []
    for heading in sorted([*typed, *lower], key=lambda h: (h.start, -h.level)):
        if kept and heading.start < kept[-1].end:
            continue
        kept.append(heading)
    return tuple(kept)


def _with_counted_numbers(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Take "2 Bar" for number and title where most of the headings count on so."""
    matches = [None if h.number else _COUNTED.fullmatch(h.title) for h in headings]
    values = [int(match["number"]) for match in matches if match]
    rising = sum(after - before in (0, 1) for before, after in pairwise(values))
    if len(values) < max(3, len(headings) * _MOST_COUNTED) or rising < (len(values) - 1) * 0.8:
        return tuple(headings)
    return tuple(
        replace(heading, number=match["number"], title=match["title"]) if match else heading
        for heading, match in zip(headings, matches, strict=True)
    )


def _candidates(lines: Sequence[Line], usual: float) -> Iterator[tuple[int, _Style]]:
    bold = sum(len(line.text) for line in lines if line.starts_bold and line.ends_bold)
    bold_tells = bold < sum(len(line.text) for line in lines) * _MOST_BOLD
    centres = _centres(lines)
    beside = _lines_with_neighbours(lines)
    for i, line in enumerate(lines):
        if i in beside or line.table is not None or len(line.text) > _LONGEST:
            continue
        if line.size >= usual * _LARGER:
            yield i, _Style(line.size, "large")
        elif bold_tells and line.starts_bold and line.ends_bold and line.size >= usual * 0.9:
            yield i, _Style(line.size, "bold")
        elif line.text.isupper() and line.size >= usual * 0.9 and _is_centred(line, centres):
            yield i, _Style(line.size, "capitals")


def _centres(lines: Sequence[Line]) -> dict[int, tuple[float, float]]:
    """Return the left edge and the middle of the text of each page."""
    edges: defaultdict[int, list[Line]] = defaultdict(list)
    for line in lines:
        edges[line.page].append(line)
    return {
        page: (
            min(line.left for line in on_page),
            (min(line.left for line in on_page) + max(line.right for line in on_page)) / 2,
        )
        for page, on_page in edges.items()
    }


def _is_centred(line: Line, centres: dict[int, tuple[float, float]]) -> bool:
    left, centre = centres[line.page]
    middle = (line.left + line.right) / 2
    return line.left - left >= _LEAST_INDENT and abs(middle - centre) <= _OFF_CENTRE


def _lines_with_neighbours(lines: Sequence[Line]) -> set[int]:
    """Return the indexes of lines that others stand right beside: cells of tables, forms.

    The names of columns stand beside each other in the same type, however far apart.
    """
    rows: defaultdict[int, list[list[int]]] = defaultdict(list)
    for i in sorted(range(len(lines)), key=lambda i: (lines[i].page, lines[i].top)):
        on_page = rows[lines[i].page]
        if on_page and lines[i].top - lines[on_page[-1][0]].top <= _SAME_BASELINE:
            on_page[-1].append(i)
        else:
            on_page.append([i])
    found: set[int] = set()
    for row in (row for on_page in rows.values() for row in on_page):
        for a, b in pairwise(sorted(row, key=lambda i: lines[i].left)):
            left, right = lines[a], lines[b]
            alike = left.starts_bold == right.starts_bold and _alike(left.size, right.size)
            is_near = right.left - left.right < _NEAR * left.size
            if alike and left.starts_bold:
                found |= {a, b}
            elif is_near:  # a long line is one of the next column's text
                found |= {i for i, other in ((a, right), (b, left)) if len(other.text) < _CELL}
    return found


def _runs(lines: Sequence[Line], candidates: Sequence[tuple[int, _Style]]) -> Iterator[_Run]:
    """Join lines of the same type that follow each other closely."""
    run: _Run | None = None
    for i, style in candidates:
        if (
            run is not None
            and run.last == i - 1
            and _continues(lines[run.last], lines[i], run, style)
        ):
            run.last = i
            continue
        if run is not None:
            yield run
        run = _Run(i, i, style)
    if run is not None:
        yield run


def _continues(before: Line, line: Line, run: _Run, style: _Style) -> bool:
    step = line.top - before.bottom
    return (
        style.kind == run.style.kind
        and _alike(style.size, run.style.size)
        and before.page == line.page
        and 0 < step <= max(line.size, 1.0) * _WIDEST_STEP
    )


def _alike(size: float, other: float) -> bool:
    return abs(size - other) <= _ALIKE * max(size, other)


def _fits(lines: Sequence[Line], run: _Run, title: str | None) -> bool:
    text = _text(lines, run)
    count = run.last - run.first + 1
    most = _MOST_CAPITAL_LINES if run.style.kind == "capitals" else _MOST_LINES
    if count > most or len(text) > 2 * _LONGEST or (text == title and not text[0].isdigit()):
        return False
    squeezed = text.replace(" ", "")
    if len(squeezed) < 3 or sum(map(str.isalpha, squeezed)) < len(squeezed) * _FEWEST_LETTERS:
        return False
    if (
        text[0].islower()
        or text[0] in ",;)"
        or text[-1] in ".,;"
        or "@" in text
        or _PAGE.search(text)
    ):
        return False
    after = lines[run.last + 1] if run.last + 1 < len(lines) else None
    if after is not None and after.page == lines[run.last].page and after.text[0].islower():
        return False  # stressed words of a sentence
    return not (text.endswith(":") and len(text) > 60)


def _leading(lines: Sequence[Line]) -> float:
    steps = [
        b.top - a.bottom for a, b in pairwise(lines) if a.page == b.page and b.top > a.bottom + 1
    ]
    return median(steps) if steps else 0.0


def _stands_alone(lines: Sequence[Line], run: _Run, leading: float) -> bool:
    """Tell whether there is more room above and below than between lines of text."""
    around = ((run.first - 1, run.first), (run.last, run.last + 1))
    pairs = [(lines[a], lines[b]) for a, b in around if a >= 0 and b < len(lines)]
    return all(
        a.page != b.page or b.top < a.bottom or b.top - a.bottom > leading * _WIDER
        for a, b in pairs
    )


def _with_text(lines: Sequence[Line], runs: list[_Run]) -> list[_Run]:
    """Drop the styles whose lines mostly have no text below them, the smallest first."""
    empty: Counter[_Style] = Counter()
    styles = _clusters(runs)
    total: Counter[_Style] = Counter()
    for run, after in pairwise([*runs, None]):
        if run is None:
            continue
        end = after.first if after is not None else len(lines)
        below = sum(len(line.text) for line in lines[run.last + 1 : end])
        style = styles[run.style]
        deeper = after is not None and _rank(styles[after.style]) < _rank(style)
        total[style] += 1
        empty[style] += below < _SHORTEST_TEXT and not deeper
    bad = {style for style in total if empty[style] > total[style] * _MOST_EMPTY}
    return [
        _Run(run.first, run.last, styles[run.style]) for run in runs if styles[run.style] not in bad
    ]


def _clusters(runs: Sequence[_Run]) -> dict[_Style, _Style]:
    """Map each style to the largest one that looks the same."""
    clusters: dict[_Style, _Style] = {}
    for style in sorted({run.style for run in runs}, key=_rank, reverse=True):
        known = (
            s for s in clusters.values() if s.kind == style.kind and _alike(s.size, style.size)
        )
        clusters[style] = next(known, style)
    return clusters


def _rank(style: _Style) -> tuple[bool, float, bool]:
    return style.kind == "large", style.size if style.kind == "large" else 0, style.kind == "bold"


def _levels(runs: Sequence[_Run]) -> dict[_Style, int]:
    ordered = sorted({run.style for run in runs}, key=_rank, reverse=True)
    return {style: min(level, _DEEPEST) for level, style in enumerate(ordered, 1)}


def _text(lines: Sequence[Line], run: _Run) -> str:
    return " ".join(line.text for line in lines[run.first : run.last + 1])


def _heading(lines: Sequence[Line], starts: Sequence[int], run: _Run, level: int) -> Heading:
    number, title = split_number(_text(lines, run))
    end = starts[run.last] + len(lines[run.last].text)
    return Heading(starts[run.first], end, level, number, title, "fonts")
