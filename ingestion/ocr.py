"""Recognises the text of scanned pages with tesseract, where that command is installed.

Pages are rendered by PDFium and sent to tesseract as grey images, one at a time. A page that is
too large to be rendered, or holds a picture of absurd size, is left alone: 123 KB can unfold to
gigabytes of pixels.
"""

import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graph.fold import fold
from ingestion.pdf_page import Line

_DOTS_PER_INCH = 200
_MOST_PIXELS = 30_000_000
"""Of a rendered page: a sheet of A3 at 300 dots an inch has 17 million."""
_MOST_SOURCE_PIXELS = 200_000_000
"""Of a picture on the page."""
_PAGE_SECONDS = 60.0
_LEAST_SECONDS = 1.0
"""Below which no further page is begun."""
_LEAST_CONFIDENCE = 30.0
"""Of a word, in percent; what is below is noise such as stamps and dirt."""
_FEWEST_WORDS_KEPT = 0.3
"""Share of words above that confidence that makes a page's text usable."""


def tesseract() -> str | None:
    """Return the path of the tesseract command; None if it is not installed."""
    return shutil.which("tesseract")


def tesseract_version(command: str) -> str:
    """Return such as "tesseract 5.3.0"."""
    done = subprocess.run([command, "--version"], capture_output=True, check=False, timeout=20)
    return " ".join((done.stdout or done.stderr).decode(errors="replace").split()[:2])


@dataclass(frozen=True, slots=True)
class Recognised:
    """What tesseract found."""

    lines: dict[int, list[Line]]
    """By 0-indexed page; pages without text, or left alone, are missing."""
    untried: frozenset[int]
    """Pages for which there was no time."""


def recognise(data: bytes, pages: Sequence[int], command: str, seconds: float) -> Recognised:
    """Recognise the text of pages.

    Args:
        data: A PDF that PDFium can open.
        pages: 0-indexed.
        command: Path of tesseract.
        seconds: Time for all of them; pages that come later are left alone.
    """
    end = time.monotonic() + seconds
    found: dict[int, list[Line]] = {}
    document = pdfium.PdfDocument(data)
    try:
        for place, index in enumerate(pages):
            left = end - time.monotonic()
            if left <= _LEAST_SECONDS:
                return Recognised(found, frozenset(pages[place:]))
            image = _rendered(document, index)
            lines = _recognised(image, index, command, min(left, _PAGE_SECONDS)) if image else []
            if lines is None and left < _PAGE_SECONDS:
                return Recognised(found, frozenset(pages[place:]))
            if lines:
                found[index] = lines
    finally:
        document.close()
    return Recognised(found, frozenset())


def _rendered(document: pdfium.PdfDocument, index: int) -> bytes | None:
    """Return a page as a portable grey map; None if it is too large."""
    try:
        page = document[index]
    except pdfium.PdfiumError:
        return None
    try:
        scale = _DOTS_PER_INCH / 72
        width, height = page.get_size()
        if width * height * scale**2 > _MOST_PIXELS or _has_huge_picture(page):
            return None
        bitmap = cast("Any", page).render(scale=scale, grayscale=True)
        try:
            pixels = bitmap.to_numpy()
            rows, columns = pixels.shape[:2]
            return b"P5 %d %d 255\n" % (columns, rows) + pixels.tobytes()
        finally:
            bitmap.close()
    finally:
        page.close()


def _has_huge_picture(page: pdfium.PdfPage) -> bool:
    pictures = cast(
        "Iterator[pdfium.PdfImage]", page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE])
    )
    sizes = (picture.get_px_size() for picture in pictures)
    return any(width * height > _MOST_SOURCE_PIXELS for width, height in sizes)


def _recognised(image: bytes, page: int, command: str, seconds: float) -> list[Line] | None:
    """Return the lines on a picture; None if the time was up before."""
    # Orientation and script are detected (--psm 1), so that pages that lie on their side are read.
    arguments = [command, "-", "-", "--psm", "1", "--dpi", str(_DOTS_PER_INCH), "tsv"]
    if wrapper := shutil.which("env"):
        # Its threads wait for each other actively: with one file a core they only get in the way.
        arguments = [wrapper, "OMP_THREAD_LIMIT=1", *arguments]
    try:
        done = subprocess.run(
            arguments, input=image, capture_output=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return None
    return _lines(done.stdout.decode("utf-8", errors="replace"), page)


def _lines(table: str, page: int) -> list[Line]:
    """Make lines of tesseract's table of words."""
    words: defaultdict[tuple[int, int, int], list[list[str]]] = defaultdict(list)
    height, kept, dropped = 1.0, 0, 0
    for row in (line.split("\t", 11) for line in table.splitlines()[1:]):
        if len(row) == 12 and row[0] == "1":
            height = max(1.0, float(row[9]))
        if len(row) < 12 or row[0] != "5" or not row[11].strip():
            continue
        if float(row[10]) < _LEAST_CONFIDENCE:
            dropped += 1
            continue
        kept += 1
        words[int(row[2]), int(row[3]), int(row[4])].append(row)
    if not kept or kept < (kept + dropped) * _FEWEST_WORDS_KEPT:
        return []
    return [_line(row, page, height) for row in words.values()]


def _line(words: list[list[str]], page: int, height: float) -> Line:
    points = 72 / _DOTS_PER_INCH
    lefts, tops = [float(w[6]) for w in words], [float(w[7]) for w in words]
    rights = [float(w[6]) + float(w[8]) for w in words]
    bottoms = [float(w[7]) + float(w[9]) for w in words]
    return Line(
        page=page,
        text=fold(" ".join(w[11] for w in words)).strip(),
        left=min(lefts) * points,
        right=max(rights) * points,
        top=max(bottoms) * points,
        bottom=max(bottoms) * points,
        # The height of letters differs from line to line; all are taken for one type.
        size=12.0
        if max(bottoms) - min(tops) < 24 / points
        else (max(bottoms) - min(tops)) * points,
        starts_bold=False,
        ends_bold=False,
        place=min(1.0, max(bottoms) / height),
    )
