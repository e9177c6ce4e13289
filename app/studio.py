"""The machines as LangGraph Studio opens them: `langgraph dev`, by way of langgraph.json.

Studio starts a run with JSON, and a machine's nodes work with an `agents.context.Context` of live
objects. So a machine here is told its choices as JSON, and makes the context itself when a run
begins. The graph is opened by the first run, in a thread, and kept until the server ends: opening
Studio and drawing a machine needs no database, no model and no key.

Studio is for whoever runs the database on their own machine: it answers from public documents only.
"""

import asyncio
import atexit
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Lock
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from pydantic import TypeAdapter

from agents import machines
from agents.context import Context
from agents.state import Input, Output, State
from app import settings
from app.systems import chat_model
from app.wiring import App, open_app
from graph.errors import MilepostError, UsageError
from graph.model import Filter


@dataclass(frozen=True, slots=True)
class Choices:
    """What a run in Studio may choose; Studio shows them as the assistant's context."""

    system: str | None = None
    """Retrieval system; empty means the one that is set with MILEPOST_SYSTEM."""
    model: str | None = None
    """Chat model, or "extractive"; empty means the one that is set with MILEPOST_MODEL."""
    collection: str = "default"
    k: int = 10
    """Passages to answer from."""


class Shared:
    """The graph and the embedder, opened by whoever needs them first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._closing = ExitStack()
        self._app: App | None = None

    def app(self) -> App:
        """Return what is open; a failure to open is raised, and tried again the next time.

        Raises:
            ConfigurationError: A setting is wrong.
            StoreUnavailable: No Neo4j answers.
            SchemaMismatch: The server or the schema is too old.
        """
        with self._lock:
            if self._app is None:
                self._app = self._closing.enter_context(open_app(settings.load()))
                atexit.register(self.close)
            return self._app

    def close(self) -> None:
        """Close what is open."""
        with self._lock:
            self._app = None
            self._closing.close()


SHARED = Shared()
_CHOICES = TypeAdapter(Choices)


def open_context(choices: Choices, machine: str) -> Context:
    """Return what a run of a machine works with.

    Raises:
        UsageError: There is no such system, or nothing in the collection.
        ConfigurationError: The chat model cannot be loaded, or the machine needs one.
        StoreError: The graph cannot be opened.
    """
    app = SHARED.app()
    chat = chat_model(choices.model or app.settings.model, app.settings)
    machines.check_chat_model(machine, chat)
    where = Filter(choices.collection)
    if not app.store.list_scopes(where):
        raise UsageError(
            f"Collection {choices.collection!r} holds no public document. Ingest some with "
            "`milepost ingest FOLDER`, or choose another collection."
        )
    return Context(
        system=app.system(choices.system),
        embedder=app.embedder,
        chat=chat,
        filter=where,
        k=choices.k,
        store=app.store,
        limits=app.limits,
    )


class StudioMachine(CompiledStateGraph[State, Context, Input, Output]):
    """A machine that takes its choices as JSON. The server runs it by `astream` alone."""

    async def astream(
        self, *arguments: Any, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """Open what the run works with, away from the event loop, and run the machine.

        Raises:
            RuntimeError: What went wrong and what to do: of other errors the server shows the name.
        """
        chosen = _CHOICES.validate_python(context or {})
        try:
            opened = await asyncio.to_thread(open_context, chosen, self.name)
            async for event in super().astream(*arguments, context=opened, **options):
                yield event
        except MilepostError as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error


def for_studio(name: str) -> StudioMachine:
    """Return a machine that Studio can run: its nodes and edges stay as they are."""
    parts: dict[str, Any] = vars(machines.build(name)) | {"name": name, "context_schema": Choices}
    return StudioMachine(**parts)


soft_scoped = for_studio("soft_scoped")
single_call = for_studio("single_call")
masdr = for_studio("masdr")
react = for_studio("react")
langchain_react = for_studio("langchain_react")
ma_rag = for_studio("ma_rag")
scout_rag = for_studio("scout_rag")
