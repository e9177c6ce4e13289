"""The development server that LangGraph Studio opens, on a real graph with two documents."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from neo4j import Driver

from agents.machines import MACHINES
from graph.server.options import Connection

pytestmark = pytest.mark.neo4j

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LOGS = "Audit logs shall be kept by each certification authority for three years."
QUESTION = "How long shall audit logs be kept?"


class Studio:
    """`langgraph dev` on a free port, in a folder of its own, where it keeps its threads."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.log = folder / "log.txt"
        command = [BIN / "langgraph", "dev", "--config", ROOT / "langgraph.json"]
        options = ["--no-browser", "--no-reload", "--port", str(port)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *options], env=env, cwd=folder, stdout=log, stderr=log
            )
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def wait(self) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if self.client.get("/ok").is_success:
                    return
            except httpx.ConnectError:
                time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def end(self) -> list[psutil.Process]:
        """Stop it as Ctrl-C does; return what is still running of it."""
        self.client.close()
        mine = psutil.Process(self.process.pid)
        family = [mine, *mine.children(recursive=True)]
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        return psutil.wait_procs(family, timeout=5)[1]


@pytest.fixture(scope="module")
def env(neo4j_server: Connection) -> dict[str, str]:
    """An environment without keys."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MILEPOST_", "LANG")) and not name.endswith("_KEY")
    }
    return inherited | {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USERNAME": neo4j_server.username,
        "NEO4J_PASSWORD": neo4j_server.password,
        "PYTHONPATH": str(ROOT),
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    }


@pytest.fixture(scope="module")
def studio(
    env: dict[str, str], neo4j_driver: Driver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Studio]:
    """The server, started before the graph has documents: it is not opened until the first run."""
    neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
    running = Studio(env, tmp_path_factory.mktemp("studio"))
    try:
        ingest(env, tmp_path_factory.mktemp("documents"))
        running.wait()
        yield running
    finally:
        left = running.end()
    assert not left
    assert running.process.returncode == 0, running.log.read_text()
    assert "Blocking call" not in running.log.read_text()


def ingest(env: dict[str, str], folder: Path) -> None:
    (folder / "policy.md").write_text(f"# Common Policy\n\n## 5.4 Audit\n\n{LOGS}\n")
    (folder / "news.md").write_text("# News\n\nThe agency publishes newsletters every month.\n")
    subprocess.run([BIN / "milepost", "ingest", folder], env=env, cwd=folder, check=True)


def run(studio: Studio, machine: str, **body: object) -> tuple[str, httpx.Response]:
    thread = studio.client.post("/threads", json={}).json()["thread_id"]
    started = {"assistant_id": machine, "input": {"question": QUESTION}, **body}
    return thread, studio.client.post(f"/threads/{thread}/runs/wait", json=started)


def test_studio_lists_every_machine(studio: Studio) -> None:
    found = studio.client.post("/assistants/search", json={"limit": 100}).json()

    assert {assistant["graph_id"] for assistant in found} == set(MACHINES)


@pytest.mark.parametrize("machine", MACHINES)
def test_studio_draws_every_machine_and_shows_what_it_takes(studio: Studio, machine: str) -> None:
    (assistant,) = studio.client.post("/assistants/search", json={"graph_id": machine}).json()
    id = assistant["assistant_id"]
    drawn = studio.client.get(f"/assistants/{id}/graph").json()
    schemas = studio.client.get(f"/assistants/{id}/schemas").json()

    assert {"__start__", "check", "__end__"} <= {node["id"] for node in drawn["nodes"]}
    assert list(schemas["input_schema"]["properties"]) == ["question"]
    assert set(schemas["context_schema"]["properties"]) >= {"system", "model", "collection", "k"}


def test_a_thread_gets_a_cited_answer_and_keeps_it(studio: Studio) -> None:
    thread, response = run(studio, "soft_scoped")
    state = studio.client.get(f"/threads/{thread}/state").json()
    history = studio.client.post(f"/threads/{thread}/history", json={"limit": 20}).json()

    assert f"“{LOGS}” [Source 1]" in response.json()["answer"]["text"]
    assert state["values"]["answer"] == response.json()["answer"]
    assert state["values"]["question"] == QUESTION
    assert state["next"] == []
    steps = [step["next"] for step in reversed(history)]
    assert steps == [["__start__"], ["route"], ["retrieve"], ["answer"], ["check"], []]


def test_a_stream_shows_each_node_with_what_it_adds(studio: Studio) -> None:
    body = {"assistant_id": "soft_scoped", "input": {"question": QUESTION}}
    updates = {**body, "stream_mode": ["updates"]}
    with studio.client.stream("POST", "/runs/stream", json=updates) as response:
        text = "".join(response.iter_text())

    for node in ("route", "retrieve", "answer", "check"):
        assert f'"{node}":' in text
    assert len(text) < 20_000  # no vectors


def test_a_run_chooses_its_retrieval_system(studio: Studio) -> None:
    _, response = run(studio, "soft_scoped", context={"system": "bm25", "k": 1})

    assert response.json()["ranking"]["system"] == "bm25"
    assert len(response.json()["ranking"]["hits"]) == 1


@pytest.mark.parametrize("machine", ["single_call", "ma_rag", "scout_rag"])
def test_without_a_key_other_machines_quote_what_they_find(studio: Studio, machine: str) -> None:
    _, response = run(studio, machine)

    assert f"“{LOGS}” [Source " in response.json()["answer"]["text"]


@pytest.mark.parametrize(
    ("machine", "context", "message"),
    [
        ("soft_scoped", {"system": "nonesuch"}, "There is no system 'nonesuch'"),
        ("soft_scoped", {"collection": "nonesuch"}, "holds no public document"),
        ("masdr", {}, "works with a chat model"),
    ],
)
def test_a_wrong_choice_is_told(
    studio: Studio, machine: str, context: dict[str, str], message: str
) -> None:
    _, response = run(studio, machine, context=context)

    assert message in response.text
