"""Finds the editions of a series by the names that people give them, and never another one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.errors import UsageError
from graph.model import Document, Filter
from graph.ports import Store

CURRENT = "current"
"""Name of the edition that nothing supersedes."""

_PREFIX = re.compile(r"^(?:version|revision|edition|ver|rev|ed|v|r)\b\.?\s*(?=\d)|^[vr](?=\d)")
_YEAR = re.compile(r"\d{4}")
_MOST_NAMES = 20
"""Series that a message lists."""


@dataclass(frozen=True, slots=True)
class SeriesEdition:
    """One edition of a series: a document, or several that belong together."""

    name: str
    """As its documents are marked; else their date or year."""
    year: int | None
    is_current: bool
    """Whether nothing supersedes it."""
    documents: tuple[Document, ...]

    def __str__(self) -> str:
        """Return name and year, as messages show it."""
        year = f" ({self.year})" if self.year and str(self.year) not in self.name else ""
        return f"{self.name}{year}{', current' if self.is_current else ''}"


def find_series(store: Store, series: str, where: Filter) -> tuple[str, list[SeriesEdition]]:
    """Return a series' name as it is stored, and its editions that the filter lets through.

    Args:
        store: The graph.
        series: Its name; case and spaces do not matter.
        where: Which documents; its own series is not looked at.

    Raises:
        UsageError: There is no such series; the message names those that there are.
    """
    documents = [d for d, _ in store.list_documents(replace(where, series=None)) if d.series]
    names = sorted({d.series for d in documents if d.series})
    found = [name for name in names if name == series] or [
        name for name in names if _folded(name) == _folded(series)
    ]
    if len(found) != 1:
        raise UsageError(_no_series(series, found or names, where.collection))
    return found[0], _editions([d for d in documents if d.series == found[0]])


def list_series(store: Store, where: Filter) -> list[tuple[str, list[SeriesEdition]]]:
    """Return the series that the filter lets through, by name, each with its editions."""
    series: dict[str, list[Document]] = {}
    for document, _ in store.list_documents(where):
        if document.series:
            series.setdefault(document.series, []).append(document)
    return [(name, _editions(series[name])) for name in sorted(series)]


def find_edition(series: str, editions: Sequence[SeriesEdition], name: str) -> SeriesEdition:
    """Return the edition that a name means: as it is marked, "current", or a year.

    "v2.4" and "version 2.4" mean 2.4; "4" does not mean "4 draft".

    Raises:
        UsageError: None or several have that name; the message says which ones there are.
    """
    wanted = plain_name(name)
    if wanted == CURRENT:
        found = [edition for edition in editions if edition.is_current]
    else:
        found = [edition for edition in editions if plain_name(edition.name) == wanted]
    if not found and _YEAR.fullmatch(wanted):
        found = [edition for edition in editions if edition.year == int(wanted)]
    if len(found) == 1:
        return found[0]
    known = "; ".join(map(str, found or editions))
    if found:
        raise UsageError(f"{name!r} means several editions of {series!r}: {known}. Name one.")
    raise UsageError(
        f"There is no edition {name!r} of {series!r}, so nothing was compared. The editions are "
        f"{known}. Name one of them, or ingest the missing one."
    )


def plain_name(name: str) -> str:
    """Return an edition's name folded, without "version", "v" or "rev." in front."""
    return _PREFIX.sub("", _folded(name))


def _editions(documents: Sequence[Document]) -> list[SeriesEdition]:
    groups: dict[str, list[Document]] = {}
    for document in documents:
        name = document.edition or document.date or str(document.year or "undated")
        groups.setdefault(name, []).append(document)
    return [
        SeriesEdition(
            name=name,
            year=next((d.year for d in group if d.year is not None), None),
            is_current=any(d.is_current for d in group),
            documents=tuple(group),
        )
        for name, group in groups.items()
    ]


def _no_series(series: str, names: Sequence[str], collection: str) -> str:
    shown = "; ".join(names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    known = f"The series are {shown}{more}." if names else "It has none that you may see."
    return f"No series is called {series!r} in collection {collection!r}. {known}"


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())
