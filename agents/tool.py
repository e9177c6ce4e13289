"""What a tool is: a name, arguments, and what it finds. `agents.tools` runs them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.passages import LINE_MARK, disarm
from graph.model import Hit, ListRank, Passage


class Arguments(BaseModel):
    """Base of the arguments of a tool: others than those named are refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


@dataclass(frozen=True, slots=True)
class Found:
    """A part of what a tool finds."""

    hits: tuple[Hit, ...] = ()
    """Passages, to be shown under their numbers."""
    about: str = ""
    """What is said before them; what it takes from documents is `quoted`."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a chat model may call."""

    name: str
    """Letters, digits and underscores, at most 64 of them, as every provider takes it."""
    description: str
    arguments: type[Arguments]
    find: Callable[[Any], Iterable[Found]]
    """Given valid arguments. A UsageError is told to the model; all others end the run."""

    def as_function(self) -> dict[str, Any]:
        """Return the tool in OpenAI's form, which every provider's package translates."""
        schema = self.arguments.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)  # the docstring, which is for us
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": schema,
            },
        }

    @property
    def first_argument(self) -> str:
        """Return the name of the argument that is meant where only one value is given."""
        return next(iter(self.arguments.model_fields))


def quoted(text: str) -> str:
    """Return a text that may hold words of documents, fenced as passages are."""
    lines = [LINE_MARK + line for line in disarm(text).splitlines() if line.strip()]
    return "\n".join(lines)


def as_hits(passages: Sequence[Passage], list_name: str) -> tuple[Hit, ...]:
    """Return passages that were read rather than searched for as hits of one list."""
    return tuple(
        Hit(passage, {list_name: ListRank(rank, 1.0)}, 0.0)
        for rank, passage in enumerate(passages, start=1)
    )


def what_is_wrong(error: ValidationError) -> str:
    """Return the first thing that is wrong with arguments, for the model that gave them."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
