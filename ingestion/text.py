"""Reads plain text: its encoding, its form feeds as pages, its numbered headings."""

import re

from graph.fold import fold
from ingestion.decode import decode
from ingestion.headings import find_headings
from ingestion.media import TEXT
from ingestion.parsed import ParsedDocument

_TRAILING_BLANKS = re.compile(r"[ \t]+$", re.MULTILINE)


def parse_text(data: bytes) -> ParsedDocument:
    """Read plain text; a file with form feeds has pages, one without has none."""
    decoded = decode(data)
    pages = [_TRAILING_BLANKS.sub("", fold(page)) for page in decoded.text.split("\f")]
    if not pages[-1].strip():
        pages.pop()  # what ends with a form feed has no page behind it
    text, starts = "", list[int]()
    for page in pages:
        starts.append(len(text))
        text += page if page.endswith("\n") else page + "\n"
    text = text.rstrip()
    has_pages = len(pages) > 1
    return ParsedDocument(
        text=text,
        page_starts=tuple(starts) if has_pages else (),
        headings=find_headings(text),
        title=None,
        metadata={},
        media_type=TEXT,
        engine=f"text ({decoded.encoding})",
        pages_without_text=tuple(
            number for number, page in enumerate(pages, 1) if has_pages and not page.strip()
        ),
        warnings=decoded.warnings,
    )
