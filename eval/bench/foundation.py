"""How fast the straight road is: start, ingest, search. `make bench` prints the table.

Starts a Neo4j of its own in a temporary folder, so nobody's graph is touched. Each figure is the
median of several runs. Writing beside other systems is measured by `eval.bench.ingest`.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from neo4j import GraphDatabase
from platformdirs import user_cache_path

from graph.model import FileOutcome, Query
from graph.ports import Embedder, Store
from graph.server import local
from graph.server.options import Connection, ServerOptions
from graph.store import EmbedderInfo, GraphStore
from ingestion.embed import load_embedder
from ingestion.pipeline import IngestOptions, ingest
from router import retrieve, systems
from router.guided import guided
from router.retrieve import System
from router.route import vote

RUNS = 3


def main() -> None:
    """Run everything and print the table."""
    print(f"load average at the start: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        options = ServerOptions(
            data_dir=Path(folder), cache_dir=user_cache_path("milepost"), bolt_port=17787
        )
        connection = local.start(options)
        try:
            local.stop(options)
            started = time.perf_counter()
            connection = local.start(options)
            report("Neo4j start, warm", time.perf_counter() - started, "s")
            bench_help()
            bench_samples(connection)
        finally:
            local.reset(options)


def report(what: str, value: float, unit: str, note: str = "") -> None:
    """Print one row."""
    print(f"{what:<44} {value:>9,.2f} {unit:<10} {note}")


def median(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the median seconds of several runs."""
    seconds: list[float] = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def bench_help() -> None:
    """Time `milepost --help`, next to an interpreter that does nothing."""
    command = str(Path(sys.executable).with_name("milepost"))
    help_seconds = median(lambda: subprocess.run([command, "--help"], capture_output=True), 7)
    bare = median(lambda: subprocess.run([sys.executable, "-c", ""], capture_output=True), 7)
    report("milepost --help", help_seconds, "s", f"{help_seconds / bare:.1f} x a bare interpreter")


class Silent:
    """Progress told to nobody."""

    def started(self, files: int, size: int) -> None:
        """Ignore it."""

    def embedded(self, chunks: int, size: int) -> None:
        """Ignore it."""

    def done(self, outcome: FileOutcome, size: int) -> None:
        """Ignore it."""


def bench_samples(connection: Connection) -> None:
    """Ingest the samples without the vector cache, then ask their questions of each system."""
    embedder = load_embedder("all-MiniLM-L6-v2", user_cache_path("milepost"), print, bulk=True)
    samples = Path(__file__).parents[2] / "samples"
    lines = (samples / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [Query(json.loads(line)["question"]) for line in lines]
    auth = (connection.username, connection.password)
    with GraphDatabase.driver(connection.uri, auth=auth) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
    with GraphStore(connection.uri, auth) as store:
        store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))
        started = time.perf_counter()
        run = ingest(
            [samples],
            store=store,
            embedder=embedder,
            cache=None,
            options=IngestOptions(),
            progress=Silent(),
        )
        seconds = time.perf_counter() - started
        chunks = sum(outcome.chunks for outcome in run.outcomes)
        report("ingesting the samples, all embedded anew", seconds, "s", f"{chunks:,} chunks")
        report("  of them", chunks / seconds, "chunks/s")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report("  peak memory of the main process", memory, "MB")
        bench_search(store, embedder, questions)


def bench_search(store: Store, embedder: Embedder, questions: Sequence[Query]) -> None:
    """Time each system from the question's text to ten hits, embedding included."""
    route = partial(retrieve.embed_and_route, embedder=embedder, router=partial(vote, store=store))
    embed = partial(retrieve.embed_only, embedder=embedder)
    for system in (
        System("guided", embed, partial(guided, store=store)),
        System("soft_scoped", route, partial(systems.soft_scoped, store=store)),
        System("hybrid", embed, partial(systems.hybrid, store=store)),
        System("monolithic", embed, partial(systems.monolithic, store=store)),
    ):
        seconds = [median(partial(system, query, 10)) for query in questions]
        tail = sorted(seconds)[int(0.95 * len(seconds))]
        note = f"p95 {tail * 1000:.0f} ms"
        report(f"search, {system.name}, p50", statistics.median(seconds) * 1000, "ms", note)


if __name__ == "__main__":
    main()
