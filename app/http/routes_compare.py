"""Editions of a series: GET /series lists them, GET /compare tells what changed."""

from dataclasses import replace
from threading import Event
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from agents.compare import Comparison, compare
from agents.compare_editions import SeriesEdition, find_edition, find_series, list_series
from app.cli.compare_shape import comparison_as_dict
from app.http import asking
from app.http.backend import Backend, BackendOf, CallerOf, GraphOf
from app.http.errors import Refusal
from app.http.shapes import InCollection, Name
from app.http.working import until_gone
from app.mcp_shapes import ComparisonResult
from graph.errors import UsageError
from graph.model import Filter

MOST_SECTIONS = 1000

router = APIRouter(tags=["editions"])


class SeriesEditionShape(BaseModel):
    """An edition that can be compared with others."""

    edition: str
    year: int | None
    is_current: bool


class SeriesShape(BaseModel):
    """A series and its editions, oldest first."""

    series: str
    editions: list[SeriesEditionShape]


class SeriesResult(BaseModel):
    """The series that the key may see, by name."""

    collection: str
    series: list[SeriesShape]


class Editions(InCollection):
    """What to compare."""

    series: Annotated[Name, Field(description="Name of the series; case does not matter.")]
    old: Annotated[Name, Field(description="An edition: as it is marked, `current`, or a year.")]
    new: Annotated[Name, Field(description="The edition to compare it with.")]
    section: Annotated[
        Name | None,
        Field(description="Number or title: only this section and those below it."),
    ] = None
    offset: Annotated[
        int, Field(ge=0, le=1_000_000_000, description="Changed sections to leave out.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_SECTIONS, description="Changed sections.")] = 100


@router.get("/series")
def series(
    backend: GraphOf, caller: CallerOf, asked: Annotated[InCollection, Query()]
) -> SeriesResult:
    """List the series that the key may see, with their editions."""
    found = list_series(backend.app.store, asking.visible(caller, asked.collection))
    return SeriesResult(
        collection=asked.collection,
        series=[
            SeriesShape(series=name, editions=[_edition(one) for one in editions])
            for name, editions in found
        ],
    )


@router.get("/compare")
async def compared(
    asked: Annotated[Editions, Query()], request: Request, backend: BackendOf, caller: CallerOf
) -> ComparisonResult:
    """Tell what changed between two editions, figures first; both places are cited.

    Sections without changes are only counted.
    """
    where = asking.visible(caller, asked.collection)

    def work(_: Event) -> ComparisonResult:
        backend.graph.check()
        return _compare(backend, asked, where)

    return await until_gone(work, request.receive, backend.workers)


def _compare(backend: Backend, asked: Editions, where: Filter) -> ComparisonResult:
    store = backend.app.store
    try:
        name, editions = find_series(store, asked.series, where)
    except UsageError as error:
        raise Refusal(404, "unknown_series", str(error)) from error
    try:
        older, newer = (find_edition(name, editions, one) for one in (asked.old, asked.new))
    except UsageError as error:
        raise Refusal(404, "unknown_edition", str(error)) from error
    if older == newer:
        raise Refusal(
            400, "same_edition", f"Both are edition {older.name} of {name!r}. Name two editions."
        )
    try:
        found = compare(store, name, asked.old, asked.new, where, asked.section)
    except UsageError as error:
        raise Refusal(404, "unknown_section", str(error)) from error
    return _shape(found, asked.offset, asked.offset + asked.limit)


def _shape(found: Comparison, start: int, end: int) -> ComparisonResult:
    """Return the comparison with those of the changed sections."""
    changed = tuple(one for one in found.sections if one.status != "unchanged")
    shape: dict[str, Any] = comparison_as_dict(replace(found, sections=changed))
    shown = [{**one, "changes_left_out": 0} for one in shape["sections"][start:end]]
    left_out = max(0, len(changed) - end)
    return ComparisonResult.model_validate(
        {
            **shape,
            "counts": dict(found.counts),
            "sections": shown,
            "sections_left_out": left_out,
        }
    )


def _edition(one: SeriesEdition) -> SeriesEditionShape:
    return SeriesEditionShape(edition=one.name, year=one.year, is_current=one.is_current)
