"""Keeps tables whole where text is cut, and their rows where a table is too long for that."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from ingestion.parsed import Table
from ingestion.split import Span

_LINE = re.compile(r"[^\n]+")
_LONGEST_CAPTION = 200


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of a section that is cut by itself."""

    start: int
    end: int
    header: str
    """Names of the columns, for chunks that begin behind them; empty for running text."""
    header_end: int
    """Where they end in the text; chunks from there on need them repeated."""
    whole: tuple[Span, ...]
    """What no cut may part: small tables, or the rows of a large one; ascending."""


def regions(
    text: str,
    start: int,
    end: int,
    tables: Iterable[Table],
    fits: Callable[[str], bool],
    shorten: Callable[[str], str],
) -> Iterator[Region]:
    """Part a section into running text, with the tables that fit a chunk, and larger tables.

    A caption, on one line of its own above a table, belongs to that.

    Args:
        text: The whole document.
        start: Offset where the section's text begins.
        end: Exclusive.
        tables: Those of the document.
        fits: Whether a piece fits a chunk.
        shorten: Cuts the names of columns to what may be repeated of them.
    """
    whole: list[Span] = []
    at = start
    for table in tables:
        if not (start <= table.start and table.end <= end):
            continue
        first = _with_caption(text, whole[-1][1] if whole else at, table.start)
        if fits(text[table.start : table.end]):
            captioned = fits(text[first : table.end])
            whole.append((first if captioned else table.start, table.end))
            continue
        if text[at:first].strip():
            yield Region(at, first, "", first, tuple(whole))
        header = shorten(" / ".join(text[table.start : table.header_end].split("\n")).strip())
        rows = tuple(_rows(text, first, table, partial(_fits_below, header, fits)))
        yield Region(first, table.end, header, table.header_end, rows)
        at, whole = table.end, []
    if text[at:end].strip():
        yield Region(at, end, "", end, tuple(whole))


def _with_caption(text: str, earliest: int, start: int) -> int:
    above = text[earliest:start].rstrip()
    line = above.rpartition("\n")[2]
    is_caption = 0 < len(line) <= _LONGEST_CAPTION and not line.endswith(".")
    return earliest + len(above) - len(line) if is_caption else start


def _fits_below(header: str, fits: Callable[[str], bool], row: str) -> bool:
    return fits(f"{header}\n{row}" if header else row)


def _rows(text: str, first: int, table: Table, fits: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the rows, the first one together with the caption and the header above it."""
    opening: int | None = first
    for match in _LINE.finditer(text, table.start, table.end):
        if match.end() <= table.header_end:
            continue
        if opening is not None and fits(text[opening : match.end()]):
            yield opening, match.end()
        elif fits(match[0]):
            yield match.span()
        opening = None
