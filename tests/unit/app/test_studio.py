"""The machines as Studio runs them, on the graph in memory."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.machines import MACHINES, build
from app import studio
from app.settings import Settings
from app.systems import build_systems
from app.wiring import App
from graph.errors import StoreUnavailable
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document
from tests.unit.agents.scripted import Script, action, model, search

ROOT = Path(__file__).parents[3]
LOGS = "Audit logs shall be kept by each certification authority for three years."
ANSWER = "They are kept for three years [Source 1]."
QUESTION = "How long shall audit logs be kept?"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The graph in memory in the place of Neo4j; tells when it is opened and closed."""
    told: list[str] = []
    store, embedder = MemoryStore(), HashingEmbedder()
    store.write([make_document("policy", LOGS)])
    settings = Settings(model="extractive")

    @contextmanager
    def open_app(_: Settings) -> Iterator[App]:
        told.append("opened")
        systems = build_systems(settings, store, embedder)
        yield App(settings, store, embedder, systems)  # type: ignore[arg-type]
        told.append("closed")

    monkeypatch.setattr(studio, "open_app", open_app)
    monkeypatch.setattr(studio, "SHARED", studio.Shared())
    yield told
    studio.SHARED.close()


def run(machine: studio.StudioMachine, **context: object) -> dict[str, Any]:
    return asyncio.run(machine.ainvoke({"question": QUESTION}, context=context))  # type: ignore[arg-type]


def test_langgraph_json_names_every_machine_with_what_it_does() -> None:
    listed = json.loads((ROOT / "langgraph.json").read_text())["graphs"]

    assert set(listed) == set(MACHINES)
    assert all(graph["description"] for graph in listed.values())
    for name, graph in listed.items():
        module, variable = graph["path"].split(":")
        assert module == "app.studio"
        assert getattr(studio, variable).name == name


def test_opening_studio_needs_no_connection_no_settings_and_no_key() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise AssertionError('network')\n"
        "socket.socket.connect = refuse\n"
        "from app import studio\n"
        "heavy = {'torch', 'onnxruntime', 'sentence_transformers'} & set(sys.modules)\n"
        "studio.masdr.get_graph().draw_mermaid(), studio.masdr.get_context_jsonschema()\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    env = {"PATH": "/usr/bin:/bin", "MILEPOST_BOLT_PORT": "wrong"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MACHINES)
def test_studio_draws_the_machine_as_it_is(name: str) -> None:
    shown = getattr(studio, name).get_graph().draw_mermaid()

    assert shown == build(name).get_graph().draw_mermaid()


@pytest.mark.parametrize("name", MACHINES)
def test_what_a_run_may_choose_is_json(name: str) -> None:
    machine = getattr(studio, name)

    assert list(machine.get_context_jsonschema()["properties"]) == [
        "system",
        "model",
        "collection",
        "k",
    ]
    assert list(machine.get_input_jsonschema()["properties"]) == ["question"]


@pytest.mark.parametrize("name", ["soft_scoped", "single_call", "ma_rag", "scout_rag"])
def test_a_run_answers_from_the_graph(opened: list[str], name: str) -> None:
    found = run(getattr(studio, name))

    assert f"“{LOGS}” [Source 1]" in found["answer"]["text"]


@pytest.mark.parametrize(
    ("name", "replies"),
    [
        ("masdr", [search(QUESTION), ANSWER]),
        ("langchain_react", [search(QUESTION), ANSWER]),
        ("react", [action("search", QUESTION), f"Final Answer: {ANSWER}"]),
        ("single_call", [ANSWER]),
        ("ma_rag", ["no JSON", "no JSON", "no JSON", "no JSON", LOGS, ANSWER]),
        ("scout_rag", [ANSWER, "no JSON"]),
    ],
)
def test_a_machine_runs_on_the_servers_event_loop_with_a_chat_model(
    opened: list[str], monkeypatch: pytest.MonkeyPatch, name: str, replies: list[Script]
) -> None:
    chat = model(*replies)
    monkeypatch.setattr(studio, "chat_model", lambda *_: chat)
    found = run(getattr(studio, name))

    assert found["answer"]["text"] == ANSWER
    assert found["answer"]["usage"]["llm_calls"] == len(chat.asked)


def test_the_graph_is_opened_by_the_first_run_and_kept(opened: list[str]) -> None:
    assert opened == []
    run(studio.soft_scoped)
    run(studio.soft_scoped, system="bm25")
    assert opened == ["opened"]
    studio.SHARED.close()
    assert opened == ["opened", "closed"]


def test_a_run_chooses_system_and_number_of_passages(opened: list[str]) -> None:
    found = run(studio.soft_scoped, system="monolithic", k=1)

    assert found["ranking"]["system"] == "monolithic"


@pytest.mark.parametrize(
    ("name", "context", "message"),
    [
        ("soft_scoped", {"system": "nonesuch"}, "UsageError: There is no system 'nonesuch'"),
        ("soft_scoped", {"collection": "nonesuch"}, "holds no public document"),
        ("soft_scoped", {"model": "nonesuch"}, "Unknown chat model 'nonesuch'"),
        ("masdr", {}, "ConfigurationError: The machine masdr works with a chat model"),
    ],
)
def test_what_is_wrong_is_told_in_words(
    opened: list[str], name: str, context: dict[str, str], message: str
) -> None:
    # The server shows the words of Python's own errors, and of others the name alone.
    with pytest.raises(RuntimeError, match=message):
        run(getattr(studio, name), **context)


def test_a_graph_that_is_away_is_told_and_tried_again(
    opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    back = studio.open_app

    def away(_: Settings) -> None:
        raise StoreUnavailable("No Neo4j is running. Start it with `milepost db start`.")

    monkeypatch.setattr(studio, "open_app", away)
    with pytest.raises(RuntimeError, match="milepost db start"):
        run(studio.soft_scoped)
    monkeypatch.setattr(studio, "open_app", back)

    assert run(studio.soft_scoped)["answer"]["supported"]


def test_what_each_node_adds_is_small_and_holds_no_vectors(opened: list[str]) -> None:
    async def updates() -> list[dict[str, Any]]:
        stream = studio.single_call.astream({"question": QUESTION}, stream_mode="updates")
        return [update async for update in stream]

    added = asyncio.run(updates())

    assert {node for update in added for node in update} == set(build("single_call").nodes) - {
        "__start__"
    }
    assert all(len(json.dumps(update)) < 10_000 for update in added)
