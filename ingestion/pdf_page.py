"""What PDFium knows of one page: its lines with their places and type."""

import ctypes
import math
import re
from dataclasses import dataclass
from typing import Any, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graph.fold import fold
from ingestion.garbled import is_broken

JOINED_HYPHEN = "\ufffe"
"""What PDFium writes where it took a hyphen away at a line end and joined the two lines."""

_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy", re.IGNORECASE)
_LETTER = (0.0, 0.0, 612.0, 792.0)
_BLANKS = re.compile(r"\s+")
_WIDE = 0.9
"""Width of a gap that parts two cells, in heights of the type; justified text has narrower ones."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a line, with wide gaps on its sides."""

    text: str
    left: float
    right: float


@dataclass(slots=True)
class Line:
    """A line of a page.

    Coordinates are in points, to the right and down from the upper left corner as it is for
    whoever reads the line, however page and line are turned.
    """

    page: int
    """0-indexed."""
    text: str
    left: float
    right: float
    top: float
    """Baseline of its first character; two lines that PDFium joined at a hyphen are one."""
    bottom: float
    """Baseline of its last character."""
    size: float
    """Height of the font's box in points."""
    starts_bold: bool
    ends_bold: bool
    place: float
    """`top` as a share of the page's height, in [0, 1]."""
    hidden: bool = False
    """Whether it is in the mode that paints nothing (PDF 32000-1, table 106)."""
    cells: tuple[Cell, ...] = ()
    """What wide gaps part the line into; empty where there is none."""
    table: int | None = None
    """Number of the table that has the line as one of its rows."""


def read_lines(page: pdfium.PdfPage, number: int) -> tuple[list[Line], bool]:
    """Return the lines of a page that are not blank, in PDFium's reading order.

    The second value tells whether too many of the characters are broken.

    Args:
        page: An open page.
        number: Its index in the document, 0-indexed.
    """
    text_page = page.get_textpage()
    try:
        text = text_page.get_text_range()
        frame = _Frame(*(page.get_cropbox() or _LETTER))
        return _lines(text_page, text, frame, number), is_broken(text)
    finally:
        text_page.close()


@dataclass(frozen=True, slots=True)
class _Frame:
    """The visible part of a page, in points from an origin at its lower left."""

    left: float
    bottom: float
    right: float
    top: float

    def height(self, turns: int) -> float:
        """Height of the page for text in that direction."""
        return max(1.0, self.right - self.left if turns % 2 else self.top - self.bottom)

    def turned(self, x: float, y: float, turns: int) -> tuple[float, float]:
        """Return the place as (to the right, down) for text turned left by so many quarters."""
        if turns == 1:
            return y - self.bottom, x - self.left
        if turns == 2:
            return self.right - x, y - self.bottom
        if turns == 3:
            return self.top - y, self.right - x
        return x - self.left, self.top - y


@dataclass(frozen=True, slots=True)
class _Glyph:
    left: float
    right: float
    baseline: float
    size: float
    bold: bool
    turns: int


def _lines(text_page: pdfium.PdfTextPage, text: str, frame: _Frame, number: int) -> list[Line]:
    lines: list[Line] = []
    at = 0
    for match in [*_LINE_ENDS.finditer(text), None]:
        end = match.start() if match else len(text)
        raw = text[at:end]
        if folded := _fold_line(raw):
            span = (at + len(raw) - len(raw.lstrip()), at + len(raw.rstrip()))
            first = _glyph(text_page, frame, span[0])
            last = _glyph(text_page, frame, span[1] - 1)
            lines.append(
                Line(
                    page=number,
                    text=folded,
                    left=first.left,
                    right=last.right,
                    top=first.baseline,
                    bottom=last.baseline,
                    size=first.size,
                    starts_bold=first.bold,
                    ends_bold=last.bold,
                    place=min(1.0, max(0.0, first.baseline / frame.height(first.turns))),
                    hidden=_is_hidden(text_page, at + len(raw) - len(raw.lstrip())),
                    cells=_cells(text_page, text, span, frame, first),
                )
            )
        at = match.end() if match else end
    return lines


def _cells(
    text_page: pdfium.PdfTextPage, text: str, span: tuple[int, int], frame: _Frame, first: _Glyph
) -> tuple[Cell, ...]:
    """Return the parts of the line text[span[0]:span[1]]; empty where it has no wide gap."""
    if not _has_wide_gap(text_page, span, frame, first):
        return ()
    cells: list[Cell] = []
    start, left = span[0], first.left
    for blank in [*_BLANKS.finditer(text, *span), None]:
        end = blank.start() if blank else span[1]
        before = _glyph_box(text_page, frame, end - 1, first.turns)
        after = _glyph_box(text_page, frame, blank.end(), first.turns) if blank else None
        if after is None or after[0] - before[1] > _WIDE * first.size:
            cells.append(Cell(_fold_line(text[start:end]), left, before[1]))
            if blank and after:
                start, left = blank.end(), after[0]
    cells = [cell for cell in cells if cell.text]
    return tuple(cells) if len(cells) > 1 else ()


def _has_wide_gap(
    text_page: pdfium.PdfTextPage, span: tuple[int, int], frame: _Frame, first: _Glyph
) -> bool:
    """Tell by the rectangles that PDFium makes of a line, which are fewer than its characters."""
    raw = cast("Any", text_page.raw)
    index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(raw, span[0])
    before: float | None = None
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for i in range(pdfium_c.FPDFText_CountRects(raw, index, span[1] - span[0])):
        pdfium_c.FPDFText_GetRect(raw, i, left, top, right, bottom)
        start, _ = frame.turned(left.value, bottom.value, first.turns)
        end, _ = frame.turned(right.value, top.value, first.turns)
        start, end = min(start, end), max(start, end)
        if before is not None and start - before > _WIDE * first.size:
            return True
        before = end
    return False


def _fold_line(raw: str) -> str:
    # A soft hyphen that has a glyph is one that people see: some programs write all hyphens so.
    visible = raw.replace("\u00ad", "-")
    # PDFium's mark is kept here and resolved when the words of the whole document are known.
    return JOINED_HYPHEN.join(fold(part) for part in visible.split(JOINED_HYPHEN)).strip()


def _glyph(text_page: pdfium.PdfTextPage, frame: _Frame, text_index: int) -> _Glyph:
    raw = cast("Any", text_page.raw)
    index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(raw, text_index)
    turns = -round(pdfium_c.FPDFText_GetCharAngle(raw, index) / (math.pi / 2)) % 4  # clockwise
    left, right, high, low = _glyph_box(text_page, frame, text_index, turns)
    return _Glyph(
        left=left,
        right=right,
        baseline=low,
        size=low - high,
        bold=_is_bold(raw, index),
        turns=turns,
    )


def _glyph_box(
    text_page: pdfium.PdfTextPage, frame: _Frame, text_index: int, turns: int
) -> tuple[float, float, float, float]:
    """Return left and right edge, top and baseline."""
    raw = cast("Any", text_page.raw)
    index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(raw, text_index)
    box = pdfium_c.FS_RECTF()
    pdfium_c.FPDFText_GetLooseCharBox(raw, index, ctypes.byref(box))
    left, low = frame.turned(box.left, box.bottom, turns)
    right, high = frame.turned(box.right, box.top, turns)
    return min(left, right), max(left, right), min(low, high), max(low, high)


def _is_hidden(text_page: pdfium.PdfTextPage, text_index: int) -> bool:
    raw = cast("Any", text_page.raw)
    index = pdfium_c.FPDFText_GetCharIndexFromTextIndex(raw, text_index)
    text_object = pdfium_c.FPDFText_GetTextObject(raw, index)
    mode = pdfium_c.FPDFTextObj_GetTextRenderMode(text_object) if text_object else None
    return mode == pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE


def _is_bold(text_page: Any, index: int) -> bool:
    weight = pdfium_c.FPDFText_GetFontWeight(text_page, index)
    if weight > 0:
        return weight >= _BOLD_WEIGHT
    name = ctypes.create_string_buffer(128)  # many files give no weight but a telling name
    pdfium_c.FPDFText_GetFontInfo(text_page, index, name, len(name), ctypes.c_int())
    return _BOLD_NAME.search(name.value) is not None
