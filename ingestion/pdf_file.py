"""What PDFium gives of a whole file: the lines of its pages, its bookmarks and properties."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from graph.errors import UnreadableFile
from graph.fold import fold
from ingestion.bookmarks import Bookmark, read_bookmarks
from ingestion.pdf_fallback import read_whole
from ingestion.pdf_page import Line, read_lines

ENGINE = f"pypdfium2 {pdfium.PYPDFIUM_INFO.version}"

_PICTURE_FILTER = b"/JBIG2Decode"
_LEAST_COVERED, _LEAST_COVERED_ALONE = 0.3, 0.1
"""Share of a page that a picture must cover to be taken for a scan: beside some text, and alone."""
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
    broken: frozenset[int]
    """Indexes of pages with too many broken characters, or with type but no characters."""
    scans: frozenset[int]
    """Indexes of pages whose pictures cover so much that they may show the text."""
    hidden: frozenset[int]
    """Indexes of pages on which text that is not painted was left out."""
    engines: Mapping[int, str]
    """What read the pages that PDFium could not, with its version."""
    bookmarks: list[Bookmark]
    properties: dict[str, str]
    """Such as "title" and "creationdate"."""
    packed: bool = False
    """Whether content is packed as a picture, which may unfold to gigabytes. PDFium leaves it
    alone; other engines must not be given such a file."""
    labels: tuple[str, ...] = ()
    """What the file says is printed on each page as its number; empty where it does not."""


def read_pdf(data: bytes) -> PdfFile:
    """Read everything that is needed, and close the file.

    A file that PDFium cannot open is given to the other engines, unless they may unfold what it
    packs without end.

    Raises:
        UnreadableFile: "encrypted", "broken" or "empty" (no pages).
    """
    packed = _packs_content(data)
    try:
        document = _open(data)
    except UnreadableFile as error:
        whole = read_whole(data) if error.status == "broken" and not packed else None
        if whole is None:
            raise
        pages, engine = whole
        none = frozenset[int]()
        return PdfFile(
            pages, none, (), none, none, none, dict.fromkeys(range(len(pages)), engine), [], {}
        )
    try:
        return replace(_read(document), packed=packed)
    finally:
        document.close()


def _read(document: pdfium.PdfDocument) -> PdfFile:
    pages: list[list[Line]] = []
    pictures: set[int] = set()
    scans: set[int] = set()
    damaged: list[int] = []
    broken: set[int] = set()
    hidden: set[int] = set()
    for index in range(len(document)):
        try:
            page = document[index]
        except pdfium.PdfiumError:
            damaged.append(index)
            pages.append([])
            continue
        lines, is_broken = read_lines(page, index)
        if any(line.hidden for line in lines) and _covered(page) < _LEAST_COVERED:
            hidden.add(index)  # else it is what OCR found in the picture above it
            lines = [line for line in lines if not line.hidden]
        if is_broken or (not lines and index not in hidden and _shows_text(page)):
            broken.add(index)
        if _is_sparse(lines) and _has_objects(page, pdfium_c.FPDF_PAGEOBJ_IMAGE):
            pictures.add(index)
            if _covered(page) >= (_LEAST_COVERED if lines else _LEAST_COVERED_ALONE):
                scans.add(index)
        page.close()  # at once, or memory grows with the number of pages
        pages.append(lines)
    return PdfFile(
        pages=pages,
        pictures=frozenset(pictures),
        damaged=tuple(damaged),
        broken=frozenset(broken),
        scans=frozenset(scans),
        hidden=frozenset(hidden),
        engines={},
        bookmarks=read_bookmarks(document),
        properties=_properties(document),
        labels=tuple(fold(document.get_page_label(i)).strip() for i in range(len(document))),
    )


def _packs_content(data: bytes) -> bool:
    """Tell whether what is no picture is packed as one."""
    at = data.find(_PICTURE_FILTER)
    while at >= 0:
        head = data[max(0, data.rfind(b"obj", 0, at)) : data.find(b"stream", at)]
        if b"/W" not in head:  # each picture states its width
            return True
        at = data.find(_PICTURE_FILTER, at + 1)
    return False


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


def _has_objects(page: pdfium.PdfPage, kind: int) -> bool:
    found = cast("Iterator[object]", page.get_objects(filter=[kind]))
    return next(found, None) is not None


def _shows_text(page: pdfium.PdfPage) -> bool:
    """Tell whether the page has type on it; spaces, which many pages end with, have no height."""
    texts = cast(
        "Iterator[pdfium.PdfObject]", page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_TEXT])
    )
    boxes = (text.get_bounds() for text in texts)
    return any(right - left > 1 and top - bottom > 1 for left, bottom, right, top in boxes)


def _covered(page: pdfium.PdfPage) -> float:
    """Return the share of the page that its largest picture covers."""
    width, height = page.get_size()
    pictures = cast(
        "Iterator[pdfium.PdfObject]", page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE])
    )
    areas = [
        abs((right - left) * (top - bottom))
        for left, bottom, right, top in (picture.get_bounds() for picture in pictures)
    ]
    return max(areas, default=0.0) / max(1.0, width * height)


def _properties(document: pdfium.PdfDocument) -> dict[str, str]:
    raw = document.get_metadata_dict(skip_empty=True)
    return {key.lower(): value for key, text in raw.items() if (value := fold(text).strip())}
