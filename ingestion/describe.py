"""What a document is, settled from all sources: the scope map first, then what was found in it.

`ingestion.trust` has the order of trust. A scope map overrides every other source, field by field.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from ingestion.metadata import DocumentMetadata, find_metadata
from ingestion.parsed import ParsedDocument
from ingestion.scope_map import DEFAULT_SCOPE, NO_SERIES, GivenMetadata
from ingestion.series import Known, Series, find_series
from ingestion.trust import (
    FILE_NAME,
    FOLDER,
    FRONT_MATTER,
    NOWHERE,
    PROPERTIES,
    SCOPE_MAP,
    SET_IN_GRAPH,
    Field,
    Found,
    in_words,
    most_trusted,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Description:
    """What is known of a document, and from where."""

    title: str
    edition: str | None
    date: str | None
    """ISO 8601."""
    year: int | None
    series: str | None
    scope: str
    origins: tuple[tuple[Field, str], ...]
    """Field and source of `ingestion.trust`, of each field that is known."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the origins as they are kept, such as "year: file name (0.80)"."""
        return tuple(in_words(field, source) for field, source in self.origins)


def describe(
    parsed: ParsedDocument,
    path: PurePath,
    given: GivenMetadata,
    stated: GivenMetadata,
    *,
    scope_set: str | None = None,
    latest_year: int,
) -> Description:
    """Settle what a document is.

    Args:
        parsed: The document as read.
        path: Its path below the ingested folder.
        given: From the scope map, the scope filled in from the folder.
        stated: What the map says itself.
        scope_set: The scope that was set in the graph, where that counts.
        latest_year: The last year that a document can be of: next year.
    """
    found = find_metadata(parsed, path.name, latest_year)
    title = _first(given.title, found.title, found.sources["title"])
    edition = _first(given.edition, found.edition, found.sources.get("edition", ""))
    year = _first(given.year, found.year, found.sources.get("year", ""))
    scope = Found(scope_set, SET_IN_GRAPH) if scope_set else _scope(given, stated, found)
    rule_scope = given.scope or DEFAULT_SCOPE
    is_own = found.sources["title"] not in (PROPERTIES, FILE_NAME)
    known = Known(found.title, _independent(edition), rule_scope, is_own)
    series = _series(path, given, found, known)
    if series and series.year and edition is None:
        # Two files of one year are one edition, whatever day is found in one of them.
        edition = Found(str(series.year), series.found.source)
    elif series and series.draft and edition and "draft" not in edition.value.lower():
        edition = Found(f"{edition.value} draft", edition.source)
    fields: tuple[tuple[Field, Found[str] | Found[int] | None], ...] = (
        ("title", title),
        ("series", series.found if series else None),
        ("edition", edition),
        ("year", year),
        ("date", _date(given, found)),
        ("scope", scope),
    )
    values = {field: one.value if one else None for field, one in fields}
    origins: list[tuple[Field, str]] = [(field, one.source) for field, one in fields if one]
    if given.series == NO_SERIES:
        origins.insert(1, ("series", SCOPE_MAP))
    return Description(
        **values,  # pyright: ignore[reportArgumentType]  # a title and a scope are always found
        origins=tuple(origins),
    )


def _first(given: T | None, found: T | None, source: str) -> Found[T] | None:
    if given is not None:
        return Found(given, SCOPE_MAP)
    return Found(found, source) if found is not None else None


def _independent(edition: Found[str] | None) -> str | None:
    """Return an edition that does not come from the file's name itself."""
    return edition.value if edition and edition.source != FILE_NAME else None


def _series(
    path: PurePath, given: GivenMetadata, found: DocumentMetadata, known: Known
) -> Series | None:
    if given.series is not None:
        return None if given.series == NO_SERIES else Series(Found(given.series, SCOPE_MAP))
    if found.series:
        return Series(Found(found.series, FRONT_MATTER))
    return find_series(path, known)


def _scope(given: GivenMetadata, stated: GivenMetadata, found: DocumentMetadata) -> Found[str]:
    if stated.scope:
        return Found(stated.scope, SCOPE_MAP)
    folder = given.scope or DEFAULT_SCOPE
    candidates = [Found(folder, NOWHERE if folder == DEFAULT_SCOPE else FOLDER)]
    if found.scope:
        candidates.append(Found(found.scope, FRONT_MATTER))
    return most_trusted("scope", candidates) or candidates[0]


def _date(given: GivenMetadata, found: DocumentMetadata) -> Found[str] | None:
    """Return the date that is given, or the one found unless it contradicts the year given."""
    if given.date:
        return Found(given.date, SCOPE_MAP)
    if not found.date or given.year not in (None, int(found.date[:4])):
        return None
    return Found(found.date, found.sources["date"])
