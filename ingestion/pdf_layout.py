"""Puts the lines of a PDF page into reading order where the file's own order is no such order.

Two things happen. Columns of running text are drawn line by line across the page, so that each
line holds pieces of all columns: such lines are parted and read column by column. And tables are
drawn column by column, or their cells in any order: the cells of a row are joined to a line.
Pages of neither kind stay as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import mean

from ingestion.pdf_page import Cell, Line

_FEWEST_PARTED = 6
"""Lines that must have their gap at the same place before columns are made of them."""
_LEAST_PARTED = 0.3
"""Share of a page's lines that must have it."""
_LONG, _SHORT = 24, 20
"""Characters, on average: from so many on it is running text, up to so many a cell of a table."""
_FULL, _LEAST_FULL = 0.8, 0.6
"""How full a line of running text is, and the share of lines that are so."""
_SAME_BASELINE = 3.0
_FEWEST_ROWS, _LEAST_BESIDE, _LEAST_ROWS = 5, 0.5, 0.9
_MOST_COLUMNS = 3


def in_reading_order(page: Sequence[Line]) -> list[Line]:
    """Return a page's lines, some of them parted or joined, in reading order."""
    return _rows(_columns(list(page), _MOST_COLUMNS - 1))


def _columns(page: list[Line], most_gutters: int) -> list[Line]:
    gutter = _gutter(page) if most_gutters else None
    if gutter is None:
        return page
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in page:
        parts = _parted(line, gutter)
        if parts is None and line.left < gutter < line.right:
            ordered += [*_columns(left, most_gutters - 1), *_columns(right, most_gutters - 1), line]
            left, right = [], []
        elif parts is not None:
            left.append(parts[0])
            right.append(parts[1])
        else:
            (left if line.right <= gutter else right).append(line)
    return [*ordered, *_columns(left, most_gutters - 1), *_columns(right, most_gutters - 1)]


def _gutter(page: Sequence[Line]) -> float | None:
    """Return where the gap is that parts running text, if there is one."""
    gaps = [(before.right, after.left) for line in page for before, after in pairwise(line.cells)]
    places = sorted({round((left + right) / 2) for left, right in gaps})
    found = max(places, key=lambda x: sum(a < x < b for a, b in gaps), default=None)
    if found is None:
        return None
    pairs = [parts for line in page if (parts := _parted(line, found)) is not None]
    if len(pairs) < max(_FEWEST_PARTED, len(page) * _LEAST_PARTED):
        return None
    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return found if _is_running_text(left) and _is_running_text(right) else None


def _is_running_text(lines: Sequence[Line]) -> bool:
    """Tell it, of one column or of two side by side, from the columns of a table."""
    widest = max(line.right - line.left for line in lines)
    full = sum(line.right - line.left >= widest * _FULL for line in lines)
    lengths = [len(cell.text) for line in lines for cell in _cells(line)]
    return mean(lengths) >= _LONG and full >= len(lines) * _LEAST_FULL


def _parted(line: Line, gutter: float) -> tuple[Line, Line] | None:
    """Part a line at the gap that holds the place; None if it has none there."""
    for i in range(1, len(line.cells)):
        if line.cells[i - 1].right < gutter < line.cells[i].left:
            return _from_cells(line, line.cells[:i]), _from_cells(line, line.cells[i:])
    return None


def _from_cells(line: Line, cells: Sequence[Cell]) -> Line:
    return replace(
        line,
        text=" ".join(cell.text for cell in cells),
        left=cells[0].left,
        right=cells[-1].right,
        bottom=line.top,
        cells=tuple(cells) if len(cells) > 1 else (),
    )


def _rows(page: list[Line]) -> list[Line]:
    """Join cells that stand beside each other, on pages that are tables for the most part."""
    groups = list(_baselines(page))
    beside = [group for group in groups if len(group) > 1]
    lines = sum(map(len, beside))
    if len(beside) < _FEWEST_ROWS or lines < len(page) * _LEAST_BESIDE:
        return page
    if sum(map(_is_row, beside)) < len(beside) * _LEAST_ROWS:
        return page
    return [_joined(group) for group in groups]


def _baselines(page: Sequence[Line]) -> Iterator[list[Line]]:
    """Group lines by their baselines, from the top down, each group from left to right."""
    group: list[Line] = []
    for line in sorted(page, key=lambda line: line.top):
        if group and line.top - group[0].top > _SAME_BASELINE:
            yield sorted(group, key=lambda line: line.left)
            group = []
        group.append(line)
    if group:
        yield sorted(group, key=lambda line: line.left)


def _is_row(group: Sequence[Line]) -> bool:
    is_apart = all(a.right <= b.left + 1 for a, b in pairwise(group))
    lengths = [len(cell.text) for line in group for cell in _cells(line)]
    return is_apart and mean(lengths) <= _SHORT


def _joined(group: Sequence[Line]) -> Line:
    if len(group) == 1:
        return group[0]
    cells = tuple(cell for line in group for cell in _cells(line))
    return replace(
        group[0],
        text=" ".join(line.text for line in group),
        right=group[-1].right,
        bottom=group[0].top,
        ends_bold=group[-1].ends_bold,
        cells=cells,
    )


def _cells(line: Line) -> tuple[Cell, ...]:
    return line.cells or (Cell(line.text, line.left, line.right),)
