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
from graph.model import Query
from tests.fakes import HashingEmbedder, MemoryStore
from tests.local_model import running_model
from tests.unit.agents.compared import edition, store_of
from tests.unit.agents.scripted import LOGS, RAILS, context, texts

pytest.importorskip("langchain_openai")

HOW_LONG = "For how many years are audit logs kept?"
HOW_OFTEN = "How often are rails inspected?"
LIMITS = Limits(context_tokens=4_000, answer_tokens=96, repeats=5, run_seconds=900)


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


def documents() -> MemoryStore:
    return store_of(
        edition("2.0", ("5.4", "Audit", LOGS), series=None, scope="policy"),
        edition("rails", (None, "Rails", RAILS), series=None, edition=None, scope="rail tracks"),
    )


def test_it_names_the_scope_of_a_question(given: Settings) -> None:
    systems = build_systems(given, documents(), HashingEmbedder())

    ranking = systems["llm_routed"](Query(HOW_OFTEN), 1)

    assert [route.scope for route in ranking.route] == ["rail tracks"]
    assert texts(ranking.hits) == [RAILS]


def test_its_answer_cites_the_passage_that_says_so(chat: BaseChatModel) -> None:
    made = context(chat, documents(), limits=LIMITS)

    answer = ask(machines.build("soft_scoped"), HOW_LONG, made).answer

    assert [source.passage.text for source in answer.sources if source.cited] == [LOGS]
    assert "three years" in answer.text or "3 years" in answer.text
    assert (answer.checks.uncited_claims, answer.checks.unfounded_figures) == (0, ())
    assert answer.usage.llm_calls == 1
    assert answer.usage.tokens > 100


def test_it_calls_a_tool_and_answers_from_what_that_finds(chat: BaseChatModel) -> None:
    made = context(chat, documents(), limits=LIMITS)

    answered = ask(machines.build("react"), HOW_OFTEN, made)

    assert RAILS in texts(answered.ranking.hits)
    assert answered.answer.supported
    assert "twice a week" in answered.answer.text
    assert answered.answer.usage.llm_calls >= 2


def test_for_an_agent_that_calls_no_tool_the_question_is_searched(chat: BaseChatModel) -> None:
    made = context(chat, documents(), limits=LIMITS)

    answered = ask(machines.build("masdr"), HOW_OFTEN, made)

    assert RAILS in texts(answered.ranking.hits)
    assert answered.answer.usage.llm_calls >= 2
