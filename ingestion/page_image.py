"""Draws one page of a PDF as a picture on which a passage is marked.

`ingestion.read.Reader.draw` does it in a process of its own, with limits on time and memory.
"""

import hashlib
import io
import math
from dataclasses import dataclass
from typing import Any, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c
from PIL import Image, ImageChops

from graph.errors import UnreadableFile
from ingestion.page_match import find_passage
from ingestion.parsed import ReadLimits

WIDTH = 1200
"""Pixels."""
_MOST_PIXELS = 6_000_000
"""A page that is very long for its width is drawn smaller."""
_COLOR = (255, 230, 120)
_PADDING = 2
"""Pixels around each marked line."""

Box = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels, from the upper left corner."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Which page to draw."""

    path: str
    sha256: str
    """Digest that the file must have."""
    page: int
    """1-indexed."""
    passage: str
    limits: ReadLimits


@dataclass(frozen=True, slots=True)
class PageImage:
    """A drawn page."""

    png: bytes
    width: int
    """Pixels."""
    height: int
    marks: tuple[Box, ...]
    """Where the passage is, line by line; empty where it was not found."""


def draw_page(data: bytes, request: PageRequest) -> PageImage:
    """Draw a page of a file.

    Args:
        data: The file's bytes.
        request: Which page, and what to mark.

    Raises:
        UnreadableFile: "changed" (other bytes than asked for), "no_page", or "broken".
    """
    if hashlib.sha256(data).hexdigest() != request.sha256:
        raise UnreadableFile("changed", "the file has changed since it was ingested")
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise UnreadableFile("broken", f"PDFium cannot open it ({error})") from error
    try:
        document.init_forms()  # else what was filled in is not drawn
        if not 1 <= request.page <= len(document):
            raise UnreadableFile("no_page", f"it has pages 1 to {len(document)}")
        return _draw(document[request.page - 1], request.passage)
    except pdfium.PdfiumError as error:
        raise UnreadableFile("broken", f"PDFium cannot draw it ({error})") from error
    finally:
        document.close()


def scale_of(width: float, height: float) -> float:
    """Return pixels per point for a page of that size in points.

    Raises:
        UnreadableFile: "broken", for a page without a size.
    """
    if not (math.isfinite(width) and math.isfinite(height) and width > 0 and height > 0):
        raise UnreadableFile("broken", "the page has no size")
    return min(WIDTH / width, math.sqrt(_MOST_PIXELS / (width * height)))


def _draw(page: pdfium.PdfPage, passage: str) -> PageImage:
    width, height = page.get_size()
    render = cast("Any", page.render)  # takes any number, while its type says int
    bitmap = cast("pdfium.PdfBitmap", render(scale=scale_of(width, height)))
    picture = bitmap.to_pil().convert("RGB")
    marks = _lines(_boxes(page, bitmap, passage))
    whole = (0, 0, picture.width, picture.height)
    shown = [box for box in map(_padded, marks) if _overlaps(box, whole)]
    for box in shown:
        part = picture.crop(box)
        picture.paste(ImageChops.multiply(part, Image.new("RGB", part.size, _COLOR)), box)
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=6)
    return PageImage(out.getvalue(), picture.width, picture.height, tuple(shown))


def _boxes(page: pdfium.PdfPage, bitmap: pdfium.PdfBitmap, passage: str) -> list[Box]:
    """Return the boxes of the passage's characters, in reading order."""
    text_page = page.get_textpage()
    place = bitmap.get_posconv(page)
    try:
        codes = [
            pdfium_c.FPDFText_GetUnicode(text_page, at) for at in range(text_page.count_chars())
        ]
        text = "".join(chr(code) if code < 0x110000 else " " for code in codes)
        boxes: list[Box] = []
        for start, end in find_passage(text, passage):
            for at in range(start, end):
                if text[at].isspace() or text[at] == "\ufffe":
                    continue
                box = cast("tuple[float, ...]", text_page.get_charbox(at, loose=True))
                left, bottom, right, top = box
                corners = (place.to_bitmap(left, top), place.to_bitmap(right, bottom))
                xs, ys = zip(*corners, strict=True)
                boxes.append((min(xs), min(ys), max(xs), max(ys)))
        return boxes
    finally:
        text_page.close()


def _lines(boxes: list[Box]) -> list[Box]:
    """Join the boxes of neighbours on a line."""
    lines: list[Box] = []
    for box in boxes:
        if lines and _on_line(lines[-1], box):
            a = lines[-1]
            lines[-1] = (min(a[0], box[0]), min(a[1], box[1]), max(a[2], box[2]), max(a[3], box[3]))
        else:
            lines.append(box)
    return lines


def _on_line(line: Box, box: Box) -> bool:
    common = min(line[3], box[3]) - max(line[1], box[1])
    lower = min(line[3] - line[1], box[3] - box[1])
    gap = max(box[0] - line[2], line[0] - box[2])
    return common > lower / 2 and gap <= 3 * max(1, line[3] - line[1])


def _padded(box: Box) -> Box:
    return (box[0] - _PADDING, box[1], box[2] + _PADDING, box[3])


def _overlaps(box: Box, whole: Box) -> bool:
    return box[0] < whole[2] and box[2] > 0 and box[1] < whole[3] and box[3] > 0
