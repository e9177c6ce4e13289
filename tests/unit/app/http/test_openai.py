"""The official OpenAI client against our server."""

from collections.abc import Iterator
from dataclasses import replace

import openai
import pytest
from openai import OpenAI
from starlette.testclient import TestClient

from app.wiring import App
from graph.errors import StoreUnavailable
from graph.model import Ranking
from router.retrieve import Routed
from tests.unit.app.http.made import LOGS, QUESTION, add_key, serving, with_chat

ASKED = [{"role": "user", "content": QUESTION}]


def official(client: TestClient, key: str = "none") -> OpenAI:
    return OpenAI(
        base_url="http://127.0.0.1/v1",
        api_key=key,
        http_client=client,  # type: ignore[arg-type]
        max_retries=0,
    )


@pytest.fixture
def ai(client: TestClient) -> Iterator[OpenAI]:
    yield official(client)


def test_each_system_is_a_model_and_milepost_is_the_default_one(ai: OpenAI) -> None:
    names = [model.id for model in ai.models.list()]

    assert names[:2] == ["milepost", "guided"]
    assert {"hybrid", "monolithic", "bm25"} <= set(names)


def test_a_completion_is_the_checked_answer_with_citations_as_data(ai: OpenAI) -> None:
    reply = ai.chat.completions.create(model="milepost", messages=ASKED)  # type: ignore[arg-type]

    assert f"“{LOGS}” [Source 1]" in (reply.choices[0].message.content or "")
    assert reply.choices[0].finish_reason == "stop"
    assert reply.model == "milepost"
    assert reply.model_extra is not None
    (citation,) = reply.model_extra["citations"]
    assert (citation["n"], citation["text"]) == (1, LOGS)
    assert citation["document"]["edition"] == "2.8"


def test_usage_adds_up(client: TestClient) -> None:
    with_chat(client, "They are kept for three years [Source 1].")
    usage = official(client).chat.completions.create(model="milepost", messages=ASKED).usage  # type: ignore[arg-type]

    assert usage is not None
    assert usage.prompt_tokens > usage.completion_tokens > 0
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_a_stream_gives_the_same_text_then_citations_then_usage(ai: OpenAI) -> None:
    whole = ai.chat.completions.create(model="hybrid", messages=ASKED)  # type: ignore[arg-type]
    chunks = list(
        ai.chat.completions.create(  # type: ignore[call-overload]
            model="hybrid", messages=ASKED, stream=True, stream_options={"include_usage": True}
        )
    )
    deltas = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]

    assert "".join(text or "" for text in deltas) == whole.choices[0].message.content
    assert len(deltas) > 5
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-2].model_extra["citations"] == whole.model_extra["citations"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    assert len({chunk.id for chunk in chunks}) == 1


def test_usage_is_streamed_only_where_it_is_asked_for(ai: OpenAI) -> None:
    chunks = list(ai.chat.completions.create(model="milepost", messages=ASKED, stream=True))  # type: ignore[call-overload]

    assert all(chunk.choices for chunk in chunks)


def test_what_the_check_takes_out_is_never_streamed(client: TestClient) -> None:
    with_chat(client, "They are kept for three years [Source 1]. So says [Source 9].")
    chunks = official(client).chat.completions.create(  # type: ignore[call-overload]
        model="milepost", messages=ASKED, stream=True
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)

    assert "three years [Source 1]." in text
    assert "Source 9" not in text


def test_the_last_user_message_is_the_question(ai: OpenAI) -> None:
    reply = ai.chat.completions.create(
        model="milepost",
        messages=[
            {"role": "system", "content": "You are a pirate."},
            {"role": "user", "content": "How often are rails inspected?"},
            {"role": "assistant", "content": "Twice a week."},
            {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
            {"role": "assistant", "content": "Well"},
        ],
    )

    assert LOGS in (reply.choices[0].message.content or "")


def test_what_may_be_answered_from_can_be_narrowed(ai: OpenAI) -> None:
    reply = ai.chat.completions.create(
        model="milepost",
        messages=ASKED,  # type: ignore[arg-type]
        extra_body={"milepost": {"scopes": ["rail"]}},
    )

    assert LOGS not in (reply.choices[0].message.content or "")


def test_an_unknown_model_is_a_404_that_names_the_models(ai: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refused:
        ai.chat.completions.create(model="gpt-5", messages=ASKED)  # type: ignore[arg-type]

    assert refused.value.code == "model_not_found"
    assert "milepost, guided" in str(refused.value)


@pytest.mark.parametrize(
    ("messages", "more", "message"),
    [
        ([], {}, "messages: "),
        ([{"role": "system", "content": "Hello"}], {}, "no user message"),
        ([{"role": "user", "content": "?"}], {}, "The question is empty"),
        ([{"role": "user", "content": "a" * 10_001}], {}, "10000"),
        (ASKED, {"n": 2}, "n: "),
        (ASKED, {"extra_body": {"milepost": {"scope": "rail"}}}, "milepost.scope"),
    ],
)
def test_wrong_requests_have_openais_status_and_shape(
    ai: OpenAI, messages: list, more: dict, message: str
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        ai.chat.completions.create(model="milepost", messages=messages, **more)

    assert refused.value.type == "invalid_request_error"
    assert message in str(refused.value)


def test_a_wrong_key_is_an_authentication_error(app: App) -> None:
    good = add_key(app)["Authorization"].removeprefix("Bearer ")
    with serving(app) as client:
        assert len(official(client, good).models.list().data) > 1
        with pytest.raises(openai.AuthenticationError) as refused:
            official(client, "wrong").models.list()

    assert refused.value.code == "invalid_api_key"


def test_a_lost_graph_is_an_error_before_and_within_a_stream(app: App) -> None:
    def lost(routed: Routed, k: int) -> Ranking:
        raise StoreUnavailable("It does not answer.")

    broken = replace(app.system(None), retrieve=lost)
    with serving(replace(app, systems={"guided": broken})) as client:
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as failed:
                official(client).chat.completions.create(  # type: ignore[call-overload]
                    model="milepost", messages=ASKED, stream=stream
                )
            assert failed.value.status_code == 503

    with serving(app) as client:
        with_chat(client)  # it has nothing left to say
        chunks = official(client).chat.completions.create(  # type: ignore[call-overload]
            model="milepost", messages=ASKED, stream=True
        )
        with pytest.raises(openai.APIError, match="chat model failed"):
            list(chunks)
