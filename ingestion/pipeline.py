"""The ingestion run: find files, read them ahead, embed and write them in batches, report on all.

Reading runs ahead in child processes, a document or two, while a batch is embedded. A batch is a
number of whole documents; the store writes all of it or nothing, so a run that is killed leaves
whole documents only and the next one goes on where it ended. No more than one batch of texts and
vectors, and what was read ahead, is held in memory.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from graph.errors import ModelError, UsageError
from graph.model import FileOutcome, IngestedDocument, IngestRun, Vector
from graph.ports import Embedder, Store
from ingestion.chunk import embedded_text
from ingestion.parsed import ReadLimits
from ingestion.prepare import Plan, Prepared, Task
from ingestion.read_ahead import read_ahead
from ingestion.scope_map import MAP_NAME, ScopeMap, load_scope_map
from ingestion.vector_cache import VectorCache, embed_cached
from ingestion.walk import SourceFile, find_files

_EMBEDDED_AT_ONCE = 128
"""Chunks between two signs of progress, after which vectors are in the cache."""


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How to ingest."""

    collection: str = "default"
    audience: str | None = None
    """For files to which the scope map gives none. None keeps what a file has in the graph, and is
    "public" for a new one: ingesting again must not show a file to more people than before."""
    scope_map: Path | None = None
    """None takes `scopes.yaml` in each ingested folder, where there is one."""
    limits: ReadLimits = field(default_factory=ReadLimits)
    jobs: int = 1
    """Files read at the same time, each in a process of its own."""
    batch_chunks: int = 512
    """Chunks that are written in one transaction; a larger document is a batch of its own."""


class Progress(Protocol):
    """What a run tells while it goes on, always from the thread that called `ingest`."""

    def started(self, files: int, size: int) -> None:
        """So many files, of so many bytes together, were found."""
        ...

    def embedded(self, chunks: int, size: int) -> None:
        """So many further chunks have their vectors; they stand for so many bytes of the files."""
        ...

    def done(self, outcome: FileOutcome, size: int) -> None:
        """A file is finished; so many of its bytes were not told by `embedded`."""
        ...


def ingest(
    paths: Sequence[Path],
    *,
    store: Store,
    embedder: Embedder,
    cache: VectorCache | None,
    options: IngestOptions,
    progress: Progress,
) -> IngestRun:
    """Bring files into the graph, and keep the report there.

    Files that the graph has already, with the same bytes and read in the same way, are left as
    they are. Ctrl-C drops the batch in hand, records what was done and is raised again.

    Args:
        paths: Files or folders.
        store: The graph.
        embedder: The one that the graph was made with.
        cache: Of the same embedder; None embeds everything.
        options: How to ingest.
        progress: Told what happens.

    Returns:
        The run, which names every file that was found.

    Raises:
        UsageError: A path does not exist, or there is no file in it.
        StoreError: The graph failed; what was written before are whole documents.
        ModelError: The embedder failed.
    """
    started_at = _now()
    log = _Log(progress)
    tasks = _find(paths, store, options, log)
    plan = Plan(options.collection, options.audience, embedder, options.limits)
    try:
        with closing(read_ahead(tasks, plan, options.jobs)) as results:
            for batch in batches(log.without_outcomes(results), options.batch_chunks):
                store.write(_embed(batch, embedder, cache, log))
                for prepared in batch:
                    log.add(prepared.outcome)
    except (KeyboardInterrupt, ModelError):
        _finish(store, options.collection, started_at, log)
        raise
    return _finish(store, options.collection, started_at, log)


def batches(documents: Iterable[Prepared], chunks: int) -> Iterator[list[Prepared]]:
    """Group whole documents so that a group has at most so many chunks, or is one document."""
    batch: list[Prepared] = []
    size = 0
    for document in documents:
        if batch and size + len(document.chunks) > chunks:
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.chunks)
    if batch:
        yield batch


class _Log:
    """The outcomes so far."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.outcomes: list[FileOutcome] = []
        self.sizes: dict[str, int] = {}
        """Bytes that progress was not yet told of, by uri."""

    def add(self, outcome: FileOutcome) -> None:
        self.outcomes.append(outcome)
        self.progress.done(outcome, self.sizes.pop(outcome.uri, 0))

    def embedded(self, batch: Sequence[Prepared], chunks: int, share: float) -> None:
        """Tell that so many chunks, a share of the batch, are embedded."""
        size = 0
        for prepared in batch:
            told = int(self.sizes[prepared.document.uri] * share)
            self.sizes[prepared.document.uri] -= told
            size += told
        self.progress.embedded(chunks, size)

    def without_outcomes(self, results: Iterable[Prepared | FileOutcome]) -> Iterator[Prepared]:
        """Keep the outcomes among the results, and pass on the documents."""
        for result in results:
            if isinstance(result, FileOutcome):
                self.add(result)
            else:
                yield result


def _find(paths: Sequence[Path], store: Store, options: IngestOptions, log: _Log) -> list[Task]:
    """Return what to read; what cannot be opened goes to the log."""
    found = list(find_files(paths))
    files = [entry for entry in found if isinstance(entry, SourceFile)]
    maps = {root: _scope_map(root, options) for root in {file.root for file in files}}
    files = [file for file in files if not maps[file.root].ignores(file.relative)]
    refused = [entry for entry in found if isinstance(entry, FileOutcome)]
    if not files and not refused:
        names = ", ".join(str(path) for path in paths)
        raise UsageError(f"There are no files in {names}: give a folder with documents.")
    known = store.document_states(options.collection)
    log.sizes = {file.uri: file.size for file in files}
    log.progress.started(len(files) + len(refused), sum(log.sizes.values()))
    for outcome in refused:
        log.add(outcome)
    return [Task(file, maps[file.root].find(file.relative), known.get(file.uri)) for file in files]


def _scope_map(root: Path, options: IngestOptions) -> ScopeMap:
    if options.scope_map is not None:
        return load_scope_map(options.scope_map)
    file = root / MAP_NAME
    return load_scope_map(file) if file.is_file() else ScopeMap()


def _embed(
    batch: Sequence[Prepared], embedder: Embedder, cache: VectorCache | None, log: _Log
) -> list[IngestedDocument]:
    texts = {
        chunk.sha256: embedded_text(chunk.heading, chunk.text)
        for prepared in batch
        for chunk in prepared.chunks
    }
    vectors: dict[str, Vector] = {}
    remaining = iter(texts.items())
    while part := dict(islice(remaining, _EMBEDDED_AT_ONCE)):
        left = len(texts) - len(vectors)
        vectors |= embed_cached(embedder, cache, part)
        log.embedded(batch, len(part), len(part) / left)
    return [
        IngestedDocument(
            prepared.document,
            prepared.sections,
            prepared.chunks,
            np.stack([vectors[chunk.sha256] for chunk in prepared.chunks]),
            embedder.fingerprint,
        )
        for prepared in batch
    ]


def _finish(store: Store, collection: str, started_at: str, log: _Log) -> IngestRun:
    store.finish(collection)
    outcomes = tuple(sorted(log.outcomes, key=lambda outcome: outcome.uri))
    run = IngestRun(uuid.uuid4().hex, collection, started_at, _now(), outcomes)
    store.record_run(run)
    return run


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
