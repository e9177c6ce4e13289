"""Every machine by name; a machine is imported when it is first built."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from graph.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph

    from agents.context import Context
    from agents.state import Input, Output, State

DEFAULT = "soft_scoped"

MACHINES: Mapping[str, str] = {
    "soft_scoped": "one search along the likeliest scopes, then one call",
    "single_call": "a search in every scope, then one call that reads it all",
    "masdr": "an agent with tools, a search per scope, 5 rounds",
    "react": "the same tools by plain text: any model, 6 steps",
    "langchain_react": "LangChain's own agent with the same tools",
    "ma_rag": "planner, step definer, extractor, answerer: step by step",
    "scout_rag": "widens the search by scopes while the answer gets better",
}
"""Machines by name, the default first, each with a line on how it works. The name is that of the
module in this package whose `build` makes it."""

WITHOUT_CHAT_MODEL = frozenset({DEFAULT, "single_call", "ma_rag", "scout_rag"})
"""Machines that can answer without a chat model, too."""


@cache
def build(name: str) -> CompiledStateGraph[State, Context, Input, Output]:
    """Return a machine; it is built once, and may be used by many threads at once.

    Raises:
        UsageError: There is no such machine.
    """
    check_name(name)
    return import_module(f"agents.{name}").build()


def check_name(name: str) -> None:
    """Refuse a name that no machine has.

    Raises:
        UsageError: There is no such machine.
    """
    if name not in MACHINES:
        raise UsageError(f"There is no machine {name!r}. The machines are {', '.join(MACHINES)}.")


def check_chat_model(name: str, chat: BaseChatModel | None) -> None:
    """Refuse to run a machine that talks with a chat model without one.

    Raises:
        ConfigurationError: It needs a chat model.
    """
    if chat is None and name not in WITHOUT_CHAT_MODEL:
        raise ConfigurationError(
            f"The machine {name} works with a chat model, and none is set. Name one with --model "
            f"or MILEPOST_MODEL, such as openai:gpt-5-mini, or use --machine {DEFAULT}."
        )
