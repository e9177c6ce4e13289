"""Gets text for the pages on which PDFium found none that can be used.

Other engines are asked first, then the picture of the page is recognised, where tesseract is
installed. What became of each page is told by `PdfFile.engines` and by `unread`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.garbled import is_garbled
from ingestion.ocr import recognise, tesseract, tesseract_version
from ingestion.pdf_fallback import reread
from ingestion.pdf_file import PdfFile
from ingestion.pdf_page import Line

_MOST_GARBLED = 0.6
"""Share of garbled pages above which those too short to tell are so, too."""
_MORE_LETTERS = 3
"""How many times more letters OCR must find than the page has as text, such as a stamp."""
_AS_MANY = 0.8
"""The same for a page with broken characters."""
_SHARE_OF_TIME = 0.7
"""Of the time for the whole file, what OCR may take."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """The file with what could be got."""

    file: PdfFile
    garbled: frozenset[int]
    """Indexes of pages whose characters still stand for others than they are."""
    tried: bool
    """Whether OCR was tried on what is missing."""
    untried: frozenset[int] = frozenset()
    """Indexes of pages for which OCR had no time left."""


def rescue(file: PdfFile, data: bytes, seconds: float) -> Rescued:
    """Ask other engines and OCR about pages without usable text.

    Args:
        file: As PDFium read it.
        data: The same file's bytes.
        seconds: Time for the whole file.
    """
    garbled = _garbled_pages(file)
    suspects = sorted(file.broken | set(file.damaged) | garbled)
    if suspects and not file.packed:
        better = reread(data, suspects, file.pages.__getitem__)
        file = _with_pages(file, {i: (page.lines, page.engine) for i, page in better.items()})
        garbled = _garbled_pages(file)
    missing = sorted((file.scans | file.broken | garbled) - file.engines.keys())
    command = tesseract() if missing else None
    if command is None:
        return Rescued(file, frozenset(garbled), tried=False)
    found = recognise(data, missing, command, seconds * _SHARE_OF_TIME)
    engine = tesseract_version(command)
    kept = {
        i: (lines, engine)
        for i, lines in found.lines.items()
        if i in garbled or _letters(lines) >= _letters(file.pages[i]) * _wanted(file, i)
    }
    file = _with_pages(file, kept)
    return Rescued(file, frozenset(garbled - kept.keys()), tried=True, untried=found.untried)


def _wanted(file: PdfFile, index: int) -> float:
    return _AS_MANY if index in file.broken else _MORE_LETTERS


def _garbled_pages(file: PdfFile) -> set[int]:
    """Return the indexes of pages without readable text; where they are many, of all pages."""
    garbled = {i for i, page in enumerate(file.pages) if is_garbled(line.text for line in page)}
    if len(garbled) > len(file.pages) * _MOST_GARBLED:
        return set(range(len(file.pages)))
    return garbled


def _with_pages(file: PdfFile, found: dict[int, tuple[list[Line], str]]) -> PdfFile:
    if not found:
        return file
    pages = [found[i][0] if i in found else page for i, page in enumerate(file.pages)]
    return replace(
        file,
        pages=pages,
        damaged=tuple(i for i in file.damaged if i not in found),
        broken=file.broken - found.keys(),
        engines={**file.engines, **{i: engine for i, (_, engine) in found.items()}},
    )


def _letters(lines: Sequence[Line]) -> int:
    return sum(sum(map(str.isalnum, line.text)) for line in lines)
