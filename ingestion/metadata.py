"""Title, edition, date and year of a document, each with where it was found.

All that the sources say is gathered, and of each field the most trusted source counts, by the table
in `ingestion.trust`: front matter or HTML meta elements, which people write for this purpose; dates
with a label on the first pages ("Publication Date: May 6, 2022"); the file's name; what else stands
on the first pages; the PDF properties, which often are left over from another file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from ingestion.dates import FoundDate, find_dates, find_years
from ingestion.media import MARKDOWN, PDF
from ingestion.parsed import ParsedDocument
from ingestion.trust import (
    FILE_NAME,
    FIRST_PAGE,
    FRONT_MATTER,
    LABELLED,
    MARKUP,
    NAME_FISCAL,
    NAME_SHORT,
    PROPERTIES,
    Field,
    Found,
    most_trusted,
)

METADATA_VERSION = "1"
"""Part of a document's fingerprint; to be raised when the same file gives other metadata."""

_DATE_KEYS = (
    "date", "pubdate", "published", "publication_date", "effective_date", "dc.date",
    "dcterms.issued", "dcterms.date", "article:published_time", "date.issued",
)  # fmt: skip
_EDITION_KEYS = ("version", "edition", "revision")
_FRONT_PAGES = 3
_FRONT_CHARACTERS = 1500
"""Of each page."""
_FULL_PAGE, _PAGE_HEAD = 1000, 500
_LONGEST_DATE_LINE = 80
"""Characters; dates in longer lines belong to sentences and may be of anything."""
_GOOD_LABEL = re.compile(
    r"\b(?:publication|publish\w*|effective|issued?|release\w*|approv\w+|adopted|dated)\b",
    re.IGNORECASE,
)
_BAD_LABEL = re.compile(
    r"\b(?:archived?|reviewed|printed|accessed|expir\w+|signed|superseded|retrieved|until)\b",
    re.IGNORECASE,
)
_VERSION_TEXT = (
    r"\b(?:version|release|v)[ _.]?v?(?P<number>\d{1,3}(?:\.\d{1,3})+|\d{1,2}(?![\d/]))"
    r"(?:[ _-]?(?P<suffix>rev(?:ision)?\.?[ _-]?[A-Z\d])\b)?"
    r"|\b(?P<words>rev(?:ision)?\.? ?\d{1,2}|\d{1,2}(?:st|nd|rd|th) (?:edition|revision))\b"
)
_VERSION = re.compile(_VERSION_TEXT, re.IGNORECASE)
_VERSION_LINE = re.compile(rf"\W*(?:draft\W+)?(?:{_VERSION_TEXT})", re.IGNORECASE)
_NAME_VERSION = re.compile(
    r"(?:^|[-_ .])(?:v|ver|version)[-_. ]?(\d{1,2}(?:[._-]\d{1,3})*)(?!\d)", re.I
)
_TITLE_LABEL = re.compile(r"^Title:[ \t]*([^\n]*(?:\n(?![A-Z][\w/ ]{2,30}:)[^\n]+)*)", re.MULTILINE)
_TAG = re.compile(r"<[^<>]*>")
_WORTHLESS_TITLE = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel)\b.*|untitled.*|document\d*|title|slide \d+|"
    r"powerpoint presentation|print|\S*|.*\.(?:docx?|pdf|pptx?|xlsx?|indd|rtf|txt))$",
    re.IGNORECASE | re.DOTALL,
)
_SHORTEST_TITLE, _LONGEST_TITLE = 12, 200
_SCOPE = re.compile(r"\w[\w .&/-]{0,39}")
_NAME_KINDS = {"": FILE_NAME, "fiscal": NAME_FISCAL, "short": NAME_SHORT}


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """What is known about a document beside its text."""

    title: str
    edition: str | None
    """Such as "2.7", "1.4.2 Rev. C" or "3rd edition"."""
    date: str | None
    """ISO 8601; without a day or month where none is given."""
    year: int | None
    sources: Mapping[Field, str]
    """Where each field was found, a source of `ingestion.trust`."""
    other_years: tuple[int, ...] = ()
    """Further years that the name gives, in its order."""
    series: str | None = None
    """As front matter states it."""
    scope: str | None = None
    """As front matter states it."""


def find_metadata(parsed: ParsedDocument, name: str, latest_year: int) -> DocumentMetadata:
    """Find a document's metadata.

    Args:
        parsed: The document as read.
        name: The file's name, with or without folders.
        latest_year: The last year that a document can be of: next year.
    """
    stem = PurePath(name).stem
    dates = list(_dates(parsed, stem, latest_year))
    year = most_trusted("year", (Found(year, source) for year, _, source in dates))
    same_year = (Found(day, s) for other, day, s in dates if day and year and other == year.value)
    found: dict[Field, Found[str] | Found[int] | None] = {
        "title": most_trusted("title", _titles(parsed, stem)),
        "edition": most_trusted("edition", _editions(parsed, stem)),
        "date": most_trusted("date", same_year),
        "year": year,
        "series": _stated_series(parsed),
        "scope": _stated_scope(parsed),
    }
    values: dict[str, Any] = {field: one.value if one else None for field, one in found.items()}
    return DocumentMetadata(
        **values,
        sources={field: one.source for field, one in found.items() if one},
        other_years=tuple(
            y for y, _ in find_years(stem, latest_year) if year is None or y != year.value
        ),
    )


def _stated_series(parsed: ParsedDocument) -> Found[str] | None:
    """Return the series of front matter that tells an edition, too.

    Site generators call a sequence of articles a series; those have no edition, and none of them
    replaces another.
    """
    if any(parsed.metadata.get(key) for key in _EDITION_KEYS):
        series = parsed.metadata.get("series", "").strip()
        return Found(series, FRONT_MATTER) if 0 < len(series) <= _LONGEST_TITLE else None
    return None


def _stated_scope(parsed: ParsedDocument) -> Found[str] | None:
    scope = parsed.metadata.get("scope", "").strip()
    return Found(scope, FRONT_MATTER) if _SCOPE.fullmatch(scope) else None


def _dates(
    parsed: ParsedDocument, stem: str, latest_year: int
) -> Iterator[tuple[int, str | None, str]]:
    """Yield year, date and source."""
    for key in _DATE_KEYS:
        for found in find_dates(parsed.metadata.get(key, ""), latest_year):
            yield found.year, found.iso, FRONT_MATTER
    pages = _front(parsed)
    first_page = [found for found, labelled in _dates_in(pages[0], latest_year) if labelled]
    yield from ((found.year, found.iso, LABELLED) for found in first_page)
    for found in find_dates(stem, latest_year):
        yield found.year, found.iso, FILE_NAME
    for year, kind in find_years(stem, latest_year):
        yield year, None, _NAME_KINDS[kind]
    for page in map(_title_part, pages):
        for found, _ in sorted(_dates_in(page, latest_year), key=lambda pair: not pair[1]):
            yield found.year, found.iso, FIRST_PAGE
    for key in ("creationdate", "moddate"):
        for found in find_dates(parsed.metadata.get(key, "")[2:10], latest_year):
            yield found.year, None, PROPERTIES


def _title_part(page: str) -> str:
    """Return a title page as it is, and only the head of a page that is full of text."""
    return page if len(page) < _FULL_PAGE else page[:_PAGE_HEAD]


def _dates_in(page: str, latest_year: int) -> list[tuple[FoundDate, bool]]:
    """Return the dates that stand on short lines, and whether a label says what they are."""
    return [
        (found, _GOOD_LABEL.search(line[: found.start]) is not None)
        for line in page.split("\n")
        if len(line) <= _LONGEST_DATE_LINE
        for found in find_dates(line, latest_year)
        if not _BAD_LABEL.search(line[: found.start])
    ]


def _editions(parsed: ParsedDocument, stem: str) -> Iterator[Found[str]]:
    for key in _EDITION_KEYS:
        if value := parsed.metadata.get(key):
            yield Found(value.strip(), FRONT_MATTER)
    if match := _version_in_front(parsed):
        yield Found(_version(match), FIRST_PAGE)
    if match := _NAME_VERSION.search(stem):
        yield Found(re.sub(r"[_-]", ".", match[1]), FILE_NAME)
    if match := _VERSION.search(parsed.title or ""):
        yield Found(_version(match), PROPERTIES)


def _version_in_front(parsed: ParsedDocument) -> re.Match[str] | None:
    """Find a version on a line of its own, else a dotted one in the title or a short line."""
    if not parsed.page_starts:
        return None
    front = "\n".join(_front(parsed))
    lines = front.split("\n")
    own = (match for line in lines if (match := _VERSION_LINE.match(line)))
    label = _TITLE_LABEL.search(front)
    short = [line for line in lines if len(line) <= _LONGEST_DATE_LINE]
    others = (match for line in [label[1] if label else "", *short] for match in _versions(line))
    return next(own, None) or next(others, None)


def _versions(line: str) -> Iterator[re.Match[str]]:
    return (
        match for match in _VERSION.finditer(line) if match["number"] and "." in match["number"]
    )


def _version(match: re.Match[str]) -> str:
    return " ".join(part for part in match.group("number", "suffix", "words") if part)


def _titles(parsed: ParsedDocument, stem: str) -> Iterator[Found[str]]:
    if parsed.title and parsed.media_type != PDF:
        source = FRONT_MATTER if parsed.media_type == MARKDOWN else MARKUP
        yield Found(_short(parsed.title).rstrip(" :"), source)
    label = _TITLE_LABEL.search(_front(parsed)[0])  # the first: the next may be of a successor
    if label and label[1].strip():
        yield Found(_short(label[1]), LABELLED)
    if (
        parsed.title
        and parsed.media_type == PDF
        and not _WORTHLESS_TITLE.match(parsed.title.strip())
    ):
        yield Found(_short(parsed.title), PROPERTIES)
    if parsed.printed_title:
        yield Found(_short(_before_imprint(parsed.printed_title)), FIRST_PAGE)
    spaced = " ".join(re.split(r"[\s_]+|(?<=\D)-|-(?=\D)", stem)).strip()
    yield Found(spaced or stem, FILE_NAME)


def _short(title: str) -> str:
    line = " ".join(_TAG.sub(" ", title).split()).lstrip("| ")  # a cell of a table of two columns
    if len(line) <= _LONGEST_TITLE:
        return line
    return line[:_LONGEST_TITLE].rsplit(" ", 1)[0] + " ..."


def _before_imprint(title: str) -> str:
    """Cut a printed title where the version or the date begins that is set in the same type."""
    starts = [match.start() for match in _VERSION.finditer(title)]
    starts += [found.start for found in find_dates(title, 9999)]
    end = min((start for start in starts if start >= _SHORTEST_TITLE), default=len(title))
    return title[:end].rstrip(" ,(-")


def _front(parsed: ParsedDocument) -> list[str]:
    """Return the text of the first pages, or the beginning of a document without pages."""
    starts = (
        [*parsed.page_starts, len(parsed.text)] if parsed.page_starts else [0, len(parsed.text)]
    )
    pages = [parsed.text[a:b] for a, b in pairwise(starts[: _FRONT_PAGES + 1])]
    return [page[:_FRONT_CHARACTERS] for page in pages]
