"""Which edition of a series is in force, and when: computed from all of them, never remembered."""

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
    supersedes: str | None
    """Id of the edition before it."""

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


def order_editions(editions: Sequence[Edition]) -> tuple[Validity, ...]:
    """Order the editions of one series, oldest first, and tell when each is in force.

    The date decides, or the year, then the edition's number read as a person would (2.10 after
    2.9), then the id, so that the order of ingestion does not matter. Dates that contradict the
    edition's number win: an agency may number a reprint as it likes. An edition without any date
    is placed by its number among the others, and counts as replaced from the start.
    """
    dated = all(first_day(edition) != ALWAYS for edition in editions)
    ordered = sorted(
        editions,
        key=lambda e: (first_day(e) if dated else "", _natural(e.edition), first_day(e), e.id),
    )
    result: list[Validity] = []
    for position, edition in enumerate(ordered):
        following = ordered[position + 1] if position + 1 < len(ordered) else None
        result.append(
            Validity(
                id=edition.id,
                valid_from=first_day(edition),
                valid_to=first_day(following) if following else OPEN_ENDED,
                supersedes=ordered[position - 1].id if position else None,
            )
        )
    return tuple(result)


def _natural(label: str | None) -> tuple[tuple[int, int, str], ...]:
    """Split a label into numbers and words, numbers first: "2.10 draft" after "2.9"."""
    parts = re.findall(r"\d+|[^\W\d_]+", (label or "").lower())
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)
