"""Reads again, with other engines, the pages of which PDFium gives no usable text.

The order is fixed: PDFium, then pypdf, then pdfplumber. An engine's answer is taken where it has
more readable characters than what is there. All runs in the reader's process and under its
limits; besides, a document may spend only so long here, and engines that do not help on the first
few pages are not asked further.
"""

import contextlib
import logging
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from graph.fold import fold
from ingestion.garbled import broken_characters, is_broken, is_garbled
from ingestion.pdf_page import Line

_MOST_TRIES = 4
"""Pages on which an engine may fail before it is given up."""
_MOST_SECONDS = 30.0
_LEADING, _SIZE, _CHARACTER = 14.0, 12.0, 5.5
"""Points, for lines whose places are not known."""

_PageText = Callable[[int], list[Line]]


@dataclass(frozen=True, slots=True)
class Reread:
    """A page as another engine reads it."""

    lines: list[Line]
    engine: str


def reread(
    data: bytes, pages: Iterable[int], known: Callable[[int], Sequence[Line]]
) -> dict[int, Reread]:
    """Read pages with the other engines; the answer has only pages that became better.

    Args:
        data: The file.
        pages: 0-indexed.
        known: Gives the lines of a page as they are so far.
    """
    end = time.monotonic() + _MOST_SECONDS
    better: dict[int, Reread] = {}
    missing = list(pages)
    for name, opened in (("pypdf", _pypdf), ("pdfplumber", _pdfplumber)):
        if not missing:
            break
        failures = 0
        with _quiet(), contextlib.ExitStack() as stack:
            try:
                engine, read = stack.enter_context(opened(data))
            except Exception:  # noqa: BLE001 - whatever it is, the next engine is asked
                continue
            for index in list(missing):
                if failures >= _MOST_TRIES or time.monotonic() > end:
                    break
                lines = _tried(read, index)
                if _worth(lines) > _worth(known(index)):
                    better[index] = Reread(lines, f"{name} {engine}")
                    missing.remove(index)
                    failures = 0
                else:
                    failures += 1
    return better


def read_whole(data: bytes) -> tuple[list[list[Line]], str] | None:
    """Read a file that PDFium cannot open: the pages and the engine; None if nobody can."""
    for name, opened in (("pypdf", _pypdf), ("pdfplumber", _pdfplumber)):
        with _quiet():
            try:
                with opened(data) as (engine, read):
                    pages = list(_all_pages(read))
            except Exception:  # noqa: BLE001 - the caller refuses the file with PDFium's reason
                continue
        if any(pages):
            return pages, f"{name} {engine}"
    return None


def _all_pages(read: _PageText) -> Iterator[list[Line]]:
    index = 0
    while True:
        try:
            yield read(index)
        except IndexError:
            return
        index += 1


def _tried(read: _PageText, index: int) -> list[Line]:
    try:
        return read(index)
    except Exception:  # noqa: BLE001 - a page that this engine cannot read, either
        return []


def _worth(lines: Sequence[Line]) -> int:
    """Count readable characters, minus those that are not."""
    text = "\n".join(line.text for line in lines)
    if is_garbled(line.text for line in lines):
        return 0
    return sum(map(str.isalnum, text)) - 20 * broken_characters(text)


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """Keep what these libraries say about every odd file from the log."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def _pypdf(data: bytes) -> Generator[tuple[str, _PageText]]:
    import pypdf

    reader = pypdf.PdfReader(BytesIO(data), strict=False)
    if reader.is_encrypted:
        reader.decrypt("")

    def read(index: int) -> list[Line]:
        text = reader.pages[index].extract_text()
        if is_broken(text):
            return []
        rows = [fold(row).strip() for row in text.split("\n")]
        return [_placed(row, index, i) for i, row in enumerate(filter(None, rows))]

    yield pypdf.__version__, read


def _placed(text: str, page: int, row: int) -> Line:
    """Make a line of a text whose place on the page is not told."""
    top = 72 + row * _LEADING
    return Line(
        page=page,
        text=text,
        left=72.0,
        right=72.0 + len(text) * _CHARACTER,
        top=top,
        bottom=top,
        size=_SIZE,
        starts_bold=False,
        ends_bold=False,
        place=0.5,
    )


@contextlib.contextmanager
def _pdfplumber(data: bytes) -> Generator[tuple[str, _PageText]]:
    import pdfplumber

    with pdfplumber.open(BytesIO(data), password="") as document:

        def read(index: int) -> list[Line]:
            page = document.pages[index]
            rows = page.extract_text_lines(return_chars=True)
            height = float(page.height) or 1.0
            page.close()  # at once, or memory grows with the number of pages
            if is_broken("\n".join(row["text"] for row in rows)):
                return []
            return [line for row in rows if (line := _plumbed(row, index, height)).text]

        yield pdfplumber.__version__, read


def _plumbed(row: dict[str, Any], page: int, height: float) -> Line:
    first, last = row["chars"][0], row["chars"][-1]
    return Line(
        page=page,
        text=fold(row["text"]).strip(),
        left=float(row["x0"]),
        right=float(row["x1"]),
        top=float(row["bottom"]),
        bottom=float(row["bottom"]),
        size=float(first["size"]),
        starts_bold="bold" in str(first["fontname"]).lower(),
        ends_bold="bold" in str(last["fontname"]).lower(),
        place=min(1.0, max(0.0, float(row["bottom"]) / height)),
    )
