"""The server-sent events of POST /ask, in the order in which they come.

thread                  the conversation, and the question as it stands alone; only where there is
                        one, or where the question was rewritten
route, hits             all passages found so far, before anything is written; machines that search
                        several times tell it after each search
token                   pieces of the draft, whose citations are not checked yet
citation                each source that the checked answer cites
check                   the checked answer, in place of the draft, and what the checks found
done                    the end
error                   the end, too, where it fails after the first event
"""

from collections.abc import Generator, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from agents.answer import Answered
from app.cli.shapes import answered_as_dict, ranking_as_dict
from app.http.asking import Asked, Step, Token
from app.http.errors import ErrorBody, log_problem, problem
from app.http.shapes import ChecksShape, HitShape, RouteShape, SourceShape, UsageShape
from graph.model import Ranking


class ThreadEvent(BaseModel):
    """The conversation that the question belongs to."""

    type: Literal["thread"] = "thread"
    thread: str | None
    asked: str
    question: str


class RouteEvent(BaseModel):
    """What was understood, and which scopes are likely."""

    type: Literal["route"] = "route"
    system: str
    route: list[RouteShape]
    understood: list[str]


class HitsEvent(BaseModel):
    """What was found, best first."""

    type: Literal["hits"] = "hits"
    hits: list[HitShape]


class TokenEvent(BaseModel):
    """A piece of the draft."""

    type: Literal["token"] = "token"
    text: str


class CitationEvent(BaseModel):
    """A source that the checked answer cites."""

    type: Literal["citation"] = "citation"
    source: SourceShape


class CheckEvent(BaseModel):
    """The checked answer."""

    type: Literal["check"] = "check"
    answer: str
    checks: ChecksShape


class DoneEvent(BaseModel):
    """The end of the stream."""

    type: Literal["done"] = "done"
    usage: UsageShape
    timings_ms: dict[str, float]


class ErrorEvent(BaseModel):
    """The end of a stream that fails."""

    type: Literal["error"] = "error"
    error: ErrorBody


Event = (
    ThreadEvent
    | RouteEvent
    | HitsEvent
    | TokenEvent
    | CitationEvent
    | CheckEvent
    | DoneEvent
    | ErrorEvent
)


def as_events(steps: Iterator[Step], request_id: str | None) -> Generator[Event]:
    """Turn the steps of an answer into events.

    Raises:
        Exception: What the steps raise; behind the first event it is told as an event, too.
    """
    begun = False
    try:
        for step in steps:
            for event in _events(step):
                begun = True
                yield event
    except Exception as error:
        if begun:
            found = problem(error)
            log_problem(error, found)
            yield ErrorEvent(error=found.body(request_id).error)
            if found.code != "internal":
                return
        raise


def encode(event: Event) -> str:
    """Return an event as it is sent."""
    return f"event: {event.type}\ndata: {event.model_dump_json()}\n\n"


def _events(step: Step) -> Iterator[Event]:
    if isinstance(step, Token):
        yield TokenEvent(text=step.text)
    elif isinstance(step, Asked):
        yield ThreadEvent(thread=step.thread, asked=step.asked, question=step.question)
    elif isinstance(step, Ranking):
        shape = ranking_as_dict(step)
        yield RouteEvent.model_validate(_part(shape, RouteEvent))
        yield HitsEvent.model_validate(_part(shape, HitsEvent))
    else:
        yield from _last_events(step)


def _last_events(answered: Answered) -> Iterator[Event]:
    shape: dict[str, Any] = answered_as_dict(answered)
    for source in shape["sources"]:
        if source["cited"]:
            yield CitationEvent(source=SourceShape.model_validate(source))
    yield CheckEvent.model_validate(_part(shape, CheckEvent))
    yield DoneEvent.model_validate(_part(shape, DoneEvent))


def _part(shape: Mapping[str, object], event: type[BaseModel]) -> dict[str, object]:
    return {name: shape[name] for name in event.model_fields if name in shape}


def described() -> dict[str, Any]:
    """Return the description of each event of the stream, for /openapi.json."""
    data = TokenEvent(text="Logs are kept for three years [Source 1].").model_dump_json()
    return {
        "schema": {
            "type": "object",
            "description": __doc__,
            "properties": {
                "event": {"type": "string"},
                "data": {"type": "string", "contentMediaType": "application/json"},
            },
            "required": ["event", "data"],
            "example": {"event": "token", "data": data},
        },
    }
