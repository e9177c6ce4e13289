from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from agents.chat import complete, load_chat_model
from agents.context import Limits
from graph.errors import ConfigurationError, ModelError

QUICK = Limits(attempts=3, pause_seconds=0.001)
HTML = "<!doctype html><html><body><h1>Too many requests</h1></body></html>"


class Refused(Exception):
    """What providers' packages raise: a status and the server's whole answer."""

    def __init__(self, status: int, body: str = HTML) -> None:
        super().__init__(f"Error code: {status} - {body}")
        self.status_code = status


class ReadTimeout(Exception):
    pass


class FailingModel(GenericFakeChatModel):
    """A chat model that replies in order, raising those replies that are errors."""

    replies: list[Any]
    calls: int = 0

    def _generate(self, messages: list[BaseMessage], *args: object, **kwargs: object):
        self.calls += 1
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        self.messages = iter([reply])
        return super()._generate(messages, *args, **kwargs)


def ask(*replies: AIMessage | Exception) -> str:
    return complete(_model(*replies), [HumanMessage("Why?")], QUICK).text


def _model(*replies: AIMessage | Exception) -> FailingModel:
    return FailingModel(messages=iter(()), replies=list(replies))


def test_a_passing_failure_is_tried_again() -> None:
    assert ask(Refused(429), Refused(503), AIMessage("So.")) == "So."


def test_tries_are_limited() -> None:
    model = _model(*[Refused(503)] * 9)
    with pytest.raises(ModelError, match="HTTP 503"):
        complete(model, [HumanMessage("Why?")], QUICK)

    assert model.calls == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_lasting_failure_is_not_tried_again(status: int) -> None:
    model = _model(Refused(status), AIMessage("So."))
    with pytest.raises(ModelError, match=f"HTTP {status}"):
        complete(model, [HumanMessage("Why?")], QUICK)

    assert model.calls == 1


@pytest.mark.parametrize(
    "error", [Refused(429), Refused(500), Refused(400), ReadTimeout(HTML), ValueError(HTML)]
)
def test_what_a_server_sent_is_never_shown(error: Exception) -> None:
    with pytest.raises(ModelError) as raised:
        ask(*[error] * 3)

    assert "<" not in str(raised.value)
    assert len(str(raised.value)) < 120
    assert "\n" not in str(raised.value)


def test_no_call_is_begun_beyond_the_total_time() -> None:
    model = _model(*[Refused(503)] * 9)
    limits = Limits(attempts=9, pause_seconds=0.05, total_seconds=0.01)
    with pytest.raises(ModelError):
        complete(model, [HumanMessage("Why?")], limits)

    assert model.calls == 1


def test_a_timeout_is_called_one() -> None:
    with pytest.raises(ModelError, match="did not answer in time"):
        ask(*[ReadTimeout()] * 3)


def test_a_status_is_found_behind_a_wrapping_error() -> None:
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = Refused(401)
    with pytest.raises(ModelError, match="refused the key"):
        ask(wrapped)


def test_tokens_are_those_that_the_model_reports() -> None:
    usage = {"input_tokens": 70, "output_tokens": 7, "total_tokens": 77}
    reply = AIMessage("So.", usage_metadata=usage)

    assert complete(_model(reply), [HumanMessage("Why?")], QUICK).tokens == 77


def test_tokens_are_estimated_where_none_are_reported() -> None:
    assert complete(_model(AIMessage("abc")), [HumanMessage("abcdef")], QUICK).tokens == 3


def test_text_is_taken_from_content_blocks() -> None:
    blocks = [{"type": "text", "text": "So "}, {"type": "text", "text": "it is."}]

    assert ask(AIMessage(content=blocks)) == "So it is."  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", " ", "nobody", "nobody:nothing", "openai:"])
def test_an_unknown_model_is_named_with_what_to_write(name: str) -> None:
    with pytest.raises(ConfigurationError, match="write PROVIDER:MODEL") as raised:
        load_chat_model(name)

    assert repr(name) in str(raised.value)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ConfigurationError, match="pip install langchain-mistralai"):
        load_chat_model("mistralai:small")


def test_a_missing_key_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="needs a key"):
        load_chat_model("openai:gpt-5-mini")


def test_the_settings_are_those_of_the_paper() -> None:
    model = load_chat_model("openai:any", base_url="http://127.0.0.1:9/v1", api_key="k")
    sent = model.model_dump()

    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0.2, 0.9, 1_024)
    assert sent["max_retries"] == 0
