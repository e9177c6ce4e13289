"""A real server process on the samples, with a graph that can be cut off."""

import json
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import httpx
import pytest
from openai import OpenAI

from tests.e2e.conftest import ROOT, Run, milepost

pytestmark = pytest.mark.neo4j

DAYS = "Within how many days of identity verification must a certificate be issued?"
ASKED = [{"role": "user", "content": DAYS}]


class Line:
    """The way to Neo4j, which can be cut and mended."""

    def __init__(self, uri: str) -> None:
        host, port = uri.split("//")[1].split(":")
        self._target = (host, int(port))
        self._open: list[socket.socket] = []
        self._listening = self._listen(0)
        self.port = self._listening.getsockname()[1]

    def cut(self) -> None:
        self._listening.close()
        for one in self._open:
            one.close()

    def mend(self) -> None:
        self._listening = self._listen(self.port)

    def _listen(self, port: int) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", port))
        Thread(target=self._accept, args=(listening,), daemon=True).start()
        return listening

    def _accept(self, listening: socket.socket) -> None:
        # A blocked accept() would go on after close(), so it is only called when somebody is there.
        with selectors.DefaultSelector() as waiting:
            waiting.register(listening, selectors.EVENT_READ)
            while listening.fileno() >= 0:
                if not waiting.select(0.05) or listening.fileno() < 0:
                    continue
                near, _ = listening.accept()
                far = socket.create_connection(self._target)
                self._open += [near, far]
                for a, b in ((near, far), (far, near)):
                    Thread(target=_copy, args=(a, b), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
    except OSError:
        pass  # cut
    for one in (source, target):
        one.close()


class Server:
    """`milepost serve` on a free port."""

    def __init__(self, env: dict[str, str]) -> None:
        command = [str(Path(sys.executable).with_name("milepost")), "serve", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--rate", "0"], env=env, cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        lines: list[str] = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.search(r"Serving (http://\S+)", line):
                break
        else:
            raise AssertionError("".join(lines))
        self.url = found.group(1)
        self.log: list[str] = []
        self._reader = Thread(target=lambda: self.log.extend(self.process.stderr or ()))
        self._reader.start()
        for _ in range(600):
            try:
                if httpx.get(f"{self.url}/health/ready").status_code == 200:
                    return
            except httpx.ConnectError:
                time.sleep(0.1)
        raise AssertionError("".join(self.log))

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(60)
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@pytest.fixture(scope="module")
def line(cli_env: dict[str, str]) -> Iterator[Line]:
    made = Line(cli_env["NEO4J_URI"])
    yield made
    made.cut()


@pytest.fixture(scope="module")
def env(
    samples: Run, cli_env: dict[str, str], line: Line, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("data")
    return cli_env | {
        "NEO4J_URI": f"bolt://127.0.0.1:{line.port}",
        "MILEPOST_DATA_DIR": str(folder),
    }


@pytest.fixture(scope="module")
def server(env: dict[str, str]) -> Iterator[Server]:
    running = Server(env)
    yield running
    running.end()


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_openais_client_gets_the_answer_with_its_page(server: Server) -> None:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as ai:
        whole = ai.chat.completions.create(model="milepost", messages=ASKED)  # type: ignore[arg-type]
        stream = ai.chat.completions.create(model="milepost", messages=ASKED, stream=True)  # type: ignore[call-overload]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    assert "within 90 days" in text.replace("\n", " ")
    assert text == whole.choices[0].message.content
    assert whole.model_extra is not None
    first = whole.model_extra["citations"][0]
    assert first["document"]["edition"] == "2.8"
    assert first["pages"] == [44, 44]


def test_the_answer_is_that_of_the_command_line(server: Server, samples: Run) -> None:
    there = json.loads(samples("ask", DAYS, "--json").stdout)
    here = httpx.post(f"{server.url}/ask", json={"query": DAYS}).json()

    for part in ("answer", "sources", "checks", "route", "understood"):
        assert here[part] == there[part]
    assert [hit["chunk_id"] for hit in here["hits"]] == [hit["chunk_id"] for hit in there["hits"]]


def test_a_stream_begins_with_what_was_found(server: Server) -> None:
    body = {"query": DAYS, "stream": True}
    with httpx.stream("POST", f"{server.url}/ask", json=body) as response:
        names = [line[7:] for line in response.iter_lines() if line.startswith("event: ")]

    assert names[:2] == ["route", "hits"]
    assert names[-2:] == ["check", "done"]


def test_thirty_two_callers_at_once_get_the_same_answer(server: Server) -> None:
    def ask(_: int) -> str:
        response = httpx.post(f"{server.url}/ask", json={"query": DAYS}, timeout=60)
        return response.json()["answer"]

    with ThreadPoolExecutor(32) as callers:
        answers = set(callers.map(ask, range(64)))

    assert len(answers) == 1


def test_without_the_graph_it_says_so_and_is_well_again_with_it(server: Server, line: Line) -> None:
    def status(path: str) -> int:
        return httpx.get(f"{server.url}{path}", timeout=60).status_code

    line.cut()
    eventually(lambda: status("/health/ready") == 503)
    refused = httpx.post(f"{server.url}/ask", json={"query": DAYS}, timeout=60)
    alive = status("/health/live")
    line.mend()

    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "5"
    assert alive == 200
    eventually(lambda: status("/health/ready") == 200)
    assert "within 90 days" in httpx.post(f"{server.url}/ask", json={"query": DAYS}).text


def test_no_question_and_no_passage_is_in_the_log(server: Server) -> None:
    httpx.post(f"{server.url}/ask", json={"query": DAYS})
    eventually(lambda: any('"route": "/ask"' in entry for entry in server.log))

    for entry in server.log:
        assert json.loads(entry)["event"]
        assert "identity verification" not in entry


def test_a_server_that_is_killed_can_be_started_again(env: dict[str, str]) -> None:
    first = Server(env)
    body = {"query": DAYS, "stream": True}
    with httpx.stream("POST", f"{first.url}/ask", json=body) as response:
        lines = response.iter_lines()
        next(lines)
        first.end(signal.SIGKILL)
        left = list(_until_lost(lines))
    second = Server(env)
    try:
        assert "event: error" not in left
        assert httpx.post(f"{second.url}/ask", json={"query": DAYS}).status_code == 200
    finally:
        assert second.end(signal.SIGINT) in (0, 130)


def _until_lost(lines: Iterator[str]) -> Iterator[str]:
    try:
        yield from lines
    except httpx.RemoteProtocolError:
        return


def test_a_key_may_upload_ask_and_remove(env: dict[str, str], tmp_path: Path) -> None:
    env = env | {"MILEPOST_DATA_DIR": str(tmp_path)}
    added = milepost("keys", "add", "loader", "--ingest", "--json", env=env)
    token = json.loads(added.stdout)["key"]
    server = Server(env)
    text = b"# Moons\n\nJupiter has 97 moons that are confirmed.\n"
    try:
        assert httpx.get(f"{server.url}/scopes").status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=server.url, headers=headers, timeout=60) as client:
            sent = client.post("/documents", files={"file": ("moons.md", text)})
            assert sent.status_code == 202, sent.text
            job = f"/jobs/{sent.json()['id']}"
            eventually(lambda: client.get(job).json()["status"] in ("done", "failed"))
            done = client.get(job).json()
            asked = client.post("/ask", json={"query": "How many moons does Jupiter have?"})
            removed = client.delete(f"/documents/{done['document_id']}")
            listed = milepost("keys", "list", "--json", env=env).stdout
            milepost("keys", "remove", "loader", env=env)
            after = client.get("/scopes").status_code
    finally:
        server.end()

    assert done["status"] == "done", done
    assert "97 moons" in asked.json()["answer"]
    assert removed.status_code == 200
    assert json.loads(listed)[0]["name"] == "loader"
    assert token not in listed
    assert after == 200  # without any key, this machine is served


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--host", "0.0.0.0"), "milepost keys add"),
        (("--cors-origin", "*"), "every web page"),
        (("--host", "203.0.113.9"), "milepost keys add"),
    ],
)
def test_what_would_be_unsafe_is_refused_at_start(
    env: dict[str, str], arguments: tuple[str, ...], message: str
) -> None:
    done = milepost("serve", *arguments, env=env)

    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_port_that_is_taken_is_refused_at_start(env: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = milepost("serve", "--port", str(taken.getsockname()[1]), env=env)

    assert done.returncode == 2
    assert "--port" in done.stderr
