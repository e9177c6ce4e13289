"""Asks a chat model for JSON of a given shape; what is malformed is asked for once more.

Small models wrap JSON in prose, fences or thoughts, so the first JSON value in the reply counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from agents.chat import complete
from agents.context import Limits

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

T = TypeVar("T")

Asked = Annotated[str, Field(max_length=2_000, pattern=r"[^\W_]")]
"""A question that a model wrote: it can be searched for."""

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_AGAIN = (
    "That could not be read: {problem}. Reply once more with nothing but the JSON asked for, "
    "without a code fence and without any words around it."
)
_LONGEST_PROBLEM = 300
"""Characters of what was wrong, and of what is wrong with it, that the model is told."""


@dataclass(frozen=True, slots=True)
class Structured(Generic[T]):
    """What a chat model replied, and what the reply cost."""

    value: T | None
    """None where the second reply was malformed, too."""
    llm_calls: int
    tokens: int


def ask_json(
    chat: BaseChatModel, messages: Sequence[BaseMessage], shape: TypeAdapter[T], limits: Limits
) -> Structured[T]:
    """Ask for JSON, twice at most.

    Raises:
        ModelError: The model failed.
    """
    from langchain_core.messages import AIMessage, HumanMessage  # heavy

    first = complete(chat, messages, limits)
    value, problem = parse(first.text, shape)
    if problem is None:
        return Structured(value, 1, first.tokens)
    again = HumanMessage(_AGAIN.format(problem=problem))
    second = complete(chat, [*messages, AIMessage(first.text[:_LONGEST_PROBLEM]), again], limits)
    value, _ = parse(second.text, shape)
    return Structured(value, 2, first.tokens + second.tokens)


def parse(text: str, shape: TypeAdapter[T]) -> tuple[T | None, str | None]:
    """Return the first JSON object in a text, or None and what is wrong with it."""
    text = _THINKING.sub("", text)
    start = text.find("{")
    if start < 0:
        return None, "it holds no JSON object"
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
        return shape.validate_python(value), None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return None, f"{place}: {first['msg']}"[:_LONGEST_PROBLEM]
    except (ValueError, RecursionError) as error:
        return None, f"it is no JSON ({error})"[:_LONGEST_PROBLEM]
