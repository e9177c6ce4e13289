"""What PDFium gives of a whole file: the lines of its pages, its bookmarks and properties."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graph.errors import UnreadableFile
from graph.fold import fold
from ingestion.bookmarks import Bookmark, read_bookmarks
from ingestion.pdf_page import Line, read_lines

ENGINE = f"pypdfium2 {pdfium.PYPDFIUM_INFO.version}"

_FULL_PAGE = 200
"""Characters above which nobody asks whether a page is a picture."""


@dataclass(frozen=True, slots=True)
class PdfFile:
    """The file as it is; nothing is left out or joined."""

    pages: list[list[Line]]
    pictures: frozenset[int]
    """Indexes of pages with hardly any text, or none, that hold pictures."""
    damaged: tuple[int, ...]
    """Indexes of pages that cannot be loaded."""
    bookmarks: list[Bookmark]
    properties: dict[str, str]
    """Such as "title" and "creationdate"."""


def read_pdf(data: bytes) -> PdfFile:
    """Read everything that is needed, and close the file.

    Raises:
        UnreadableFile: "encrypted", "broken" or "empty" (no pages).
    """
    document = _open(data)
    try:
        pages: list[list[Line]] = []
        pictures: set[int] = set()
        damaged: list[int] = []
        for index in range(len(document)):
            try:
                page = document[index]
            except pdfium.PdfiumError:
                damaged.append(index)
                pages.append([])
                continue
            lines = read_lines(page, index)
            if _is_sparse(lines) and _has_pictures(page):
                pictures.add(index)
            page.close()  # at once, or memory grows with the number of pages
            pages.append(lines)
        bookmarks, properties = read_bookmarks(document), _properties(document)
        return PdfFile(pages, frozenset(pictures), tuple(damaged), bookmarks, properties)
    finally:
        document.close()


_REFUSALS = {
    pdfium_c.FPDF_ERR_PASSWORD: ("encrypted", "the PDF needs a password; save a copy without one"),
    pdfium_c.FPDF_ERR_SECURITY: ("encrypted", "its encryption is unknown; save a copy without it"),
    pdfium_c.FPDF_ERR_FILE: ("empty", "the PDF has no pages; fetch the file again"),
}


def _open(data: bytes) -> pdfium.PdfDocument:
    # PDFium sets no error for a file without pages, so the last one would be taken for its.
    pdfium_c.FPDF_LoadDocument(b"", None)  # leaves FPDF_ERR_FILE, which reading bytes never gives
    try:
        return pdfium.PdfDocument(data)  # with the empty password
    except pdfium.PdfiumError as error:
        broken = f"PDFium cannot open it ({error}); fetch the file again or repair it"
        status, problem = _REFUSALS.get(cast("int", error.err_code), ("broken", broken))
        raise UnreadableFile(status, problem) from error


def _is_sparse(lines: Sequence[Line]) -> bool:
    return sum(len(line.text) for line in lines) < _FULL_PAGE


def _has_pictures(page: pdfium.PdfPage) -> bool:
    pictures = cast("Iterator[object]", page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE]))
    return next(pictures, None) is not None


def _properties(document: pdfium.PdfDocument) -> dict[str, str]:
    raw = document.get_metadata_dict(skip_empty=True)
    return {key.lower(): value for key, text in raw.items() if (value := fold(text).strip())}
