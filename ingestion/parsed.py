"""What reading a file gives: its text, and where pages and headings are in it.

Every position is a character offset into `ParsedDocument.text`, 0-indexed. Positions are made
together with the text and carried along; nobody searches for them afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from graph.model import Section


@dataclass(frozen=True, slots=True)
class Heading:
    """A line of the text that opens a section."""

    start: int
    """Offset of the heading's first character."""
    end: int
    """Offset behind its last character, exclusive; the section's own text follows."""
    level: int
    """1 for the top; levels may be skipped."""
    number: str | None
    """Such as "1.3.1.1" or "401.4-2(b)"; None where the heading carries no number."""
    title: str
    """The heading without its number, on one line; empty if there is only a number."""
    provenance: str
    """How it was found: "bookmarks", "numbering", "markup" or "fonts" (type)."""


@dataclass(frozen=True, slots=True)
class Table:
    """A stretch of the text whose lines are the rows of a table."""

    start: int
    """Offset of the first row."""
    header_end: int
    """Offset behind the rows that name the columns; equals `start` where there are none."""
    end: int
    """Exclusive."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One file as text."""

    text: str
    r"""Repaired by `graph.fold`: no NUL, no lone surrogate, "\n" ends a line."""
    page_starts: tuple[int, ...]
    """Offset where each physical page begins, ascending; empty for formats without pages."""
    headings: tuple[Heading, ...]
    """In order of their positions; they do not overlap."""
    title: str | None
    """As the format states it (front matter, <title>, PDF properties); None if it does not."""
    metadata: Mapping[str, str]
    """Front matter, PDF properties or HTML meta elements; keys in lower case."""
    media_type: str
    engine: str
    """What read it, with its version, such as "pypdfium2 5.15.2"."""
    page_engines: tuple[str, ...] = ()
    """What read each page; empty for formats without pages of their own."""
    pages_without_text: tuple[int, ...] = ()
    """1-indexed."""
    printed_title: str | None = None
    """What the first page sets in the largest type, or the page's only top heading."""
    warnings: tuple[str, ...] = ()
    """What a person should know although the file was read."""
    left_out: tuple[str, ...] = ()
    """What was recognised as no content and is not in the text, such as running heads."""
    tables: tuple[Table, ...] = ()
    """In order of their positions; they do not overlap."""
    page_labels: tuple[str, ...] = ()
    """What is printed on each page for a number; empty where nothing is."""

    @property
    def pages(self) -> int | None:
        """Number of pages; None for formats that have none."""
        return len(self.page_starts) or None


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A section with the stretch of text that is its own, without that of its subsections."""

    section: Section
    start: int
    """Offset where its heading begins; 0 for the leading section."""
    body_start: int
    """Offset where its own text begins, behind the heading."""
    end: int
    """Exclusive; where the next heading begins, whatever that one's level."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """What one file may cost."""

    seconds: float = 120.0
    """Wall-clock time for one file."""
    memory_bytes: int = 2 * 1024**3
    """Address space of the reading process, where the system can limit it."""
    file_bytes: int = 500 * 1024**2
    """Largest file that is opened."""
