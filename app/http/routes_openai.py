"""POST /v1/chat/completions and GET /v1/models, for the clients of OpenAI's API.

A client of that API cannot take back what it has shown, so a stream carries the checked answer: its
first piece comes when the passages are found, its text when the citations are checked. POST /ask
streams the draft as well.
"""

import json
import re
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from threading import Event
from typing import Any
from uuid import uuid4

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from agents import machines
from agents.answer import Answered
from agents.follow_up import standing
from agents.passages import estimate_tokens
from app.cli.shapes import answered_as_dict
from app.http import asking
from app.http.backend import Backend, BackendOf, CallerOf
from app.http.errors import ErrorResponse, Refusal, log_problem, problem
from app.http.guard import Caller
from app.http.openai_shapes import (
    ChatReply,
    ChatRequest,
    ChatUsage,
    Choice,
    Model,
    ModelList,
    ReplyMessage,
    chunk,
)
from app.http.shapes import AskRequest, ChecksShape, SourceShape
from app.http.working import EventStream, until_gone
from graph.model import Ranking

router = APIRouter(prefix="/v1", tags=["OpenAI"])

_PIECE = re.compile(r"\s*\S+\s*(?:\n+)?")
_DONE = "data: [DONE]\n\n"
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            EventStream.media_type: {
                "schema": {
                    "type": "string",
                    "description": "With stream: chat.completion.chunk objects, then [DONE].",
                }
            }
        }
    },
    400: {"model": ErrorResponse, "description": "The request is wrong."},
}


@dataclass(frozen=True, slots=True)
class _Chat:
    """One completion."""

    id: str
    created: int
    model: str
    question: AskRequest
    earlier: tuple[str, ...]
    """Questions before it, each standing alone."""
    request_id: str
    with_usage: bool


@router.get("/models")
def models(backend: BackendOf, _: CallerOf) -> ModelList:
    """List the retrieval systems and the machines that can answer here, each as a model."""
    others = [name for name in machines.MACHINES if name != machines.DEFAULT]
    able = [one for one in others if backend.chat or one in machines.WITHOUT_CHAT_MODEL]
    names = (asking.DEFAULT_MODEL, *backend.app.systems, *able)
    return ModelList(data=[Model(id=name) for name in names])


@router.post("/chat/completions", response_model=ChatReply, responses=_RESPONSES)
async def completions(
    body: ChatRequest, request: Request, backend: BackendOf, caller: CallerOf
) -> ChatReply | Response:
    """Answer the last user message from the documents; it may lean on those before it."""
    _check_model(backend, body.model)
    chat = _Chat(
        id=f"chatcmpl-{uuid4().hex}",
        created=int(time.time()),
        model=body.model,
        question=_question(body),
        earlier=standing([m.text for m in body.messages if m.role == "user"][:-1]),
        request_id=request.state.request_id,
        with_usage=bool(body.stream_options and body.stream_options.include_usage),
    )
    if body.stream:
        return _streamed(chat, backend, caller)

    def work(stop: Event) -> ChatReply:
        backend.graph.check()
        with closing(asking.ask(backend, chat.question, caller, stop, chat.earlier)) as steps:
            return _reply(chat, asking.last(steps)[0])

    return await until_gone(work, request.receive, backend.workers)


def _is_machine(name: str) -> bool:
    return name in machines.MACHINES and name != machines.DEFAULT  # that is a system, too


def _check_model(backend: Backend, name: str) -> None:
    if _is_machine(name):
        asking.find_machine(backend, name)
        return
    try:
        asking.find_system(backend, name)
    except Refusal as error:
        message = str(error).replace("system", "model", 1)
        raise Refusal(404, "model_not_found", message) from error


def _question(body: ChatRequest) -> AskRequest:
    """Return the question of a conversation.

    Raises:
        Refusal: There is none, or it is too long.
    """
    asked = [message.text for message in body.messages if message.role == "user"]
    if not asked:
        raise Refusal(400, "no_question", "The conversation has no user message: add a question.")
    narrowing = body.milepost.model_dump()
    try:
        chosen = "machine" if _is_machine(body.model) else "system"
        return AskRequest.model_validate({"query": asked[-1], chosen: body.model, **narrowing})
    except ValidationError as error:
        message = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
        raise Refusal(400, "invalid", f"messages: {message}") from error


def _reply(chat: _Chat, answered: Answered) -> ChatReply:
    citations, checks = _beside(answered)
    return ChatReply(
        id=chat.id,
        created=chat.created,
        model=chat.model,
        choices=[Choice(message=ReplyMessage(content=answered.answer.text))],
        usage=_usage(chat, answered),
        citations=citations,
        checks=checks,
    )


def _beside(answered: Answered) -> tuple[list[SourceShape], ChecksShape]:
    shape: dict[str, Any] = answered_as_dict(answered)
    cited = [SourceShape.model_validate(one) for one in shape["sources"] if one["cited"]]
    return cited, ChecksShape.model_validate(shape["checks"])


def _usage(chat: _Chat, answered: Answered) -> ChatUsage:
    written = estimate_tokens(answered.answer.text)
    counted = answered.answer.usage.tokens
    read = max(counted - written, 0) if counted else estimate_tokens(chat.question.query)
    return ChatUsage(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)


def _streamed(chat: _Chat, backend: Backend, caller: Caller) -> EventStream:
    def work(stop: Event) -> Generator[str]:
        backend.graph.check()
        with closing(asking.ask(backend, chat.question, caller, stop, chat.earlier)) as steps:
            yield from _told(_chunks(chat, steps), chat.request_id)

    return EventStream(work, backend.workers, backend.options.heartbeat_seconds)


def _chunks(chat: _Chat, steps: Iterator[asking.Step]) -> Iterator[dict[str, Any]]:
    start = (chat.id, chat.created, chat.model)
    begun = False
    for step in steps:
        if isinstance(step, Ranking) and not begun:
            begun = True
            yield chunk(*start, {"role": "assistant", "content": ""})
        elif isinstance(step, Answered):
            for piece in _PIECE.findall(step.answer.text):
                yield chunk(*start, {"content": piece})
            citations, checks = _beside(step)
            beside = {
                "citations": [one.model_dump() for one in citations],
                "checks": checks.model_dump(),
            }
            yield {**chunk(*start, {}, "stop"), **beside}
            if chat.with_usage:
                usage = _usage(chat, step).model_dump()
                yield {**chunk(*start, {}), "choices": [], "usage": usage}


def _told(chunks: Iterator[dict[str, Any]], request_id: str) -> Generator[str]:
    """Encode the chunks; an error behind the first one is told in the stream, which then ends."""
    begun = False
    try:
        for one in chunks:
            begun = True
            yield f"data: {json.dumps(one, ensure_ascii=False, allow_nan=False)}\n\n"
    except Exception as error:
        if begun:
            found = problem(error)
            log_problem(error, found)
            yield f"data: {found.body(request_id).model_dump_json()}\n\n"
            if found.code != "internal":
                return
        raise
    yield _DONE
