"""Builds a document's text piece by piece, so that positions are known and never searched for."""

import re
from collections.abc import Sequence

from graph.fold import fold
from ingestion.numbering import split_number
from ingestion.parsed import Heading, Table

_BLANKS = re.compile(r"[ \t\r\n\f]+")


class TextBuilder:
    """Collects text and headings.

    Inline pieces are joined as they come, with white space collapsed as browsers do; `end_line`
    and `end_block` end what came before them, however often they are called.
    """

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.tables: list[Table] = []
        self._parts: list[str] = []
        self._length = 0
        self._newlines = 2
        """Newlines at the end of the text so far; 2 at the start, where none is needed."""
        self._pending_space = False
        self._prefix = ""

    @property
    def text(self) -> str:
        """Everything so far, without white space at its end."""
        return "".join(self._parts).rstrip()

    @property
    def position(self) -> int:
        """Offset of the next character."""
        return self._length

    def prefix(self, mark: str) -> None:
        """Put a mark, such as "- ", before the next piece of text, wherever that begins."""
        self._prefix = mark

    def inline(self, text: str) -> None:
        """Add running text; white space in it is collapsed to single spaces."""
        folded = _BLANKS.sub(" ", fold(text))
        core = folded.strip(" ")
        if folded.startswith(" "):
            self._pending_space = True
        if not core:
            return
        self._flush_space()
        self._append(core)
        self._pending_space = folded.endswith(" ")

    def verbatim(self, text: str) -> None:
        """Add text with its own line breaks and indentation, such as source code."""
        self._flush_space()
        self._append(fold(text).strip("\n"))

    def end_line(self) -> None:
        """Make sure that what follows begins a line."""
        self._end(1)

    def end_block(self) -> None:
        """Make sure that what follows stands after an empty line."""
        self._end(2)

    def table(self, rows: Sequence[Sequence[str]], header_rows: int) -> None:
        """Add a table, each row on a line of its own, cells parted by " | ".

        Args:
            rows: Cells on one line each; rows without text are left out.
            header_rows: How many of the first rows name the columns.
        """
        self.end_block()
        start = header_end = end = self._length
        for i, row in enumerate(rows):
            self.end_line()
            self.inline(" | ".join(row).rstrip(" |"))
            end = max(end, self._length) if any(row) else end
            if i < header_rows:
                header_end = end
        if end > start:
            self.tables.append(Table(start, header_end, end))
        self.end_block()

    def heading(self, text: str, level: int, provenance: str, number: str | None = None) -> None:
        """Add a heading on a line of its own; one without text is left out.

        Args:
            text: The heading, its number included.
            level: 1 for the top.
            provenance: See `Heading`.
            number: Where it is known, as for lists that count by themselves; `text` begins with it.
        """
        line = _BLANKS.sub(" ", fold(text)).strip()
        if not line:
            return
        self.end_block()
        self.prefix("")
        start = self._length
        self._append(line)
        known, title = split_number(line)
        if number:
            known = number
            title = (
                line[len(number) :].lstrip(" .:\u2013\u2014") if line.startswith(number) else title
            )
        self.headings.append(Heading(start, self._length, level, known, title, provenance))
        self.end_block()

    def _flush_space(self) -> None:
        if self._pending_space and not self._newlines:
            self._append(" ")
        self._pending_space = False

    def _append(self, text: str) -> None:
        if text:
            self._parts.append(self._prefix + text)
            self._length += len(self._prefix) + len(text)
            self._newlines = 0
            self._prefix = ""

    def _end(self, newlines: int) -> None:
        self._pending_space = False
        if (missing := newlines - self._newlines) > 0:
            self._parts.append("\n" * missing)
            self._length += missing
            self._newlines = newlines
