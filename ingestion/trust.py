"""How far each source of metadata is trusted: one table for all fields, and the choice by it.

Of all that the sources say of a field the most trusted counts. Confidences are no measured
probabilities: they order the sources, and those below `UNSURE` are as good as guesses.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Field = Literal["title", "edition", "date", "year", "series", "scope"]

SCOPE_MAP = "scope map"
SET_IN_GRAPH = "set in the graph"
FRONT_MATTER = "front matter"
"""YAML of Markdown, HTML meta elements, the preamble of a regulation."""
MARKUP = "markup"
LABELLED = "first page, labelled"
FOLDER = "folder"
NAME_AND_PAGE = "file name and first page"
"""The name carries the version that the document itself states."""
FILE_NAME = "file name"
NAME_YEAR = "file name, year"
NAME_FISCAL = "file name, fiscal"
NAME_SHORT = "file name, short"
"""A year of two figures."""
NAME_OF_EDITION = "file name of an edition"
"""The name carries no version, but the document states one."""
TITLE = "title"
CHAT_MODEL = "chat model"
FIRST_PAGE = "first page"
PROPERTIES = "properties"
"""Of a PDF or Word file; often left over from another file."""
NOWHERE = "no folder"

CONFIDENCE: Mapping[str, Mapping[Field, float]] = {
    SCOPE_MAP: {"title": 1, "edition": 1, "date": 1, "year": 1, "series": 1, "scope": 1},
    SET_IN_GRAPH: {"scope": 1},
    FRONT_MATTER: {
        "title": 0.95, "edition": 0.95, "date": 0.95, "year": 0.95, "series": 0.95, "scope": 0.9,
    },
    MARKUP: {"title": 0.95},
    LABELLED: {"title": 0.9, "date": 0.9, "year": 0.9},
    NAME_AND_PAGE: {"series": 0.9},
    FOLDER: {"scope": 0.8},
    FILE_NAME: {"title": 0.3, "edition": 0.7, "date": 0.8, "year": 0.8, "series": 0.8},
    NAME_FISCAL: {"year": 0.75},
    NAME_YEAR: {"edition": 0.7, "series": 0.7},
    NAME_SHORT: {"year": 0.7},
    NAME_OF_EDITION: {"series": 0.65},
    TITLE: {"edition": 0.65, "series": 0.65},
    FIRST_PAGE: {"title": 0.6, "edition": 0.85, "date": 0.65, "year": 0.65},
    CHAT_MODEL: {"edition": 0.6, "year": 0.6, "series": 0.6, "scope": 0.6},
    PROPERTIES: {"title": 0.7, "edition": 0.5, "year": 0.4},
    NOWHERE: {"scope": 0.2},
}  # fmt: skip
"""Confidence in [0, 1] by source and field; what is missing does not occur."""

UNSURE = 0.6
"""Below this a chat model may be asked, where one is configured and wanted."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """A value of a field, and where it was found."""

    value: T
    source: str

    def confidence(self, field: Field) -> float:
        """Return how far the source is trusted with this field, in [0, 1]."""
        return CONFIDENCE[self.source][field]


def most_trusted(field: Field, candidates: Iterable[Found[T]]) -> Found[T] | None:
    """Return the candidate with the highest confidence; of equal ones the first."""
    return max(candidates, key=lambda found: found.confidence(field), default=None)


def confidence_of(field: Field, sources: Iterable[str]) -> float:
    """Return how far a field can be trusted, by lines of `in_words`; 0 for one that is unknown."""
    lines = (line for line in sources if line.startswith(f"{field}: "))
    return next((float(line.rpartition("(")[2].rstrip(")")) for line in lines), 0.0)


def in_words(field: Field, source: str) -> str:
    """Return how a source is kept and shown, such as "year: file name (0.80)"."""
    return f"{field}: {source} ({CONFIDENCE[source][field]:.2f})"
