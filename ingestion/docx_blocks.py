"""Walks a Word document's body: paragraphs, headings, list items and tables in their order.

Deleted and hidden text, instructions of fields, comments and generated contents lists are left
out; of alternatives (a text box for new and for old programs) only the first is read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.docx_styles import Lists, Style, Styles, outline_level
from ingestion.xml_tree import Element, attribute, child, name

_THROUGH = {
    "ins", "moveTo", "smartTag", "customXml", "sdtContent", "hyperlink", "fldSimple", "r", "dir",
    "bdo", "ruby", "rubyBase", "oMath", "oMathPara", "e", "sup", "sub", "num", "den", "f", "sSup",
    "sSub", "d", "nary", "rad", "deg", "fName", "func", "drawing", "pict", "inline", "anchor",
    "graphic", "graphicData", "wsp", "wgp", "wpc", "txbx", "shape", "rect", "textbox", "group",
    "object", "shapetype", "roundrect", "oval", "grpSp",
}  # fmt: skip
"""Elements that only wrap text."""
_BLANKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n"}
_LETTER_CODE = re.compile("[0-9A-Ea-e][0-9A-Fa-f]{3}")
"""Of a symbol; those from F000 on are pictures of a symbol font."""
_OFF = ("0", "false", "off", "none")


@dataclass(slots=True)
class Block:
    """A paragraph or a table."""

    text: str = ""
    level: int | None = None
    """Outline level of a heading, 1 for the top."""
    label: str | None = None
    """What stands before a list item or a heading; "" for a bullet, None outside of lists."""
    depth: int = 0
    """Of a list item, 0 for the outermost."""
    style: str = ""
    """Name of the style in lower case."""
    bold: bool = False
    """Whether all of it is bold."""
    rows: list[list[str]] = field(default_factory=list)
    """Of a table: its cells, each on one line."""
    header_rows: int = 0


@dataclass(slots=True)
class _Field:
    """A field (17.16.18) that the text is in."""

    instruction: str = ""
    has_result: bool = False

    @property
    def is_contents(self) -> bool:
        return self.instruction.split(maxsplit=1)[:1] == ["TOC"]


class Walker:
    """Collects the blocks of one document."""

    def __init__(self, styles: Styles, lists: Lists, notes: dict[str, str]) -> None:
        self.blocks: list[Block] = []
        self.left_out: set[str] = set()
        """Kinds of text that were recognised as no content."""
        self._styles = styles
        self._lists = lists
        self._notes = notes
        self._fields: list[_Field] = []
        self._boxes: list[Element] = []
        self._cited: list[tuple[int, str]] = []
        self._marks: dict[str, int] = {}
        self._bold: list[bool] = []

    def walk(self, parent: Element) -> None:
        """Add the blocks of the body, of a cell or of a text box."""
        for element in parent:
            kind = name(element)
            if kind == "p":
                self._paragraph(element)
            elif kind == "tbl":
                self._table(element)
            elif kind == "sdt":
                if _is_contents_gallery(element):
                    self.left_out.add("contents lists")
                elif (content := child(element, "sdtContent")) is not None:
                    self.walk(content)
            elif kind == "AlternateContent":
                if (chosen := _chosen(element)) is not None:
                    self.walk(chosen)
            elif kind in ("ins", "moveTo", "customXml", "smartTag"):
                self.walk(element)

    def _paragraph(self, paragraph: Element) -> None:
        style = self._styles.of(paragraph)
        label = self._lists.label(paragraph, style)
        self._bold = []
        text = "".join(self._inline(paragraph))
        block = Block(text, style=style.name, bold=bool(self._bold) and all(self._bold))
        if style.name.startswith("toc ") and not style.name.startswith("toc heading"):
            self.left_out.add("contents lists")
            block.text = ""
        block.level = outline_level(child(paragraph, "pPr"), style.outline_level)
        if label is not None:
            block.label, block.depth = label.text, label.level
        if text.strip():
            self.blocks.append(block)
        self._after(style)

    def _after(self, style: Style) -> None:
        """Add text boxes that are anchored in a paragraph, and notes that it cites."""
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self.walk(box)
        cited, self._cited = self._cited, []
        self.blocks.extend(Block(f"[{mark}] {text}", style=style.name) for mark, text in cited)

    def _inline(self, parent: Element) -> Iterator[str]:
        for element in parent:
            kind = name(element)
            if kind in ("fldChar", "instrText"):
                self._field(element, kind)
            elif kind in _THROUGH:
                if kind != "r" or self._is_shown(element):
                    yield from self._inline(element)
            elif kind == "sdt":
                content = child(element, "sdtContent")
                yield from self._inline(content) if content is not None else ()
            elif kind == "AlternateContent":
                chosen = _chosen(element)
                yield from self._inline(chosen) if chosen is not None else ()
            elif kind == "txbxContent":
                self._boxes.append(element)
            elif not any(not f.has_result or f.is_contents for f in self._fields):
                yield self._piece(element, kind)
            elif kind == "t" and any(f.is_contents for f in self._fields):
                self.left_out.add("contents lists")

    def _piece(self, element: Element, kind: str) -> str:
        if kind == "t":
            return element.text or ""
        if kind in _BLANKS:
            return "" if attribute(element, "type") in ("page", "column") else _BLANKS[kind]
        if kind == "noBreakHyphen":
            return "-"
        if kind == "sym":
            code = attribute(element, "char") or ""
            return chr(int(code, 16)) if _LETTER_CODE.fullmatch(code) else ""
        if kind in ("footnoteReference", "endnoteReference"):
            return self._cite(f"{kind[0]}{attribute(element, 'id')}")
        return ""

    def _cite(self, key: str) -> str:
        if not self._notes.get(key):
            return ""
        mark = self._marks.setdefault(key, len(self._marks) + 1)
        self._cited.append((mark, self._notes[key]))
        return f" [{mark}]"

    def _field(self, element: Element, kind: str) -> None:
        if kind == "instrText":
            if self._fields:
                self._fields[-1].instruction += element.text or ""
            return
        step = attribute(element, "fldCharType")
        if step == "begin":
            self._fields.append(_Field())
        elif step == "separate" and self._fields:
            self._fields[-1].has_result = True
        elif step == "end" and self._fields:
            self._fields.pop()

    def _is_shown(self, run: Element) -> bool:
        properties = child(run, "rPr")
        if _is_on(child(properties, "vanish")):
            self.left_out.add("hidden text")
            return False
        if any((part.text or "").strip() for part in run if name(part) == "t"):
            self._bold.append(_is_on(child(properties, "b")))
        return True

    def _table(self, table: Element) -> None:
        rows = [list(_cells(row)) for row in _rows(table)]
        if self._is_frame(table, rows):
            for cell, _ in (pair for row in rows for pair in row):
                self.walk(cell)
            return
        filled: list[list[str]] = []
        for row in rows:
            cells: list[str] = []
            for cell, span in row:
                cells += [self._cell(cell), *[""] * (span - 1)]
            if any(cells):
                filled.append(cells)
        marked = sum(child(row, "trPr", "tblHeader") is not None for row in _rows(table))
        self.blocks.append(
            Block(rows=filled, header_rows=max(0, min(marked or 1, len(filled) - 1)))
        )

    def _is_frame(self, table: Element, rows: list[list[tuple[Element, int]]]) -> bool:
        """Tell whether a table only places text on the page: one cell a row, or headings inside."""
        if all(sum(_has_text(cell) for cell, _ in row) <= 1 for row in rows):
            return True
        return any(
            self._styles.of(element).outline_level is not None
            for element in table.iterdescendants()
            if name(element) == "p" and _has_text(element)
        )

    def _cell(self, cell: Element) -> str:
        """Return all text of a cell on one line, tables inside it included."""
        outer, self.blocks = self.blocks, []
        self.walk(cell)
        parts: list[str] = []
        for block in self.blocks:
            lines = [" ".join([block.label or "", block.text])]
            lines += [", ".join(cell for cell in row if cell) for row in block.rows]
            parts += [" ".join(line.split()) for line in lines if line.strip()]
        self.blocks = outer
        return " ".join(parts)


def note_texts(root: Element, kind: str) -> dict[str, str]:
    """Return the text of footnotes or endnotes by the first letter of their kind and their id."""
    notes: dict[str, str] = {}
    for note in root:
        if attribute(note, "type") in (None, "normal"):
            walker = Walker(Styles(None), Lists(None), {})
            walker.walk(note)
            text = " ".join(" ".join(block.text.split()) for block in walker.blocks)
            notes[f"{kind[0]}{attribute(note, 'id')}"] = text.strip()
    return notes


def _rows(table: Element) -> Iterator[Element]:
    for element in table:
        kind = name(element)
        if kind == "tr":
            if child(element, "trPr", "del") is None:
                yield element
        elif kind in ("sdt", "sdtContent", "ins", "moveTo", "customXml"):
            yield from _rows(element)


def _cells(row: Element) -> Iterator[tuple[Element, int]]:
    """Yield the cells of a row with the number of columns that each of them covers."""
    for element in row:
        kind = name(element)
        if kind == "tc":
            span = attribute(child(element, "tcPr", "gridSpan"), "val") or "1"
            yield element, min(int(span), 63) if span.isdecimal() else 1
        elif kind in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _cells(element)


def _has_text(element: Element) -> bool:
    return any((part.text or "").strip() for part in element.iterdescendants() if name(part) == "t")


def _chosen(alternatives: Element) -> Element | None:
    choice = child(alternatives, "Choice")
    return choice if choice is not None else child(alternatives, "Fallback")


def _is_on(switch: Element | None) -> bool:
    return switch is not None and (attribute(switch, "val") or "1").lower() not in _OFF


def _is_contents_gallery(element: Element) -> bool:
    gallery = attribute(child(element, "sdtPr", "docPartObj", "docPartGallery"), "val")
    return gallery == "Table of Contents"
