"""Writes the text of HTML elements: headings, lists, tables and paragraphs in their order."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, repeat, takewhile

from bs4 import Tag
from bs4.element import NavigableString, PageElement, PreformattedString

from ingestion.builder import TextBuilder
from ingestion.numbering import roman_numeral

_SILENT = {
    "script", "style", "noscript", "template", "iframe", "object", "svg", "canvas", "audio",
    "video", "select", "input", "textarea", "head", "map",
}  # fmt: skip
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_HEADING_BUTTON = re.compile(
    r"^\W*$|^\W*(?:pdf|link|permalink|edit|copy|top|back to top)\W*$", re.IGNORECASE
)
"""Links in a heading that are buttons."""
_LISTS = {"ul", "ol", "menu"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div",
    "dl", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend",
    "main", "nav", "p", "section", "summary", "caption", "table", "tbody", "td", "th",
}  # fmt: skip
_WIDEST_SPAN, _LONGEST_REPEATED = 200, 200
"""Rows or columns that a cell may span, and characters of one that is repeated in each row."""
_LINES = {"li", "tr", "dt", "dd", "option"}

_Step = PageElement | Callable[[], None]
"""A node still to be written, or what is to be done when the nodes before it are."""


def write_element(element: Tag, builder: TextBuilder) -> None:
    """Add the text of an element and of everything in it, however deeply nested."""
    writer = _Writer(builder)
    writer.write(element)
    builder.end_block()


class _Writer:
    """Walks the tree with a stack of its own, because pages nest deeper than Python calls."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._steps: list[_Step] = []
        self._list_depth = 0

    def write(self, element: Tag) -> None:
        self._steps = [element]
        while self._steps:
            step = self._steps.pop()
            if isinstance(step, Tag):
                self._tag(step)
            elif isinstance(step, NavigableString):
                if not isinstance(step, PreformattedString):  # comments, declarations, CDATA
                    self._builder.inline(step)
            elif not isinstance(step, PageElement):
                step()

    def _tag(self, tag: Tag) -> None:
        name = tag.name
        if name in _SILENT:
            return
        if name in _HEADINGS:
            for link in tag.find_all("a", string=_HEADING_BUTTON):
                link.extract()
            self._builder.heading(inline_text(tag), _HEADINGS[name], "markup")
        elif name == "pre":
            self._builder.end_block()
            self._builder.verbatim(tag.get_text())
            self._builder.end_block()
        elif name == "br":
            self._builder.end_line()
        elif name in _LISTS:
            self._list(tag)
        elif name == "table" and not _is_layout(tag):
            self._table(tag)
        elif name in _BLOCKS:
            self._enclosed(tag, self._builder.end_block)
        elif name in _LINES:
            self._enclosed(tag, self._builder.end_line)
        else:
            self._push(*tag.children)

    def _push(self, *steps: _Step) -> None:
        self._steps.extend(reversed(steps))

    def _enclosed(self, tag: Tag, end: Callable[[], None]) -> None:
        end()
        self._push(*tag.children, end)

    def _list(self, tag: Tag) -> None:
        end = self._builder.end_line if self._list_depth else self._builder.end_block
        end()
        self._list_depth += 1
        indent, marks = "  " * (self._list_depth - 1), _marks(tag)
        steps: list[_Step] = []
        for child in tag.children:
            if isinstance(child, Tag) and child.name == "li":
                steps.append(partial(self._builder.prefix, indent + next(marks)))
            steps.append(child)
        self._push(*steps, self._leave_list, end)

    def _leave_list(self) -> None:
        self._list_depth -= 1
        self._builder.prefix("")

    def _table(self, table: Tag) -> None:
        self._builder.end_block()
        for caption in table.find_all("caption"):
            self._builder.inline(inline_text(caption))
            self._builder.end_line()
        rows = table.find_all("tr")
        self._builder.table(_cells(rows), _header_rows(rows))


def inline_text(tag: Tag) -> str:
    """Return an element's text on one line."""
    pieces: list[str] = []
    for node in tag.descendants:
        if isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString) and not _is_unseen(node, tag):
                pieces.append(node)
        elif isinstance(node, Tag) and (node.name in _BLOCKS or node.name in _LINES | {"br"}):
            pieces.append(" ")
    return " ".join("".join(pieces).split())


def _is_unseen(text: NavigableString, top: Tag) -> bool:
    for parent in text.parents:
        if parent is top:
            return False
        if parent.name in _SILENT:
            return True
    return False


def _cells(rows: Sequence[Tag]) -> list[list[str]]:
    """Return the text of each row's cells; a short one that spans rows stands in each of them."""
    table: list[list[str]] = []
    spanning: dict[int, tuple[str, int]] = {}  # by column: the text, and the rows still to come
    for row in rows:
        texts: list[str] = []
        below: dict[int, tuple[str, int]] = {}
        for cell in row.find_all(["td", "th"]):
            _fill(texts, spanning, below)
            text, rows_left = inline_text(cell), _span(cell, "rowspan") - 1
            columns = _span(cell, "colspan")
            if rows_left:
                repeated = text if len(text) <= _LONGEST_REPEATED else ""
                below |= {
                    len(texts) + i: (repeated if i == 0 else "", rows_left) for i in range(columns)
                }
            texts += [text, *[""] * (columns - 1)]
        _fill(texts, spanning, below)
        spanning = below
        table.append(texts)
    return table


def _fill(
    texts: list[str], spanning: dict[int, tuple[str, int]], below: dict[int, tuple[str, int]]
) -> None:
    """Add the cells that reach down from rows above, as far as they follow one another."""
    while (column := len(texts)) in spanning:
        text, rows_left = spanning.pop(column)
        if rows_left > 1:
            below[column] = text, rows_left - 1
        texts.append(text)


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name, "1")).strip()
    return min(max(int(value), 1), _WIDEST_SPAN) if value.isdecimal() else 1


def _header_rows(rows: Sequence[Tag]) -> int:
    """Count the first rows that name columns: those of <thead>, or with nothing but <th>."""
    names = (row.find_parent("thead") is not None or row.find("td") is None for row in rows)
    count = sum(1 for _ in takewhile(bool, names))
    return count if count < len(rows) else 0


def _is_layout(table: Tag) -> bool:
    """Tell whether a table holds the page's blocks rather than rows of cells."""
    if table.get("role") == "presentation" or table.find(["table", *_HEADINGS]):
        return True
    return len(table.find_all("tr")) >= len(table.find_all(["td", "th"]))


def _marks(tag: Tag) -> Iterator[str]:
    """What stands before the items of a list, one after the other."""
    if tag.name != "ol":
        yield from repeat("- ")
    start = str(tag.get("start", "1"))
    first = int(start) if start.isdecimal() else 1
    for number in count(first):
        yield f"{_ordinal(number, str(tag.get('type', '1')))}. "


def _ordinal(number: int, style: str) -> str:
    if style in ("a", "A") and 1 <= number <= 26:
        return chr(ord(style) + number - 1)
    if style in ("i", "I"):
        numeral = roman_numeral(number)
        return numeral.lower() if style == "i" else numeral
    return str(number)
