"""POST /search and POST /ask."""

from collections.abc import Generator
from contextlib import closing
from threading import Event
from typing import Any

from fastapi import APIRouter, Request, Response

from agents import machines
from app.cli.shapes import answered_as_dict, ranking_as_dict
from app.http import asking, events
from app.http.backend import Backend, BackendOf, CallerOf, GraphOf
from app.http.guard import Caller
from app.http.shapes import (
    AskRequest,
    AskResult,
    MachineShape,
    MachinesResult,
    SearchRequest,
    SearchResult,
)
from app.http.working import EventStream, until_gone

router = APIRouter(tags=["questions"])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {EventStream.media_type: events.described()}}
}


@router.post("/search")
def search(body: SearchRequest, backend: GraphOf, caller: CallerOf) -> SearchResult:
    """Find passages, best first."""
    return SearchResult.model_validate(ranking_as_dict(asking.search(backend, body, caller)))


@router.post("/ask", response_model=AskResult, responses=_ANSWERS)
async def ask(
    body: AskRequest, request: Request, backend: BackendOf, caller: CallerOf
) -> AskResult | Response:
    """Answer a question from the documents, each claim with its source."""
    if body.stream or EventStream.media_type in request.headers.get("accept", ""):
        return _streamed(body, backend, caller, request.state.request_id)

    def work(stop: Event) -> AskResult:
        backend.graph.check()
        with closing(asking.ask(backend, body, caller, stop)) as steps:
            answered, asked = asking.last(steps)
        thread = {"asked": asked.asked, "thread": asked.thread} if asked else {}
        return AskResult.model_validate({**answered_as_dict(answered), **thread})

    return await until_gone(work, request.receive, backend.workers)


@router.get("/machines")
def list_machines(backend: BackendOf, _: CallerOf) -> MachinesResult:
    """List the machines, each with how it makes an answer and whether it can do so here."""
    return MachinesResult(
        machines=[
            MachineShape(
                name=name,
                description=description,
                available=backend.chat is not None or name in machines.WITHOUT_CHAT_MODEL,
                is_default=name == backend.app.settings.machine,
            )
            for name, description in machines.MACHINES.items()
        ]
    )


def _streamed(body: AskRequest, backend: Backend, caller: Caller, request_id: str) -> EventStream:
    def work(stop: Event) -> Generator[str]:
        backend.graph.check()
        with closing(asking.ask(backend, body, caller, stop)) as steps:
            for event in events.as_events(steps, request_id):
                yield events.encode(event)

    return EventStream(work, backend.workers, backend.options.heartbeat_seconds)
