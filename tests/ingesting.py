"""Ingests into the store in memory, in this process: what tests of whole runs share."""

from dataclasses import replace
from pathlib import Path

from graph.errors import UnreadableFile
from graph.model import FileOutcome, IngestRun
from ingestion.parsed import ParsedDocument, ReadLimits
from ingestion.pipeline import IngestOptions, ingest
from ingestion.read_child import read_here
from tests.fakes import HashingEmbedder, MemoryStore


class Watcher:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.files = self.size = self.chunks = self.told = self.embedded_size = 0
        self.outcomes: list[FileOutcome] = []

    def started(self, files: int, size: int) -> None:
        self.files, self.size = files, size

    def embedded(self, chunks: int, size: int) -> None:
        self.chunks += chunks
        self.embedded_size += size
        self.told += size

    def done(self, outcome: FileOutcome, size: int) -> None:
        self.outcomes.append(outcome)
        self.told += size


def run(
    *paths: Path,
    store: MemoryStore,
    embedder: HashingEmbedder | None = None,
    progress: Watcher | None = None,
    **options: object,
) -> IngestRun:
    return ingest(
        paths,
        store=store,
        embedder=embedder or HashingEmbedder(),
        cache=None,
        options=replace(IngestOptions(), **options),  # type: ignore[arg-type]
        progress=progress or Watcher(),
    )


def statuses(run: IngestRun) -> dict[str, str]:
    return {outcome.uri.rsplit("/", 1)[-1]: outcome.status for outcome in run.outcomes}


class ReaderHere:
    """Reads in this process; a process for each test would take a minute in all."""

    def __init__(self, limits: ReadLimits) -> None:
        self.limits = limits

    def read(self, path: Path) -> ParsedDocument:
        answer = read_here(path, self.limits)
        if isinstance(answer, UnreadableFile):
            raise answer
        return answer

    def interrupt(self) -> None: ...

    def close(self) -> None: ...
