"""Runs a machine for one question and gives its result as values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from agents.answer import Answered
from agents.context import Context
from agents.state import ANSWER, RANKING, Input, Output, State

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


def ask(
    machine: CompiledStateGraph[State, Context, Input, Output], question: str, context: Context
) -> Answered:
    """Answer a question.

    Args:
        machine: Such as `agents.soft_scoped.build()`; it may be used by many threads at once.
        question: As typed.
        context: What this caller's run works with.

    Raises:
        UsageError: The question is empty or too long.
        ModelError: A model failed.
        StoreError: The graph cannot be searched.
    """
    result = cast(Output, machine.invoke({"question": question}, context=context))
    ranking = RANKING.validate_python(result["ranking"])
    return Answered(
        replace(ranking, timings_ms=result["timings_ms"]),
        ANSWER.validate_python(result["answer"]),
    )
