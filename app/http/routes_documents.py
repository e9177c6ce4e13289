"""What is in the graph: GET /scopes, GET /documents; uploads, jobs and removal."""

import shutil
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Query, UploadFile
from pydantic import BaseModel, Field, StringConstraints

from app.http import asking
from app.http.backend import BackendOf, CallerOf, GraphOf, IngestingCallerOf
from app.http.errors import Refusal
from app.http.jobs import Job, JobStatus, Upload
from app.http.options import HttpOptions
from app.http.shapes import (
    DocumentShape,
    DocumentsResult,
    InCollection,
    Name,
    ScopeShape,
    ScopesResult,
)

Collection = Annotated[Name, Query(description="They are kept apart.")]
OneLine = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")
]


class JobShape(BaseModel):
    """An upload on its way into the graph."""

    id: str
    file: str
    status: JobStatus
    created_at: str
    finished_at: str | None
    message: str
    document_id: str | None
    chunks: int


class Listing(InCollection):
    """Which documents to list."""

    scope: Annotated[Name | None, Field(description="Only this scope.")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    offset: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0


class Removed(BaseModel):
    """What was removed."""

    id: str
    removed: Literal[True] = True


router = APIRouter(tags=["documents"])


@router.get("/scopes")
def scopes(
    backend: GraphOf, caller: CallerOf, asked: Annotated[InCollection, Query()]
) -> ScopesResult:
    """List the scopes that the key may see."""
    found = backend.app.store.list_scopes(asking.visible(caller, asked.collection))
    shapes = [ScopeShape.model_validate(asdict(scope)) for scope in found]
    return ScopesResult(collection=asked.collection, scopes=shapes)


@router.get("/documents")
def documents(
    backend: GraphOf, caller: CallerOf, asked: Annotated[Listing, Query()]
) -> DocumentsResult:
    """List the documents that the key may see, by scope, series and edition."""
    where = asking.visible(caller, asked.collection)
    found = backend.app.store.list_documents(where)
    found = [entry for entry in found if asked.scope in (None, entry[0].scope)]
    page = [
        DocumentShape.model_validate({**asdict(document), "chunks": chunks})
        for document, chunks in found[asked.offset : asked.offset + asked.limit]
    ]
    return DocumentsResult(total=len(found), documents=page)


@router.delete("/documents/{id}")
def remove(
    id: str, backend: GraphOf, caller: IngestingCallerOf, collection: Collection = "default"
) -> Removed:
    """Take a document out of the graph, with all of its passages."""
    store = backend.app.store
    found = store.list_documents(asking.visible(caller, collection))
    uris = [document.uri for document, _ in found if document.id == id]
    if not uris:
        raise Refusal(
            404,
            "unknown_document",
            f"There is no such document in collection {collection!r}. GET /documents lists them.",
        )
    store.remove([id])
    store.finish(collection)
    backend.jobs.forget(uris[0])
    return Removed(id=id)


@router.get("/jobs/{id}")
def job(id: str, backend: BackendOf, caller: IngestingCallerOf) -> JobShape:
    """Tell how far an upload is."""
    return _as_shape(backend.jobs.find(id, caller.name))


def upload(  # noqa: PLR0913 (a form has as many arguments as fields)
    backend: GraphOf,
    caller: IngestingCallerOf,
    file: Annotated[UploadFile, File(description="PDF, HTML, Markdown or text.")],
    collection: Annotated[OneLine, Form()] = "default",
    scope: Annotated[OneLine, Form()] = "default",
    audience: Annotated[
        OneLine,
        Form(
            description="Who may see it, of the key's audiences. By default a file keeps what it "
            "has, and a new one is public."
        ),
    ] = "",
    series: Annotated[OneLine, Form()] = "",
    edition: Annotated[OneLine, Form()] = "",
    year: Annotated[str, Form(pattern=r"^(?:\d{4})?$")] = "",
    title: Annotated[OneLine, Form()] = "",
) -> JobShape:
    """Upload a document; the answer names a job, whose status GET /jobs/ID tells.

    A file of the same name that the same key uploaded to the same scope is replaced.
    """
    if audience:
        asking.visible(caller, collection, [audience])
    path = backend.jobs.arriving()
    try:
        with path.open("xb") as out:
            shutil.copyfileobj(file.file, out)
        given = {"scope": scope, "series": series, "edition": edition, "year": year, "title": title}
        stated = {name: value for name, value in given.items() if value}
        label = (file.filename or "")[:200]
        added = backend.jobs.add(
            Upload(path, label, collection or "default", stated, audience or None), caller.name
        )
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return _as_shape(added)


def upload_router(options: HttpOptions) -> APIRouter:
    """Return the route of uploads, whose limit on bodies is its own."""
    made = APIRouter(tags=["documents"])
    made.post("/documents", status_code=202, max_body_size=options.upload_bytes)(upload)
    return made


def _as_shape(found: Job) -> JobShape:
    outcome = found.outcome
    return JobShape(
        id=found.id,
        file=found.file,
        status=found.status,
        created_at=found.created_at,
        finished_at=found.finished_at,
        message=found.message,
        document_id=outcome.document_id if outcome else None,
        chunks=outcome.chunks if outcome else 0,
    )
