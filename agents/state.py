"""What a machine knows while it runs: plain JSON values, so that any checkpointer keeps them.

People read this in LangGraph Studio and may change it there and run on from it. So it holds no
vectors, and no rights: what the caller may see comes from the context.
"""

from typing import Annotated, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from agents.answer import Answer
from agents.budget import Budget
from graph.model import Ranking, Route
from router.retrieve import Guidance

Json = dict[str, object]
"""The JSON form of one of our values."""


class Input(TypedDict):
    """What a run is started with."""

    question: str


class Draft(TypedDict):
    """An answer before its citations are checked."""

    text: str
    extractive: bool
    shown: int
    """How many of the hits it was made from: the first ones."""
    llm_calls: int
    tokens: int
    stopped: NotRequired[str | None]
    """`agents.answer.Answer.stopped`."""


def merged(known: dict[str, float], added: dict[str, float]) -> dict[str, float]:
    """Add a node's times to those of the nodes before it."""
    return {**known, **added}


class State(TypedDict):
    """Everything; each node adds its part, and what is after it in the machine may rely on it."""

    question: str
    route: list[Json]
    """Added by `route`: `graph.model.Route`, most likely first."""
    guidance: Json | None
    """Added by `route`: `router.retrieve.Guidance`, for systems that look at what is asked."""
    ranking: Json
    """Added by `retrieve`: `graph.model.Ranking`."""
    budget: Json
    """What machines with several calls have spent: `agents.budget.Budget`."""
    messages: list[Json]
    """Of machines that talk with a model over several rounds: LangChain's `messages_to_dict`."""
    scope_tools: list[Json]
    """Of machines with tools, added by `begin`: `agents.tool_search.ScopeTool`."""
    conclusion: str | None
    """What the model of such a machine says in the end; None while it calls tools."""
    draft: Draft
    """Added by `answer`."""
    answer: Json
    """Added by `check`: `agents.answer.Answer`."""
    timings_ms: Annotated[dict[str, float], merged]
    """Wall-clock milliseconds by stage; each node adds its own."""


class Output(TypedDict):
    """What a run gives back."""

    ranking: Json
    answer: Json
    timings_ms: dict[str, float]


ROUTE = TypeAdapter(tuple[Route, ...])
GUIDANCE: TypeAdapter[Guidance | None] = TypeAdapter(Guidance | None)
RANKING = TypeAdapter(Ranking)
ANSWER = TypeAdapter(Answer)
BUDGET = TypeAdapter(Budget)
"""From our values to their JSON form and back: `dump_python(…, mode="json")`, `validate_python`."""
