"""Threads: conversations that are kept, each a thread of a LangGraph checkpointer.

A thread belongs to the caller who began it: the caller's name is part of the key under which it is
kept, so nobody can name another's. Each turn keeps the audiences it was answered for; to a caller
who does not hold them all any more it is not there, neither to be read nor to be asked back to.
"""

from __future__ import annotations

import json
import operator
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

from typing_extensions import TypedDict

from agents.answer import Answered
from graph.errors import UsageError
from graph.model import Filter

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.graph.state import CompiledStateGraph

MOST_TURNS = 200
"""Of one thread; a conversation that is longer is about something else by now."""

MOST_LISTED = 100
"""Threads of one caller that are listed: those that were used last."""

_TITLE = 120
"""Characters of the first question that name a thread."""


class Source(TypedDict):
    """A passage that an answer cited."""

    n: int
    chunk_id: str
    document: str
    section: str
    pages: list[int]


class Turn(TypedDict):
    """A question and its answer."""

    asked: str
    """As typed."""
    question: str
    """As it was searched: standing alone."""
    answer: str
    """Checked."""
    supported: bool
    sources: list[Source]
    collection: str
    audiences: list[str]
    """That the caller held; whoever does not hold them all does not see the turn."""
    at: str
    """ISO 8601, UTC."""


class Conversation(TypedDict):
    """What a thread keeps."""

    turns: Annotated[list[Turn], operator.add]


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A thread in a list."""

    id: str
    title: str
    """Its first question."""
    turns: int
    updated_at: str


class Threads:
    """The threads of all callers. Safe to use from several threads and processes."""

    def __init__(self, checkpointer: BaseCheckpointSaver[Any]) -> None:
        """Keep threads in a checkpointer that has been set up, and stays the caller's to close."""
        self._checkpointer = checkpointer
        self._graph = _build(checkpointer)

    def turns(self, owner: str, id: str, where: Filter) -> list[Turn]:
        """Return the turns of a thread that the caller may see, oldest first.

        Args:
            owner: Name of the caller.
            id: Of the thread.
            where: Its audiences must cover those of a turn. Of its other fields none counts.

        Raises:
            UsageError: The caller has no such thread.
        """
        return [turn for turn in self._all(owner, id) if visible(turn, where)]

    def add(self, owner: str, id: str, turn: Turn) -> None:
        """Keep a turn, in a new thread if there is none of this id.

        Raises:
            UsageError: The thread is full.
        """
        known = self._state(owner, id)
        if len(known) >= MOST_TURNS:
            raise UsageError(f"The thread has {MOST_TURNS} turns: begin a new one.")
        title = (known[0] if known else turn)["asked"][:_TITLE]
        config = _config(owner, id)
        config["metadata"] = {
            "owner": owner,
            "title": title,
            "turns": len(known) + 1,
            # In one text: a checkpointer keeps no lists here.
            "audiences": json.dumps(sorted({*_audiences(known), *turn["audiences"]})),
        }
        self._graph.invoke({"turns": [turn]}, config, durability="exit")

    def list(self, owner: str, where: Filter) -> list[ThreadSummary]:
        """Return the caller's threads, the one used last first.

        A thread is listed as it was before the first turn that the caller may not see any more,
        and not at all if that is its first one.
        """
        found: dict[str, ThreadSummary] = {}
        for kept in self._checkpointer.list(None, filter={"owner": owner}):
            key = str(kept.config.get("configurable", {}).get("thread_id"))
            if key in found:
                continue  # older
            said = cast("Mapping[str, Any]", kept.metadata)
            if len(found) >= MOST_LISTED:
                break
            if set(json.loads(str(said["audiences"]))) <= set(where.audiences):
                found[key] = ThreadSummary(
                    id=key.removeprefix(f"{owner}/"),
                    title=str(said.get("title", "")),
                    turns=int(said.get("turns", 0)),
                    updated_at=str(kept.checkpoint["ts"]),
                )
        return list(found.values())

    def delete(self, owner: str, id: str) -> None:
        """Forget a thread.

        Raises:
            UsageError: The caller has no such thread.
        """
        self._all(owner, id)
        self._checkpointer.delete_thread(_key(owner, id))

    def _all(self, owner: str, id: str) -> Sequence[Turn]:
        turns = self._state(owner, id)
        if not turns:
            raise UsageError(f"There is no thread {id!r}.")
        return turns

    def _state(self, owner: str, id: str) -> Sequence[Turn]:
        return self._graph.get_state(_config(owner, id)).values.get("turns", [])


def new_id() -> str:
    """Return the id of a new thread, which nobody can guess."""
    return secrets.token_urlsafe(16)


def turn_of(asked: str, answered: Answered) -> Turn:
    """Return what is kept of a question and its answer."""
    where = answered.ranking.query.filter
    answer = answered.answer
    return Turn(
        asked=asked,
        question=answered.ranking.query.text,
        answer=answer.text,
        supported=answer.supported,
        sources=[
            Source(
                n=source.n,
                chunk_id=source.passage.chunk_id,
                document=source.passage.document,
                section=source.passage.heading,
                pages=[
                    page
                    for page in (source.passage.page_start, source.passage.page_end)
                    if page is not None
                ],
            )
            for source in answer.sources
            if source.cited
        ],
        collection=where.collection,
        audiences=list(where.audiences),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def visible(turn: Turn, where: Filter) -> bool:
    """Tell whether a caller may see a turn."""
    return set(turn["audiences"]) <= set(where.audiences)


def questions(turns: Sequence[Turn], where: Filter) -> list[str]:
    """Return the questions of a collection that a follow-up may lean on, oldest first."""
    return [turn["question"] for turn in turns if turn["collection"] == where.collection]


def _audiences(turns: Sequence[Turn]) -> list[str]:
    return [audience for turn in turns for audience in turn["audiences"]]


def _key(owner: str, id: str) -> str:
    return f"{owner}/{id}"


def _config(owner: str, id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": _key(owner, id)}}


def _build(
    checkpointer: BaseCheckpointSaver[Any],
) -> CompiledStateGraph[Conversation, None, Conversation, Conversation]:
    from langgraph.graph import END, START, StateGraph

    def keep(state: Conversation) -> dict[str, list[Turn]]:
        return {"turns": []}  # the turn came with the input, and is in the state

    machine = StateGraph(Conversation)
    machine.add_node("keep", keep)
    machine.add_edge(START, "keep")
    machine.add_edge("keep", END)
    return machine.compile(checkpointer=checkpointer)
