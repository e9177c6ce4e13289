"""What the endpoints work with, and how they get it."""

from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from anyio import CapacityLimiter
from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from agents.threads import Threads
from app.http.errors import Refusal
from app.http.graph_gate import GraphGate
from app.http.guard import Caller
from app.http.jobs import Jobs
from app.http.keys import KeyFile
from app.http.metrics import Metrics
from app.http.options import HttpOptions
from app.http.page_images import PageImages
from app.systems import chat_model
from app.threads import open_threads
from app.wiring import App

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class Backend:
    """An opened application, and what a server keeps beside it."""

    def __init__(self, app: App, options: HttpOptions) -> None:
        """Set it up; nothing is connected or loaded yet."""
        self.app = app
        self.options = options
        self.keys = KeyFile(app.settings.data_dir)
        self.metrics = Metrics()
        self.graph = GraphGate(app.store.check_server)
        self.workers = CapacityLimiter(options.workers)
        self.jobs = Jobs(app)
        self.page_images = PageImages()
        self._stack = ExitStack()

    @cached_property
    def threads(self) -> Threads:
        """The conversations that are kept.

        Raises:
            ConfigurationError: They cannot be opened.
        """
        return self._stack.enter_context(open_threads(self.app.settings))

    def close(self) -> None:
        """Close what was opened here."""
        self._stack.close()

    @cached_property
    def chat(self) -> "BaseChatModel | None":
        """The chat model that is set, or None for extractive answers.

        Raises:
            ConfigurationError: It cannot be loaded.
        """
        return chat_model(self.app.settings.model, self.app.settings)


def _backend(request: Request) -> Backend:
    return request.app.state.backend


_Bearer = HTTPBearer(
    auto_error=False, scheme_name="key", description="From `milepost keys add NAME`."
)


def _caller(
    request: Request,
    _: Annotated[HTTPAuthorizationCredentials | None, Security(_Bearer)] = None,
) -> Caller:
    # The guard has checked the key; the parameter is there for the description.
    return request.state.caller


BackendOf = Annotated[Backend, Depends(_backend)]
"""The server's backend."""

CallerOf = Annotated[Caller, Depends(_caller)]
"""Who calls."""


def _ingesting(caller: CallerOf) -> Caller:
    if not caller.ingest:
        raise Refusal(
            403,
            "no_ingest_right",
            "Documents are changed with a key that may: `milepost keys add NAME --ingest`.",
        )
    return caller


IngestingCallerOf = Annotated[Caller, Depends(_ingesting)]
"""Who calls, having the right to change documents."""


def _graph(backend: BackendOf) -> Backend:
    backend.graph.check()
    return backend


GraphOf = Annotated[Backend, Depends(_graph)]
"""The server's backend, once the graph answers."""
