"""GET and DELETE /threads: the conversations of a caller. POST /ask begins and continues them."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.http import asking
from app.http.backend import BackendOf, CallerOf
from app.http.shapes import ThreadResult, ThreadShape, ThreadsResult, TurnShape
from graph.model import Filter

router = APIRouter(prefix="/threads", tags=["conversations"])

Id = Annotated[str, Path(pattern=r"^[\w-]{1,64}$", description="Of the conversation.")]


@router.get("")
def list_threads(backend: BackendOf, caller: CallerOf) -> ThreadsResult:
    """List the caller's conversations, the one used last first."""
    found = backend.threads.list(caller.name, Filter(audiences=caller.audiences))
    return ThreadsResult(threads=[ThreadShape.model_validate(asdict(one)) for one in found])


@router.get("/{id}")
def read_thread(id: Id, backend: BackendOf, caller: CallerOf) -> ThreadResult:
    """Read a conversation; turns for audiences that the caller does not hold are left out."""
    turns = asking.find_turns(backend, caller, id, Filter(audiences=caller.audiences))
    shown = [TurnShape.model_validate({**turn}) for turn in turns]
    return ThreadResult(id=id, turns=shown)


@router.delete("/{id}", status_code=204)
def delete_thread(id: Id, backend: BackendOf, caller: CallerOf) -> Response:
    """Forget a conversation."""
    asking.find_turns(backend, caller, id, Filter(audiences=caller.audiences))
    backend.threads.delete(caller.name, id)
    return Response(status_code=204)
