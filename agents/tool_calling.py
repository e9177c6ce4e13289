"""What machines share whose chat model calls tools: begin, act, answer, and when to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Literal, cast

from agents.budget import Budget
from agents.chat import estimate_message
from agents.context import Context, Run
from agents.passages import estimate_tokens
from agents.state import BUDGET, RANKING, Draft, Json, State
from agents.synthesis import synthesize
from agents.tool_search import SCOPE_TOOLS, scope_tools
from agents.tools import LEAST_ROOM, Toolbox
from graph.errors import ConfigurationError, UsageError
from graph.model import Hit, Query, Ranking

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

Update = Mapping[str, object]
"""Values for some of the state's keys."""

_OVERHEAD = 200
"""Tokens for what chat templates add to messages and tools."""


def begin(state: State, runtime: Run) -> Update:
    """Lay out the tools; nothing is found or spent yet."""
    started = perf_counter()
    context = runtime.context
    needed_chat(context)
    tools = scope_tools(context.graph, context.filter)
    nothing = Ranking(Query(state["question"], context.filter), context.system.name, ())
    return {
        "scope_tools": SCOPE_TOOLS.dump_python(tools, mode="json"),
        "ranking": RANKING.dump_python(nothing, mode="json"),
        "messages": [],
        "budget": BUDGET.dump_python(Budget(), mode="json"),
        "timings_ms": {
            **dict.fromkeys(state.get("timings_ms", {}), 0.0),  # of an earlier turn of a thread
            "begin": round((perf_counter() - started) * 1000, 3),
        },
    }


def answer(state: State, runtime: Run) -> Update:
    """Take the model's last words as the draft; where a limit ended the search, ask for one.

    The model is then shown what was found, as in `agents.soft_scoped`, and cannot call tools.
    """
    started = perf_counter()
    context = runtime.context
    budget = budget_of(state)
    hits = found(state)
    text = state.get("conclusion")
    if text is not None:
        draft = Draft(text=text, extractive=False, shown=len(hits), llm_calls=0, tokens=0)
    else:
        draft = synthesize(state["question"], hits, needed_chat(context), context.limits)
        draft["stopped"] = budget.ended
    draft["llm_calls"] += budget.llm_calls
    draft["tokens"] += budget.tokens
    return {"draft": draft, "timings_ms": timed(state, "answer", started)}


def budget_of(state: State) -> Budget:
    """Return what was spent so far."""
    return BUDGET.validate_python(state["budget"])


def found(state: State) -> tuple[Hit, ...]:
    """Return what was found so far: `[Source n]` is the n-th."""
    return RANKING.validate_python(state["ranking"]).hits


def needed_chat(context: Context) -> BaseChatModel:
    """Return the chat model.

    Raises:
        ConfigurationError: The run has none.
    """
    if context.chat is None:
        raise ConfigurationError("This machine works with a chat model: set MILEPOST_MODEL.")
    return context.chat


def open_toolbox(state: State, context: Context, room: int) -> Toolbox:
    """Return the tools, knowing what was found and spent so far."""
    scopes = SCOPE_TOOLS.validate_python(state["scope_tools"])
    return Toolbox(context, scopes, room=room, hits=found(state), budget=budget_of(state))


def room_left(context: Context, messages: Sequence[BaseMessage], tools: str) -> int:
    """Return how many tokens the model's context still has for results.

    Args:
        context: Of the run.
        messages: What is sent.
        tools: Descriptions of the tools that are sent beside.
    """
    limits = context.limits
    sent = sum(map(estimate_message, messages)) + estimate_tokens(tools) + _OVERHEAD
    return limits.context_tokens - limits.answer_tokens - sent


def check_room(context: Context, messages: Sequence[BaseMessage], tools: str) -> None:
    """Refuse a question that leaves no room for any result.

    Args:
        context: Of the run.
        messages: That open the conversation.
        tools: Descriptions of the tools that are sent beside.

    Raises:
        UsageError: It leaves none.
    """
    if room_left(context, messages, tools) < 2 * LEAST_ROOM:
        raise UsageError(
            f"The chat model reads {context.limits.context_tokens} tokens with its answer, and "
            "question and tools leave no room for passages: raise MILEPOST_MODEL_CONTEXT where "
            "the model reads more, shorten the question, or use --machine soft_scoped."
        )


def ranked(state: State, toolbox: Toolbox) -> Json:
    """Return the ranking with what the tools have found, in the order in which it was."""
    ranking = RANKING.validate_python(state["ranking"])
    return RANKING.dump_python(replace(ranking, hits=tuple(toolbox.hits)), mode="json")


def messages_of(state: State) -> list[BaseMessage]:
    """Return the conversation so far."""
    from langchain_core.messages import messages_from_dict  # heavy

    return messages_from_dict(state["messages"])


def as_json(messages: Sequence[BaseMessage]) -> list[Json]:
    """Return a conversation in the form that the state keeps."""
    from langchain_core.messages import messages_to_dict  # heavy

    return cast("list[Json]", messages_to_dict(messages))


def stepped(budget: Budget, started: float) -> Json:
    """Return the budget after a step that began at `started`, by `perf_counter`."""
    return BUDGET.dump_python(budget.took(perf_counter() - started), mode="json")


def acted(toolbox: Toolbox, room: int, rounds: int, started: float, context: Context) -> Json:
    """Return the budget after a round of calls, with the limit that ends the search, if one does.

    Args:
        toolbox: That ran the calls.
        room: Tokens left in the model's context.
        rounds: That this machine may take.
        started: When the step began, by `perf_counter`.
        context: Of the run.
    """
    budget = toolbox.budget.took(perf_counter() - started)
    if room < LEAST_ROOM:
        budget = budget.filled()
    return BUDGET.dump_python(budget.checked(context.limits, rounds), mode="json")


def timed(state: State, stage: str, started: float) -> dict[str, float]:
    """Return the milliseconds that a stage has taken in all rounds."""
    before = state.get("timings_ms", {}).get(stage, 0.0)
    return {stage: round(before + (perf_counter() - started) * 1000, 3)}


def after_reason(state: State) -> Literal["act", "answer"]:
    """Go on with the tools that the model asks for, or with its answer."""
    return "answer" if state.get("conclusion") is not None else "act"


def after_act(state: State) -> Literal["reason", "answer"]:
    """Go on with another round, unless a limit is reached."""
    return "answer" if budget_of(state).ended else "reason"
