"""Which edition of a series is in force, and when: computed from all of them, never remembered."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.model import OPEN_ENDED

ALWAYS = "00000000"
"""`valid_from` of a document without date or year: it is in force at any time."""


@dataclass(frozen=True, slots=True)
class Edition:
    """What the order of editions depends on."""

    id: str
    edition: str | None
    year: int | None
    date: str | None
    """ISO 8601."""


@dataclass(frozen=True, slots=True)
class Validity:
    """When an edition is in force: from `valid_from` up to, not including, `valid_to`."""

    id: str
    valid_from: str
    """Eight digits, YYYYMMDD, so that order as text is order in time."""
    valid_to: str
    supersedes: tuple[str, ...]
    """Ids of the documents of the edition before it."""

    @property
    def is_current(self) -> bool:
        """Whether no newer edition is in the collection."""
        return self.valid_to == OPEN_ENDED


def first_day(edition: Edition) -> str:
    """Return the day an edition comes into force as YYYYMMDD; a bare year starts on 1 January."""
    if edition.date:
        digits = edition.date.replace("-", "")
        return (digits + "0101")[:8] if len(digits) < 8 else digits[:8]
    return f"{edition.year:04d}0101" if edition.year is not None else ALWAYS


def order_editions(documents: Sequence[Edition]) -> tuple[Validity, ...]:
    """Order the documents of one series, oldest edition first, and tell when each is in force.

    Documents with the same number are one edition in several files, as are those without number
    of the same day: none of them replaces another, whatever date was found in one of them. Of an
    edition the earliest known day counts. The day decides, then the number read as a person would
    (2.10 after 2.9, a draft before what it drafts), so that the order of ingestion does not
    matter. Where some editions are undated all are placed by number, and an undated successor
    counts as in force from the start.
    """

    def same(document: Edition) -> tuple[str, str]:
        label = document.edition or ""
        return (label, "" if label else first_day(document))

    ordered = sorted(documents, key=lambda document: (same(document), document.id))
    editions = [list(group) for _, group in itertools.groupby(ordered, key=same)]
    dated = all(_day(edition) != ALWAYS for edition in editions)
    editions.sort(
        key=lambda edition: (
            _day(edition) if dated else "",
            _natural(edition[0].edition),
            _day(edition),
            edition[0].id,
        )
    )
    days = [_day(edition) for edition in editions]
    before = [(), *(tuple(document.id for document in edition) for edition in editions[:-1])]
    return tuple(
        Validity(document.id, valid_from, valid_to, supersedes)
        for edition, valid_from, valid_to, supersedes in zip(
            editions, days, [*days[1:], OPEN_ENDED], before, strict=True
        )
        for document in edition
    )


def _day(edition: Sequence[Edition]) -> str:
    return min((d for d in map(first_day, edition) if d != ALWAYS), default=ALWAYS)


_Natural = tuple[tuple[int, int, str], ...]

_BEFORE_FINAL = {"draft", "preliminary", "proposed", "public", "comment", "ipd", "rc", "beta"}


def _natural(label: str | None) -> _Natural:
    """Split a label into what sorts it: draft words first, then the end, words, numbers."""
    parts = re.findall(r"\d+|[^\W\d_]+", (label or "").lower())
    marked = [
        (3, int(part), "") if part.isdigit() else (0 if part in _BEFORE_FINAL else 2, 0, part)
        for part in parts
    ]
    return (*marked, (1, 0, ""))
