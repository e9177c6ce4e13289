"""The machines with tools, with a scripted chat model, on a real graph that holds the samples."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agents import machines
from agents.answer import Answered
from agents.answering import ask
from agents.context import Context
from app import settings, wiring
from app.wiring import App
from graph.model import Filter
from tests.e2e.conftest import Run
from tests.unit.agents.scripted import Script, action, calls, model

pytestmark = pytest.mark.neo4j

DAYS = "Within how many days of identity verification must a certificate be issued?"
FOUND = "A certificate must be issued within 90 days [Source 1]."
WITH_TOOLS = ["masdr", "react", "langchain_react"]


@pytest.fixture(scope="module")
def opened(samples: Run, cli_env: dict[str, str]) -> Iterator[App]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD"):
            patch.setenv(name, cli_env[name])
        with wiring.open_app(settings.load()) as app:
            yield app


def call(name: str, tool: str, **arguments: str) -> Script:
    if name == "react":
        return action(tool, json.dumps(arguments))
    return calls((tool, arguments))


def run(app: App, name: str, *replies: Script, **where: Any) -> Answered:
    context = Context(
        app.system(None),
        app.embedder,
        model(*replies),
        Filter(**where),
        store=app.store,
    )
    return ask(machines.build(name), DAYS, context)


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_an_agent_finds_the_answer_in_the_samples(opened: App, name: str) -> None:
    answered = run(
        opened,
        name,
        call(name, "search_certificate_policy", query=DAYS),
        FOUND if name != "react" else f"Final Answer: {FOUND}",
        current_only=True,
    )
    (first, *_) = answered.answer.sources

    assert answered.answer.text == FOUND
    assert "within 90 days" in " ".join(first.passage.text.split())
    assert first.passage.edition == "2.8"
    assert answered.answer.checks.unfounded_figures == ()


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_an_agent_compares_editions_and_reads_a_section(opened: App, name: str) -> None:
    series = next(d.series for d, _ in opened.store.list_documents(Filter()) if d.edition == "2.8")
    assert series is not None
    said = "It changed [Source 1] [Source 2]."
    answered = run(
        opened,
        name,
        call(name, "compare_versions", series=series, older="1.31", newer="2.8"),
        call(name, "get_section", section="4.2.3", document=series),
        said if name != "react" else f"Final Answer: {said}",
    )
    editions = {source.passage.edition for source in answered.answer.sources}

    assert editions == {"1.31", "2.8"}
    assert answered.answer.supported
    assert "4.2.3" in {source.passage.section_number for source in answered.answer.sources}


def test_a_machine_with_tools_asks_for_a_chat_model(samples: Run) -> None:
    done = samples("ask", DAYS, "--machine", "masdr", "--model", "extractive")

    assert done.returncode == 2
    assert "The machine masdr works with a chat model, and none is set." in done.stderr


def test_a_machine_that_is_not_there_is_wrong_use(samples: Run) -> None:
    done = samples("ask", DAYS, "--machine", "crew")

    assert done.returncode == 2
    assert "There is no machine 'crew'. The machines are soft_scoped, " in done.stderr
