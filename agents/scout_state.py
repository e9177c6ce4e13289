"""What SCOUT-RAG knows while it runs, and the shapes of what its agents reply."""

from typing import Annotated

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from agents.multistep import Several, extended
from agents.scout import Tier
from agents.structured import Asked


class Task(TypedDict):
    """A question for a domain."""

    domain: str
    question: str


class Partial(Task):
    """What a domain answers."""

    text: str


class Assessed(TypedDict):
    """An answer and how good it is."""

    text: str
    quality: float | None
    """In [0, 1]; None where it could not be judged."""


class ScoutState(Several):
    """The state of SCOUT-RAG."""

    tiers: dict[str, Tier]
    """Added by `assess_domains`."""
    tasks: list[Task]
    """Of the next round; by `assess_domains`, then by `choose_tasks`."""
    partials: Annotated[list[Partial], extended]
    """By `answer_partially`, round by round."""
    fresh: int
    """How many of them are of the last round."""
    candidate: str
    """The newest answer; by `synthesize`."""
    completeness: float
    breadth: float
    follow_ups: list[str]
    """All three by `assess_quality`."""
    assessed: Annotated[list[Assessed], extended]
    """Every answer with its quality."""


class Tiers(BaseModel):
    """What domain relevance assessment replies."""

    tiers: dict[str, Tier]


class Quality(BaseModel):
    """What answer quality assessment replies."""

    completeness: float = Field(ge=0, le=1)
    breadth: float = Field(ge=0, le=1)
    follow_ups: list[Asked] = []
