"""What the nodes of a machine work with: handed to each run, never kept in its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from graph.errors import ConfigurationError
from graph.model import Filter
from graph.ports import Embedder, Store
from router.retrieve import System

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer may cost."""

    context_tokens: int = 8_000
    """What the chat model reads and writes together; `passages.fit` estimates and keeps to it."""
    answer_tokens: int = 1_024
    """Longest answer, as in the dilution paper."""
    attempts: int = 3
    """Calls of a chat model that is overloaded, rate limited or out of reach."""
    pause_seconds: float = 1.0
    """Before the second call; each further pause is twice as long."""
    total_seconds: float = 120.0
    """No further attempt is begun that would end after this."""
    rounds: int = 5
    """In which a model with function calling may call tools, as in the dilution paper."""
    steps: int = 6
    """Thoughts with an action in text ReAct, as in the dilution paper."""
    tool_calls: int = 12
    """Of one run, however many a round has."""
    repeats: int = 2
    """Calls with the same tool and arguments as an earlier one; none is run again."""
    run_tokens: int = 60_000
    """Read and written in all calls of one run; from here on it only answers."""
    run_seconds: float = 180.0
    """Of all steps of one run; from here on it only answers."""


@dataclass(frozen=True, slots=True)
class Context:
    """The collaborators of one run."""

    system: System
    """How passages are found. Its errors are not caught: see `agents.nodes`."""
    embedder: Embedder
    """The one that `system` uses; best an `agents.memory.RememberingEmbedder`, as it is asked for
    the question's vector more than once."""
    chat: BaseChatModel | None = None
    """None for extractive answers."""
    filter: Filter = field(default_factory=Filter)
    """What the caller may see. Given by the caller's rights, so it is not part of the input."""
    k: int = 10
    """Hits to retrieve."""
    limits: Limits = Limits()
    store: Store | None = None
    """The graph, for machines that read its scopes, sections and editions; `agents.soft_scoped`
    needs none."""

    @property
    def graph(self) -> Store:
        """Return the store.

        Raises:
            ConfigurationError: The run was given none.
        """
        if self.store is None:
            raise ConfigurationError("This machine reads the graph: give its context a store.")
        return self.store


class Run(Protocol):
    """The part of LangGraph's `Runtime` that nodes use."""

    @property
    def context(self) -> Context:
        """The collaborators of this run."""
        ...
