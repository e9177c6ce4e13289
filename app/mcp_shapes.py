"""What the tools of the MCP server return, described so that a client can check it.

Hits, answers and documents have the shapes of `app.http.shapes`; a comparison has that of
`milepost compare --json`, cut to what a model can read.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.http.shapes import DocumentPlace, SectionPlace

PageRange = Annotated[list[int], Field(description="First and last page; empty without pages.")]


class SectionShape(BaseModel):
    """A section and the text that stands directly in it."""

    document: DocumentPlace
    section: SectionPlace
    pages: PageRange
    text: str


class SectionsResult(BaseModel):
    """A section and those below it, in reading order."""

    sections: list[SectionShape]
    left_out: Annotated[
        list[SectionPlace],
        Field(description="Sections below it for which there was no room: ask for them by id."),
    ]


class EditionShape(BaseModel):
    """One edition of a series."""

    edition: str
    year: int | None
    is_current: bool
    documents: list[DocumentPlace]


class RunShape(BaseModel):
    """Words that follow each other and share a fate."""

    kind: Literal["same", "deleted", "inserted"]
    text: str


class FigureShape(BaseModel):
    """An amount that took the place of another."""

    older: str
    newer: str


class PlaceShape(BaseModel):
    """A place that can be cited."""

    document: DocumentPlace
    section: SectionPlace
    pages: PageRange


class CitedFigureShape(FigureShape):
    """An amount that took the place of another, in its sentence."""

    runs: list[RunShape]
    older_place: PlaceShape
    newer_place: PlaceShape


class BothPlaces(BaseModel):
    """Where a section stands in each edition."""

    older: Annotated[PlaceShape | None, Field(description="Null for a section that is new.")]
    newer: Annotated[PlaceShape | None, Field(description="Null for a section that is gone.")]


class LoneFiguresShape(BothPlaces):
    """Amounts that a section states in one edition only."""

    only_older: list[str]
    only_newer: list[str]


class ChangeShape(BaseModel):
    """A sentence that was revised, added or taken out."""

    runs: list[RunShape]
    figures: list[FigureShape]
    older_pages: PageRange
    newer_pages: PageRange


class SectionChangesShape(BothPlaces):
    """A section that changed, moved, is new or gone."""

    status: Literal["changed", "moved", "added", "removed", "unchanged"]
    similarity: Annotated[float, Field(description="Of the two texts, in [0, 1].")]
    heading: Annotated[list[RunShape], Field(description="Empty where the title is the same.")]
    changes: list[ChangeShape]
    changes_left_out: int


class ComparisonResult(BaseModel):
    """What changed between two editions; sections without changes are only counted."""

    series: str
    older: EditionShape
    newer: EditionShape
    section: str | None
    counts: dict[str, int]
    figures: Annotated[list[CitedFigureShape], Field(description="Of all sections.")]
    lone_figures: Annotated[list[LoneFiguresShape], Field(description="Of all sections.")]
    sections: list[SectionChangesShape]
    sections_left_out: Annotated[int, Field(description="Behind these: raise `skip` to see them.")]
