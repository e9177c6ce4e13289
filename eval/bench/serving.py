"""What the server costs, and what it bears. `make bench-serve` prints the table.

Starts a Neo4j and a `milepost serve` of its own on the samples, with quoted answers, and asks the
samples' questions with a number before each, so that no embedding is remembered. The users ask from
one process on the same machine, so its processor time is part of what they wait for.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import httpx
import numpy as np
from neo4j import GraphDatabase
from platformdirs import user_cache_path

from eval.bench.foundation import report
from graph.server import local
from graph.server.options import Connection, ServerOptions

SAMPLES = Path(__file__).parents[2] / "samples"
USERS = 32
SECONDS = 20.0
RUNS = 3
ONE_BY_ONE = 200
REQUESTS = 1_000
MILEPOST = str(Path(sys.executable).with_name("milepost"))


class Questions:
    """Questions about the samples, each asked once."""

    def __init__(self) -> None:
        lines = (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines()
        self._texts = [json.loads(line)["question"] for line in lines]
        self._numbers = count()
        self._lock = threading.Lock()

    def next(self) -> str:
        """Return the next one."""
        with self._lock:
            number = next(self._numbers)
        return f"{number}: {self._texts[number % len(self._texts)]}"


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=USERS, help="who ask without a pause")
    parser.add_argument("--workers", help="of milepost serve; its own choice without")
    chosen = parser.parse_args()
    print(f"load average at the start: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        options = ServerOptions(
            data_dir=Path(folder), cache_dir=user_cache_path("milepost"), bolt_port=17786
        )
        connection = local.start(options)
        env = os.environ | {
            "NEO4J_URI": connection.uri,
            "NEO4J_USERNAME": connection.username,
            "NEO4J_PASSWORD": connection.password,
            "MILEPOST_DATA_DIR": folder,
            "MILEPOST_MODEL": "extractive",
        }
        try:
            ingested = [MILEPOST, "ingest", str(SAMPLES)]
            subprocess.run(ingested, env=env, check=True, capture_output=True)
            with serving(env, chosen.workers) as (client, process):
                bench(client, process, connection, chosen.users)
        finally:
            local.reset(options)


@contextmanager
def serving(env: dict[str, str], workers: str | None) -> Generator[tuple[httpx.Client, int]]:
    """Run the server, and yield a client and the number of its process."""
    command = [MILEPOST, "serve", "--port", "0", "--rate", "0"]
    if workers is not None:
        command += ["--workers", workers]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(_addresses(process.stderr))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        limits = httpx.Limits(max_connections=1_000, max_keepalive_connections=1_000)
        with httpx.Client(base_url=address, timeout=120, limits=limits) as client:
            _await_ready(client)
            yield client, process.pid
        process.terminate()


def bench(client: httpx.Client, process: int, connection: Connection, users: int) -> None:
    """Measure one server."""
    questions = Questions()
    for _ in range(ONE_BY_ONE):  # Java compiles what it runs often
        _ask(client, questions.next())
        _search(client, questions.next())
    spent = [_search(client, questions.next()) for _ in range(ONE_BY_ONE)]
    report("/search over retrieval alone, p50", statistics.median(spent), "ms", "target 10")
    first = [_first_event(client, questions.next()) for _ in range(ONE_BY_ONE)]
    report("first event of /ask, p50", statistics.median(first), "ms", "target 100")
    report("  p95", float(np.quantile(first, 0.95)), "ms")
    for _ in range(RUNS):
        waited = _crowd(client, questions, users)
        report(f"/ask, {users} users, p50", statistics.median(waited) / 1000, "s")
        p95 = float(np.quantile(waited, 0.95)) / 1000
        report("  p95", p95, "s", f"target 1; {len(waited) / SECONDS:.0f} answers/s")
    for n in range(3):
        for _ in range(REQUESTS if n else 0):
            _ask(client, questions.next())
        note = f"{_connections(connection)} connections to Neo4j"
        report(f"memory, {n * REQUESTS:,} requests later", _megabytes(process), "MB", note)


def _await_ready(client: httpx.Client) -> None:
    for _ in range(600):
        try:
            if client.get("/health/ready").is_success:
                return
        except httpx.ConnectError:
            time.sleep(0.1)
    raise AssertionError("the server is not ready after a minute")


def _ask(client: httpx.Client, question: str) -> float:
    """Return the milliseconds of an answer."""
    started = time.perf_counter()
    client.post("/ask", json={"query": question}).raise_for_status()
    return (time.perf_counter() - started) * 1000


def _search(client: httpx.Client, question: str) -> float:
    """Return the milliseconds of a search, less those that retrieval says it took."""
    started = time.perf_counter()
    found = client.post("/search", json={"query": question}).raise_for_status().json()
    return (time.perf_counter() - started) * 1000 - sum(found["timings_ms"].values())


def _first_event(client: httpx.Client, question: str) -> float:
    started = time.perf_counter()
    with client.stream("POST", "/ask", json={"query": question, "stream": True}) as response:
        for line in response.iter_lines():
            if line.startswith("event:"):
                return (time.perf_counter() - started) * 1000
    raise AssertionError("a stream without an event")


def _crowd(client: httpx.Client, questions: Questions, users: int) -> Sequence[float]:
    """Let users ask one question after the other, and return how long each waited."""
    until = time.perf_counter() + SECONDS

    def user(_: int) -> list[float]:
        waited: list[float] = []
        while time.perf_counter() < until:
            waited.append(_ask(client, questions.next()))
        return waited

    with ThreadPoolExecutor(users) as pool:
        return [one for each in pool.map(user, range(users)) for one in each]


def _addresses(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        for word in line.split():
            if word.startswith("http://"):
                yield word.rstrip(".,/")


def _megabytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("ascii")
    kilobytes = next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]
    return int(kilobytes) / 1024


def _connections(connection: Connection) -> int:
    """Return how many connections others than this count hold."""
    auth = (connection.username, connection.password)
    with GraphDatabase.driver(connection.uri, auth=auth) as driver:
        records, _, _ = driver.execute_query(
            "CALL dbms.listConnections() YIELD connector WHERE connector = 'bolt' "
            "RETURN count(*) AS n"
        )
        return int(records[0]["n"]) - 1


if __name__ == "__main__":
    main()
