"""Finds the rows of tables among the lines of PDF pages, by gaps that stand below one another.

Three rows or more make a table. What looks like its header are the first rows without figures
above rows that have some, or bold ones above others, with the lines of cells that are wrapped. A
table that goes on at the top of the next page is one table.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.numbering import parse_line
from ingestion.parsed import Table
from ingestion.pdf_page import Cell, Line

_FEWEST_ROWS = 3
_ALIGNED = 4.0
"""Points by which edges of one column's cells may differ."""
_LOOK_BACK = 3
_LONGEST_BETWEEN = 2
"""Lines without columns between two rows: the rest of a cell that is wrapped."""
_CLOSE = 2.2
"""From one row to the next, in heights of the type."""
_MOST_HEADER_ROWS = 3
_LONGEST_NAME = 50
"""Characters of a line in a column's name."""
_FIGURES_BELOW = 0.9
"""Share of the other rows that must have figures for a header of more than one row."""
_EDGE_LINES = 3
"""Lines that may stand between a table and the page's edge where it goes on over the page."""
_MARK = re.compile(
    r"(?:[\u2022\u25cf\u25cb\u25aa\u25a0\u25e6\u2023\u00b7\uf0b7\uf0a7o*)]|[\-\u2013\u2014\u2212])"
    r"|\[[^\[\]]{1,30}\]|\(?[0-9A-Za-z]{1,4}[.)]|\d+(?:\.\d+)+\.?|§+ ?[\d.\-]+"
    r"|(?:section|chapter|appendix|part|article|table|figure)\s+[\w.\-]+[.:]?",
    re.IGNORECASE,
)
"""Marks of list items and headings; the gap behind one parts no cells."""
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Row:
    index: int
    line: Line
    cells: tuple[Cell, ...]


def mark_tables(pages: Sequence[Sequence[Line]]) -> dict[int, int]:
    """Write the rows of tables as "a | b | c", and number the tables in `Line.table`.

    Args:
        pages: The lines of each page in reading order; they are changed.

    Returns:
        How many lines of each table name its columns, for tables that have such lines.
    """
    headers: dict[int, int] = {}
    number = -1
    before: tuple[_Row, bool] | None = (
        None  # last row of the page before, and if it stood at its end
    )
    for page in pages:
        last: tuple[_Row, bool] | None = None
        for rows in _tables(page):
            goes_on = before is not None and before[1] and rows[0].index < _EDGE_LINES
            if not (goes_on and before and _is_aligned(before[0], rows[0])):
                number += 1
                if header := _header_rows(rows):
                    headers[number] = rows[header].index - rows[0].index
            for line in page[rows[0].index : rows[-1].index + 1]:
                line.table = number
            for row in rows:
                row.line.text = " | ".join(cell.text for cell in row.cells)
            last = rows[-1], rows[-1].index >= len(page) - _EDGE_LINES
            before = None
        before = last
    return headers


def table_spans(
    lines: Sequence[Line], starts: Sequence[int], headers: dict[int, int]
) -> tuple[Table, ...]:
    """Return where the tables are in the text.

    Args:
        lines: All lines of the document, in order.
        starts: Offset of each line in the text.
        headers: From `mark_tables`.
    """
    found: dict[int, list[int]] = {}
    for i, line in enumerate(lines):
        if line.table is not None:
            found.setdefault(line.table, []).append(i)

    def end(i: int) -> int:
        return starts[i] + len(lines[i].text)

    return tuple(
        Table(
            start=starts[rows[0]],
            header_end=end(rows[headers[number] - 1]) if number in headers else starts[rows[0]],
            end=end(rows[-1]),
        )
        for number, rows in found.items()
    )


def _tables(page: Sequence[Line]) -> Iterator[list[_Row]]:
    rows: list[_Row] = []
    for i, line in enumerate(page):
        if len(cells := _cells(line)) < 2:
            continue
        row = _Row(i, line, cells)
        if rows and not _follows(page, rows, row):
            if _is_table(rows):
                yield rows
            # Names of columns need not stand where the figures below them do.
            rows = rows[-1:] if _is_header(rows[-1], row) else []
        rows.append(row)
    if _is_table(rows):
        yield rows


def _is_table(rows: Sequence[_Row]) -> bool:
    return len(rows) >= _FEWEST_ROWS


def _is_header(row: _Row, below: _Row) -> bool:
    is_next = row.index == below.index - 1 and row.line.page == below.line.page
    step = below.line.top - row.line.top
    return (
        is_next
        and 0 < step <= max(below.line.size, 1.0) * _CLOSE
        and _DIGIT.search(row.line.text) is None
        and _DIGIT.search(below.line.text) is not None
        and len(row.cells) >= len(below.cells)
    )


def _cells(line: Line) -> tuple[Cell, ...]:
    """Return the line's cells; none where its text was changed since."""
    if "".join(cell.text for cell in line.cells).replace(" ", "") != line.text.replace(" ", ""):
        return ()
    first, *others = line.cells
    if others and _MARK.fullmatch(first.text):
        joined = Cell(f"{first.text} {others[0].text}", first.left, others[0].right)
        return (joined, *others[1:])
    return line.cells


def _follows(page: Sequence[Line], rows: Sequence[_Row], row: _Row) -> bool:
    """Tell whether a row stands close below the others, in the same columns."""
    between = page[rows[-1].index + 1 : row.index]
    if len(between) > _LONGEST_BETWEEN:
        return False
    height = max(row.line.size, 1.0) * _CLOSE * (len(between) + 1)
    if not 0 <= row.line.top - rows[-1].line.top <= height:
        return False
    columns = [cell.left for cell in rows[-1].cells[1:]]
    if not all(_starts_at(line, columns) and parse_line(line.text) is None for line in between):
        return False
    return any(_is_aligned(other, row) for other in rows[-_LOOK_BACK:])


def _starts_at(line: Line, columns: Sequence[float]) -> bool:
    return any(abs(line.left - column) <= _ALIGNED for column in columns)


def _is_aligned(above: _Row, below: _Row) -> bool:
    """Tell whether at least two cells, and half of the fewer, stand below those of the other."""
    aligned = sum(any(_are_aligned(cell, other) for other in above.cells) for cell in below.cells)
    return aligned >= max(2, min(len(above.cells), len(below.cells)) / 2)


def _are_aligned(cell: Cell, other: Cell) -> bool:
    return (
        abs(cell.left - other.left) <= _ALIGNED
        or abs(cell.right - other.right) <= _ALIGNED
        or abs(cell.left + cell.right - other.left - other.right) <= _ALIGNED
    )


def _header_rows(rows: Sequence[_Row]) -> int:
    """Return how many of the first rows name the columns; fewer than there are."""
    most = min(_MOST_HEADER_ROWS, len(rows) - 1)
    bold = _leading([_is_bold(row) for row in rows])
    if bold:
        return bold if bold <= most else 0
    with_figures = [_DIGIT.search(row.line.text) is not None for row in rows]
    plain = _leading(
        [not has and _is_short(row) for has, row in zip(with_figures, rows, strict=True)]
    )
    if 1 < plain <= most and _share(with_figures[plain:]) >= _FIGURES_BELOW:
        return plain
    return int(plain > 0 and _share(with_figures[1:]) >= 0.5)


def _is_bold(row: _Row) -> bool:
    return row.line.starts_bold and row.line.ends_bold


def _is_short(row: _Row) -> bool:
    """Tell names of columns from the sentences of a glossary."""
    return all(len(cell.text) <= _LONGEST_NAME for cell in row.cells)


def _leading(marks: Sequence[bool]) -> int:
    """Return how many at the beginning are true."""
    return next((i for i, mark in enumerate(marks) if not mark), len(marks))


def _share(marks: Sequence[bool]) -> float:
    return sum(marks) / len(marks)
