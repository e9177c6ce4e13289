"""Compares two editions of a series, section by section, without a model.

Sections are aligned by number, path and text (`agents.alignment`); in those that belong together
the changes of wording and of figures are found (`agents.wording`). Both sides are cited.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agents.alignment import Pair, Part, align, below, build_parts
from agents.compare_editions import SeriesEdition, find_edition, find_series
from agents.wording import (
    Change,
    FigureChange,
    Run,
    compare_lines,
    compare_texts,
    missing_amounts,
    same_words,
)
from graph.errors import UsageError
from graph.model import Document, Filter
from graph.ports import Store

Status = Literal["changed", "moved", "added", "removed", "unchanged"]
"""`moved`: it has another number or stands elsewhere, with or without changes of wording."""

STATUSES: tuple[Status, ...] = get_args(Status)

Pages = tuple[int, int] | None
"""First and last, 1-indexed; None for formats without pages."""


@dataclass(frozen=True, slots=True)
class Place:
    """A section, so that a person can find it."""

    document: Document
    section_id: str
    number: str | None
    title: str
    path: tuple[str, ...]
    pages: Pages


@dataclass(frozen=True, slots=True)
class CitedChange:
    """A sentence that was revised, added or taken out, and the pages where it stands."""

    runs: tuple[Run, ...]
    figures: tuple[FigureChange, ...]
    older_pages: Pages
    """None, too, for a sentence that is new."""
    newer_pages: Pages
    """None, too, for a sentence that is gone."""


@dataclass(frozen=True, slots=True)
class SectionComparison:
    """A section in one edition or both."""

    status: Status
    older: Place | None
    newer: Place | None
    similarity: float
    """Jaccard similarity of the texts' three-word runs, in [0, 1]; 0 for one side only."""
    heading: tuple[Run, ...]
    """The change of its title; empty where that is the same."""
    changes: tuple[CitedChange, ...]
    """Of a section that is new or gone, every sentence."""
    figures_gone: tuple[str, ...]
    """Amounts that the older text states and the newer does not, those in `changes` left out."""
    figures_new: tuple[str, ...]
    """The same the other way round. Both are empty for a section in one edition only."""

    @property
    def figures(self) -> tuple[FigureChange, ...]:
        """The amounts that took the place of others."""
        return tuple(figure for change in self.changes for figure in change.figures)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two editions of a series."""

    series: str
    older: SeriesEdition
    newer: SeriesEdition
    section: str | None
    """The only section that was looked at, with those below it; None for all."""
    sections: tuple[SectionComparison, ...]
    """In the newer edition's reading order, one that is gone behind the one before it."""

    @property
    def counts(self) -> Mapping[Status, int]:
        """Number of sections by status."""
        counted = Counter(section.status for section in self.sections)
        return {status: counted[status] for status in STATUSES}


def compare(
    store: Store,
    series: str,
    older: str,
    newer: str,
    where: Filter,
    section: str | None = None,
) -> Comparison:
    """Compare two editions of a series.

    Args:
        store: The graph.
        series: Name of the series; case does not matter.
        older: The edition to start from: as it is marked ("2.4", "v2.4"), "current", or a year.
        newer: The edition to compare it with.
        where: What the caller may see; its own series is not looked at.
        section: Number or title of a section, to compare it with what is below it only.

    Raises:
        UsageError: The series, an edition or the section does not exist, or both editions are the
            same one. Another edition is never taken instead.
    """
    name, editions = find_series(store, series, where)
    left, right = find_edition(name, editions, older), find_edition(name, editions, newer)
    if left == right:
        raise UsageError(
            f"{older!r} and {newer!r} are the same edition of {name!r}, {left.name}. Name two of "
            f"{'; '.join(map(str, editions))}."
        )
    documents = {d.id: d for edition in (left, right) for d in edition.documents}
    old_parts, new_parts = _parts(store, left, where), _parts(store, right, where)
    pairs = align(old_parts, new_parts)
    if section is not None:
        chosen = below(old_parts, section) | below(new_parts, section)
        if not chosen:
            raise UsageError(
                f"Neither {left.name} nor {right.name} of {name!r} has a section {section!r}. Give "
                "its number or its whole title, or compare all sections."
            )
        pairs = [pair for pair in pairs if chosen & _ids(pair)]
    found = tuple(_compare_section(pair, documents) for pair in pairs)
    return Comparison(name, left, right, section, found)


def _parts(store: Store, edition: SeriesEdition, where: Filter) -> list[Part]:
    """Read an edition, its documents in the order of their titles."""
    order = {d.id: at for at, d in enumerate(sorted(edition.documents, key=lambda d: d.title))}
    parts = build_parts(store.outlines(list(order), where))
    return sorted(parts, key=lambda p: (order[p.section.document_id], p.section.ordinal))


def _ids(pair: Pair) -> set[str]:
    return {part.section.id for part in (pair.older, pair.newer) if part is not None}


def _compare_section(pair: Pair, documents: Mapping[str, Document]) -> SectionComparison:
    old, new = pair.older, pair.newer
    changes = compare_texts(old.text if old else "", new.text if new else "")
    heading: tuple[Run, ...] = ()
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()
    if old and new:
        heading = _heading(old, new)
        gone, come = _lone_figures(old.text, new.text, changes)
    return SectionComparison(
        status=_status(pair, changed=bool(changes or heading)),
        older=_place(old, documents),
        newer=_place(new, documents),
        similarity=pair.similarity,
        heading=heading,
        changes=tuple(_cited(change, old, new) for change in changes),
        figures_gone=gone,
        figures_new=come,
    )


def _status(pair: Pair, *, changed: bool) -> Status:
    if pair.older is None:
        return "added"
    if pair.newer is None:
        return "removed"
    if pair.moved:
        return "moved"
    return "changed" if changed else "unchanged"


def _heading(old: Part, new: Part) -> tuple[Run, ...]:
    # The title of a document names its edition: that it differs is no change.
    if "document" in (old.section.provenance, new.section.provenance):
        return ()
    titles = old.section.title, new.section.title
    if same_words(*(title.casefold() for title in titles)):
        return ()
    return compare_lines(*titles)


def _lone_figures(
    old: str, new: str, changes: Sequence[Change]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    paired = [figure for change in changes for figure in change.figures]
    gone, come = {f.older for f in paired}, {f.newer for f in paired}
    return (
        tuple(amount for amount in missing_amounts(old, new) if amount not in gone),
        tuple(amount for amount in missing_amounts(new, old) if amount not in come),
    )


def _cited(change: Change, old: Part | None, new: Part | None) -> CitedChange:
    return CitedChange(
        change.runs,
        change.figures,
        _pages(*old.pages(*change.older)) if old and change.older else None,
        _pages(*new.pages(*change.newer)) if new and change.newer else None,
    )


def _place(part: Part | None, documents: Mapping[str, Document]) -> Place | None:
    if part is None:
        return None
    section = part.section
    return Place(
        document=documents[section.document_id],
        section_id=section.id,
        number=section.number,
        title=section.title,
        path=section.path,
        pages=_pages(section.page_start, section.page_end),
    )


def _pages(first: int | None, last: int | None) -> Pages:
    return None if first is None else (first, last if last is not None else first)
