"""What an answer cites, where it stands: GET /sources/{id}, and its pages as pictures."""

from dataclasses import replace
from threading import Event
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from agents.alignment import build_parts
from app.cli.shapes import pages
from app.http import asking
from app.http.backend import Backend, BackendOf, CallerOf, GraphOf
from app.http.errors import ClientGone, Refusal
from app.http.page_images import has_pages
from app.http.shapes import DocumentPlace, InCollection, SectionPlace
from app.http.working import until_gone
from graph.model import Document, Filter, Passage
from ingestion.page_image import PageImage

MOST_AROUND = 20_000
"""Characters of a section that are sent before and behind a passage."""

Where = Annotated[InCollection, Query()]
ChunkId = Annotated[
    str, Path(max_length=200, description="`chunk_id` of a hit, source or citation.")
]

router = APIRouter(tags=["sources"])


class SourceDocument(DocumentPlace):
    """The document of a source."""

    media_type: str
    page_count: Annotated[int | None, Field(description="Null for formats without pages.")]


class SourceResult(BaseModel):
    """A passage in its section."""

    chunk_id: str
    document: SourceDocument
    section: SectionPlace
    pages: Annotated[list[int], Field(description="First and last page; empty without pages.")]
    printed: Annotated[
        str | None,
        Field(description='What is printed on the pages in place of their count, such as "iii".'),
    ]
    view: Annotated[
        Literal["page", "text"],
        Field(description="`page`: GET /sources/ID/page/N.png draws its pages, too."),
    ]
    before: Annotated[str, Field(description="The section's own text in front of the passage.")]
    text: str
    after: Annotated[str, Field(description="The section's own text behind the passage.")]


@router.get("/sources/{chunk_id}")
def source(chunk_id: ChunkId, backend: GraphOf, caller: CallerOf, asked: Where) -> SourceResult:
    """Return a passage with the text around it, and where it stands."""
    where = asking.visible(caller, asked.collection)
    passage, document = _find(backend, chunk_id, where)
    before, text, after = _around(backend, passage, where)
    return SourceResult(
        chunk_id=passage.chunk_id,
        document=SourceDocument(
            id=document.id,
            title=document.title,
            uri=document.uri,
            scope=document.scope,
            series=document.series,
            edition=document.edition,
            year=document.year,
            is_current=document.is_current,
            media_type=document.media_type,
            page_count=document.pages,
        ),
        section=SectionPlace(
            id=passage.section_id,
            number=passage.section_number,
            title=passage.section,
            heading=passage.heading,
        ),
        pages=pages(passage.page_start, passage.page_end),
        printed=passage.printed,
        view="page" if has_pages(document) else "text",
        before=before,
        text=text,
        after=after,
    )


_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The page, 1,200 pixels wide, the passage marked. X-Passage-Marks has the "
        "number of marked lines, 0 where the passage was not found on the page; X-Passage-Top has "
        "where the first one is, from 0, the upper edge, to 1.",
        "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/sources/{chunk_id}/page/{page}.png", response_class=Response, responses=_PICTURE)
async def page_image(
    chunk_id: ChunkId,
    page: Annotated[int, Path(ge=1, le=1_000_000, description="Counted from 1.")],
    request: Request,
    backend: BackendOf,
    caller: CallerOf,
    asked: Where,
) -> Response:
    """Draw a page of the passage's document, with the passage marked."""
    where = asking.visible(caller, asked.collection)
    passage, document = await to_thread.run_sync(
        _find_page, backend, chunk_id, where, limiter=backend.workers
    )
    pictures = backend.page_images

    def draw(stop: Event) -> PageImage:
        if stop.is_set():
            raise ClientGone
        return pictures.draw(document, page, passage)

    picture = pictures.kept(document, page, passage)
    if picture is None:
        picture = await until_gone(draw, request.receive, pictures.line)
    headers = {
        "Cache-Control": "no-store",  # a key that is taken away must not leave pages behind
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Passage-Marks": str(len(picture.marks)),
        "X-Passage-Top": f"{_top(picture):.4f}",
    }
    return Response(picture.png, media_type="image/png", headers=headers)


def _top(picture: PageImage) -> float:
    """Return how far down the first marked line is, in [0, 1]."""
    return max(0, min((mark[1] for mark in picture.marks), default=0)) / picture.height


def _find_page(backend: Backend, chunk_id: str, where: Filter) -> tuple[Passage, Document]:
    backend.graph.check()
    passage, document = _find(backend, chunk_id, where)
    if not has_pages(document):
        raise Refusal(
            404,
            "no_pages",
            f"{document.title!r} has no pages to show: GET /sources/{passage.chunk_id} has the "
            "text.",
        )
    return passage, document


def _find(backend: Backend, chunk_id: str, where: Filter) -> tuple[Passage, Document]:
    """Return a passage that the caller may see, and its document."""
    store = backend.app.store
    found = store.passages([chunk_id], where)
    if found:
        passage = found[0]
        near = replace(
            where,
            scopes=(passage.scope,),
            series=passage.series,
            edition=passage.edition,
            year=passage.year,
        )
        for document, _ in store.list_documents(near):
            if document.id == passage.document_id:
                return passage, document
    raise Refusal(
        404,
        "unknown_source",
        f"There is no such passage in collection {where.collection!r} that you may see. Its "
        "document may have been ingested again since: ask again.",
    )


def _around(backend: Backend, passage: Passage, where: Filter) -> tuple[str, str, str]:
    """Return the passage, and the text of its own section before and behind it."""
    for part in build_parts(backend.app.store.outlines([passage.document_id], where)):
        for _, end, chunk in part.chunks:
            if chunk.id == passage.chunk_id:
                # Without what it repeats of the chunk before, or of the heading.
                start = max(0, end - len(chunk.text))
                before, after = part.text[:start], part.text[end:]
                return before[-MOST_AROUND:], part.text[start:end], after[:MOST_AROUND]
    return "", passage.text, ""
