"""Loads a chat model by name and calls it, with errors that a person can act on.

The model is any of `langchain.chat_models.init_chat_model`; whatever server it talks to, what that
server sends with an error (HTML pages, stack traces, keys) is never shown.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agents.context import Limits
from agents.passages import estimate_tokens
from graph.errors import ConfigurationError, ModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel, LanguageModelInput
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable

T = TypeVar("T")

EXTRACTIVE = "extractive"
"""The name that asks for no chat model at all."""

TEMPERATURE = 0.2
TOP_P = 0.9
ROUTING_TEMPERATURE = 0.0
"""All three as in the dilution paper, appendix A10."""

_WORTH_ANOTHER_CALL = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class Completion:
    """What a chat model wrote."""

    text: str
    tokens: int
    """Read and written, as reported; estimated where nothing is reported."""


def load_chat_model(
    name: str,
    *,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    temperature: float = TEMPERATURE,
    timeout_seconds: float = 60.0,
    base_url: str | None = None,
    api_key: str | None = None,
) -> BaseChatModel:
    """Load a chat model; nothing is sent to it yet.

    Args:
        name: `PROVIDER:MODEL` of `init_chat_model`, such as "openai:gpt-5-mini". With `base_url`,
            "openai:NAME" means that model on any OpenAI-compatible server.
        limits: `answer_tokens` bounds what it writes.
        temperature: At least 0; `ROUTING_TEMPERATURE` for choices.
        timeout_seconds: For one call.
        base_url: Address of the server, where it is not the provider's own.
        api_key: Where None, the provider's package looks for its own environment variable.

    Raises:
        ConfigurationError: The provider is unknown, its package is not installed, or it refuses
            the settings (mostly: no key).
    """
    from langchain.chat_models import init_chat_model  # heavy

    if not name.rpartition(":")[2].strip():
        raise ConfigurationError(_unknown(name))
    options: dict[str, Any] = {
        "temperature": temperature,
        "top_p": TOP_P,
        "max_tokens": limits.answer_tokens,
        "timeout": timeout_seconds,
        "max_retries": 0,  # `complete` retries, for all providers alike and in bounded time
    }
    server = {"base_url": base_url, "api_key": api_key}
    options |= {key: value for key, value in server.items() if value is not None}
    try:
        return cast("BaseChatModel", init_chat_model(name, **options))
    except ImportError as error:
        raise ConfigurationError(_missing_package(name, error)) from error
    except Exception as error:
        raise ConfigurationError(_refused(name, error)) from error


def complete(model: BaseChatModel, messages: Sequence[BaseMessage], limits: Limits) -> Completion:
    """Ask a chat model once; a call that failed for a passing reason is repeated.

    Raises:
        ModelError: It failed for good, or `limits` allow no further call.
    """
    message = repeated(lambda: model.invoke(list(messages)), limits)
    return Completion(str(message.text), count_tokens(message, messages))


def bind_tools(
    model: BaseChatModel, tools: Sequence[dict[str, Any]]
) -> Runnable[LanguageModelInput, AIMessage]:
    """Return the model as one that may call functions, given in OpenAI's form.

    Raises:
        ConfigurationError: Its LangChain package has no function calling.
    """
    try:
        return model.bind_tools(tools)
    except NotImplementedError as error:
        raise ConfigurationError(
            "This chat model has no function calling: use --machine react, which needs none, or "
            "another --model."
        ) from error


def repeated(call: Callable[[], T], limits: Limits) -> T:
    """Call a chat model; a call that failed for a passing reason is repeated.

    Raises:
        ModelError: It failed for good, or `limits` allow no further call.
    """
    deadline = time.monotonic() + limits.total_seconds
    pause = limits.pause_seconds
    attempt = 1
    while True:
        try:
            return call()
        except Exception as error:
            over = attempt >= limits.attempts or time.monotonic() + pause > deadline
            if over or not _is_passing(error):
                raise ModelError(_failed(error)) from error
        time.sleep(pause)
        attempt, pause = attempt + 1, pause * 2


def count_tokens(reply: AIMessage, messages: Sequence[BaseMessage]) -> int:
    """Return the tokens read and written, as reported; estimated where nothing is reported."""
    if reply.usage_metadata:
        return reply.usage_metadata["total_tokens"]
    return sum(map(estimate_message, (*messages, reply)))


def estimate_message(message: BaseMessage) -> int:
    """Estimate the tokens of a message, with the calls of tools that it asks for."""
    calls = getattr(message, "tool_calls", None)
    return estimate_tokens(str(message.text)) + (estimate_tokens(str(calls)) if calls else 0)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it: providers' packages wrap each other's errors."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _status(error: BaseException) -> int | None:
    """Return the HTTP status, which every provider keeps under one of two names."""
    for cause in _chain(error):
        for name in ("status_code", "code"):
            value: object = getattr(cause, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _named(error: BaseException, part: str) -> bool:
    return any(part in type(cause).__name__ for cause in _chain(error))


def _is_passing(error: BaseException) -> bool:
    status = _status(error)
    if status is not None:
        return status in _WORTH_ANOTHER_CALL
    return _named(error, "Timeout") or _named(error, "Connect")


def _failed(error: BaseException) -> str:
    status = _status(error)
    if status in (401, 403):
        return f"The chat model refused the key (HTTP {status}): check the key in the settings."
    if status == 404:
        return (
            "The chat model is not known to its server (HTTP 404): check --model and the address."
        )
    if status == 429:
        return "The chat model is rate limited (HTTP 429): wait a minute, or use another --model."
    if status is not None and status >= 500:
        return f"The chat model's server failed (HTTP {status}): try again, or use another --model."
    if status is not None:
        return (
            f"The chat model refused the request (HTTP {status}): check --model and its settings."
        )
    if _named(error, "Timeout"):
        return "The chat model did not answer in time: try again, or raise its time limit."
    if _named(error, "Connect"):
        return "The chat model cannot be reached: check its address and that its server runs."
    kind = type(error).__name__
    return (
        f"The chat model failed ({kind}): try another --model, or {EXTRACTIVE}, which needs none."
    )


def _missing_package(name: str, error: ImportError) -> str:
    package = re.search(r"(?:install(?: -U)? `?|requires the )([a-z][\w-]+)", str(error))
    what = package.group(1) if package else "its provider's LangChain package"
    return f"The chat model {name} needs a package that is not installed: run pip install {what}"


def _unknown(name: str) -> str:
    return (
        f"Unknown chat model {name!r}: write PROVIDER:MODEL, such as openai:gpt-5-mini, "
        f"or {EXTRACTIVE}, which needs no model."
    )


def _refused(name: str, error: Exception) -> str:
    text = str(error)
    if "infer" in text or "nsupported" in text:
        return _unknown(name)
    if "key" in text.lower():
        return (
            f"The chat model {name} needs a key: set MILEPOST_MODEL_API_KEY, to any word where a "
            "server of your own asks for none."
        )
    return f"The chat model {name} cannot be set up ({type(error).__name__}): check its settings."
