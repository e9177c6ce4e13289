"""A real chat model, small and on this machine: it routes, calls tools, and writes cited answers.

Skipped where there is none; see `tests.local_model`. Nothing is random: the temperature is 0.
"""

from collections.abc import Iterator

import pytest
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from agents import machines
from agents.answering import ask
from agents.context import Limits
from app import settings
from app.settings import Settings
from app.systems import build_systems, chat_model
from graph.model import Filter, Query
from tests.fakes import HashingEmbedder
from tests.local_model import running_model
from tests.unit.agents.scripted import LOGS, QUESTION, RAILS, context, library, texts

pytest.importorskip("langchain_openai")

LIMITS = Limits(context_tokens=4_000, answer_tokens=96, run_seconds=900)


@pytest.fixture(scope="module")
def given() -> Iterator[Settings]:
    with running_model() as url:
        changed = {
            "model": "openai:local",
            "model_url": url,
            "model_api_key": SecretStr("none"),
            "model_seconds": 300.0,
        }
        yield settings.load().model_copy(update=changed)


@pytest.fixture(scope="module")
def chat(given: Settings) -> BaseChatModel:
    loaded = chat_model(given.model, given, temperature=0.0, answer_tokens=LIMITS.answer_tokens)
    assert loaded is not None
    return loaded


def test_it_names_the_scope_of_a_question(given: Settings) -> None:
    systems = build_systems(given, library(), HashingEmbedder())

    ranking = systems["llm_routed"](Query("How often are rails inspected?"), 1)

    assert [route.scope for route in ranking.route] == ["rail tracks"]
    assert texts(ranking.hits) == [RAILS]


def test_an_answer_cites_the_passage_that_says_so(chat: BaseChatModel) -> None:
    where = Filter(current_only=True)
    made = context(chat, filter=where, k=3, limits=LIMITS)

    answer = ask(machines.build("soft_scoped"), QUESTION, made).answer
    cited = [source.passage.text for source in answer.sources if source.cited]

    assert answer.supported
    assert LOGS in cited
    assert "three years" in answer.text or "3 years" in answer.text
    assert answer.checks.unfounded_figures == ()
    assert answer.usage.tokens > 0


def test_it_finds_the_passage_with_a_tool(chat: BaseChatModel) -> None:
    made = context(chat, filter=Filter(current_only=True), k=2, limits=LIMITS)

    answered = ask(machines.build("react"), QUESTION, made)

    assert LOGS in texts(answered.ranking.hits)
    assert answered.answer.usage.llm_calls >= 2
