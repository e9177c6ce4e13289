"""How fast ingestion is, and what takes the time. `make bench-ingest` prints the tables.

Starts a Neo4j of its own in a temporary folder, so nobody's graph is touched. Other systems write
the same chunks to the same server in the same run; see `eval.bench.writing`.
"""

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from platformdirs import user_cache_path

from eval.bench.foundation import Silent, report
from eval.bench.writing import bench_writing
from graph.model import FileOutcome, IngestedDocument, IngestRun, Vector, Vectors
from graph.ports import Embedder
from graph.server import local
from graph.server.options import Connection, ServerOptions
from graph.store import EmbedderInfo, GraphStore
from ingestion.embed import load_embedder
from ingestion.identity import Task
from ingestion.parsed import ReadLimits
from ingestion.pipeline import IngestOptions, ingest
from ingestion.prepare import Plan, Prepared
from ingestion.read_ahead import read_ahead
from ingestion.scope_map import GivenMetadata
from ingestion.walk import SourceFile, find_files

_T = TypeVar("_T")

JOBS = 2
"""Files read at the same time, one for each processor of a small machine."""


def main() -> None:
    """Run everything and print the tables."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "samples")
    print(f"load average at the start: {os.getloadavg()[0]:.1f}; files: {folder.name}")
    embedder = load_embedder("all-MiniLM-L6-v2", user_cache_path("milepost"), print, bulk=True)
    with tempfile.TemporaryDirectory() as data:
        options = ServerOptions(
            data_dir=Path(data), cache_dir=user_cache_path("milepost"), bolt_port=17797
        )
        connection = local.start(options)
        try:
            bench_reading(folder, embedder)
            bench_ingestion(folder, connection, embedder)
            bench_writing(connection)
        finally:
            local.reset(options)


def bench_reading(folder: Path, embedder: Embedder) -> None:
    """Time PDF pages to chunks, without embedding them."""
    entries = (entry for entry in find_files([folder]) if isinstance(entry, SourceFile))
    tasks = [Task(e, GivenMetadata(), None) for e in entries if e.path.suffix.lower() == ".pdf"]
    plan = Plan("bench", None, embedder, ReadLimits())
    started = time.perf_counter()
    found = [result for result in read_ahead(tasks, plan, JOBS) if isinstance(result, Prepared)]
    seconds = time.perf_counter() - started
    pages = sum(prepared.document.pages or 0 for prepared in found)
    chunks = sum(len(prepared.chunks) for prepared in found)
    print(f"\nreading {len(found)} PDF files: {pages:,} pages, {chunks:,} chunks, {JOBS} at a time")
    report("PDF pages to chunks, without embedding", pages / seconds, "pages/s")


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def measure(self, stage: str, work: Callable[[], _T]) -> _T:
        """Return what the work returns, and add its time to the stage."""
        started = time.perf_counter()
        result = work()
        self.seconds[stage] = self.seconds.get(stage, 0) + time.perf_counter() - started
        return result


class _TimedEmbedder:
    """An embedder whose time is taken."""

    def __init__(self, embedder: Embedder, clock: _Clock) -> None:
        self.name, self.dimensions = embedder.name, embedder.dimensions
        self.fingerprint, self.max_tokens = embedder.fingerprint, embedder.max_tokens
        self._embedder, self._clock = embedder, clock

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Pass on."""
        return self._embedder.token_offsets(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Pass on, and take the time."""
        return self._clock.measure("embedding", lambda: self._embedder.embed(texts))

    def embed_query(self, text: str) -> Vector:
        """Pass on."""
        return self._embedder.embed_query(text)


class _TimedStore(GraphStore):
    """A store whose time is taken."""

    clock = _Clock()

    def write(self, items: Sequence[IngestedDocument]) -> None:
        """Pass on, and take the time."""
        self.clock.measure("writing", lambda: super(_TimedStore, self).write(items))

    def finish(self, collection: str) -> None:
        """Pass on, and take the time."""
        self.clock.measure("editions, scopes", lambda: super(_TimedStore, self).finish(collection))

    def record_run(self, run: IngestRun) -> None:
        """Pass on, and take the time."""
        self.clock.measure("report", lambda: super(_TimedStore, self).record_run(run))


def bench_ingestion(folder: Path, connection: Connection, embedder: Embedder) -> None:
    """Time files to searchable chunks, everything embedded anew, and each stage's share."""
    clock = _Clock()
    auth = (connection.username, connection.password)
    with closing(_TimedStore(connection.uri, auth)) as store:
        store.clock = clock
        store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))

        def run() -> IngestRun:
            return ingest(
                [folder],
                store=store,
                embedder=_TimedEmbedder(embedder, clock),
                cache=None,
                options=IngestOptions(jobs=JOBS),
                progress=Silent(),
            )

        started = time.perf_counter()
        found = run()
        seconds = time.perf_counter() - started
        _report_ingestion(found, seconds, clock)
        started = time.perf_counter()
        again = run()
        seconds = time.perf_counter() - started
        report(f"the same {len(again.outcomes):,} files again, unchanged", seconds, "s")


def _report_ingestion(found: IngestRun, seconds: float, clock: _Clock) -> None:
    outcomes: Sequence[FileOutcome] = found.outcomes
    chunks = sum(outcome.chunks for outcome in outcomes if outcome.status == "read")
    pages = sum(outcome.pages or 0 for outcome in outcomes)
    print(f"\ningesting {len(outcomes):,} files: {pages:,} PDF pages, {chunks:,} chunks")
    report("files to searchable chunks", chunks / seconds, "chunks/s", f"{seconds:.1f} s")
    report("  of PDF pages", pages / seconds, "pages/s", "files of other kinds included")
    for stage, spent in sorted(clock.seconds.items(), key=lambda pair: -pair[1]):
        report(f"  {stage}", 100 * spent / seconds, "% of time")
    waiting = seconds - sum(clock.seconds.values())
    report("  waiting for reading, and the rest", 100 * waiting / seconds, "% of time")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report("  peak memory of the main process", memory, "MB")


if __name__ == "__main__":
    main()
