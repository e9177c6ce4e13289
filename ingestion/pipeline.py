"""The ingestion run: find files, read them ahead, embed and write them in batches, report on all.

Reading runs ahead in child processes, a document or two, while a batch is embedded. A batch is a
number of whole documents; the store writes all of it or nothing, so a run that is killed leaves
whole documents only and the next one goes on where it ended. No more than one batch of texts and
vectors, and what was read ahead, is held in memory.

Names come last: a document is written with all of its names, then others lose theirs, then what is
gone is removed. A run that is killed in between leaves a name too many, never one too few.
"""

import uuid
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np

from graph.errors import ModelError, UsageError
from graph.model import FileOutcome, FileStatus, IngestedDocument, IngestRun, Vector
from graph.ports import Embedder, Store, Topics
from ingestion.chunk import embedded_text
from ingestion.classify import Classifier
from ingestion.gone import Folder, Gone, find_gone, folders_read, shown
from ingestion.identity import (
    Assignment,
    FoundFile,
    SameFile,
    Task,
    assign,
    file_sha256,
    file_stamp,
)
from ingestion.near_copies import NearCopies
from ingestion.parsed import ReadLimits
from ingestion.prepare import Plan, Prepared
from ingestion.read_ahead import read_ahead
from ingestion.scope_map import MAP_NAME, ScopeMap, load_scope_map
from ingestion.topic_models import load_topics
from ingestion.vector_cache import VectorCache, embed_cached
from ingestion.walk import SourceFile, check_paths, find_files

_EMBEDDED_AT_ONCE = 128
"""Chunks between two signs of progress, after which vectors are in the cache."""


class Engine(Protocol):
    """Prepares files, several at a time: `read_ahead`, or one that uses a cluster."""

    def __call__(
        self, tasks: Iterable[Task], plan: Plan, jobs: int
    ) -> Generator[Prepared | FileOutcome, None, None]:
        """Yield one result for each task, in their order."""
        ...


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
    prune: bool = False
    """Whether to remove documents of the folders whose files are gone."""
    engine: Engine = read_ahead
    """What reads the files."""
    classifier: Classifier | None = None
    """Asked about documents of which the rules are unsure; None asks nobody."""


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
    they are. The same bytes under several names are one document. Ctrl-C drops the batch in hand,
    records what was done and is raised again.

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
        TopicsMismatch: The collection has topics, made with another embedder.
        ModelError: The embedder failed.
    """
    started_at = _now()
    log = _Log(progress)
    topics = load_topics(store, options.collection, embedder.fingerprint)
    found = _find(paths, store, options, log)
    asking = options.classifier
    mark = asking.mark if asking else ""
    plan = Plan(options.collection, options.audience, embedder, options.limits, mark)
    finish = partial(_finish, store, options, started_at, found.folders, log)
    if asking:
        asking.offer(_scopes(store, options.collection, found.assignment))
    try:
        with closing(options.engine(found.assignment.tasks, plan, options.jobs)) as results:
            documents = log.without_outcomes(results)
            told = map(asking, documents) if asking else documents
            for batch in batches(told, options.batch_chunks):
                items = _embed(batch, embedder, cache, log)
                store.write([_with_topics(item, topics) for item in items])
                for prepared in batch:
                    log.wrote(prepared)
    except (KeyboardInterrupt, ModelError):
        finish()
        raise
    _settle_names(found.assignment, store, log)
    _settle_gone(found, store, options, log)
    return finish()


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
        self.same: dict[str, list[SameFile]] = {}
        """Files whose outcome hangs on that of another, by the other's uri."""
        self.near = NearCopies()

    def add(self, outcome: FileOutcome) -> None:
        self.outcomes.append(outcome)
        self.progress.done(outcome, self.sizes.pop(outcome.uri, 0))
        for same in self.same.pop(outcome.uri, ()):
            self.add(_same_outcome(same, outcome))

    def wrote(self, prepared: Prepared) -> None:
        """Add the outcome of a document that is now in the graph."""
        uri, signature = prepared.document.uri, prepared.minhash
        outcome = prepared.outcome
        if near := self.near.nearest(uri, signature):
            outcome = replace(outcome, near_copy_of=near.uri, similarity=near.similarity)
        self.near.add(uri, signature)
        self.add(outcome)

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


@dataclass(frozen=True, slots=True)
class _Found:
    """What there is to do."""

    assignment: Assignment
    folders: tuple[Folder, ...]
    seen: frozenset[str]
    """Addresses of all files, ignored ones too."""


def _find(paths: Sequence[Path], store: Store, options: IngestOptions, log: _Log) -> _Found:
    """Return what to read; what cannot be opened goes to the log."""
    found = list(find_files(paths))
    folders = folders_read(check_paths(paths), found)
    files = [entry for entry in found if isinstance(entry, SourceFile)]
    maps = {root: _scope_map(root, options) for root in {file.root for file in files}}
    files = [file for file in files if not maps[file.root].ignores(file.relative)]
    refused = [entry for entry in found if isinstance(entry, FileOutcome)]
    if not files and not refused:
        names = ", ".join(str(path) for path in paths)
        raise UsageError(f"There are no files in {names}: give a folder with documents.")
    states = list(store.document_states(options.collection).values())
    log.near = NearCopies((state.uri, state.minhash) for state in states)
    log.sizes = {file.uri: file.size for file in files}
    log.progress.started(len(files) + len(refused), sum(log.sizes.values()))
    for outcome in refused:
        log.add(outcome)
    largest = options.limits.file_bytes
    candidates = [_candidate(file, maps[file.root], largest) for file in files]
    assignment = assign(candidates, states, options.collection, options.audience)
    read = {task.file.uri for task in assignment.tasks}
    for same in assignment.same:
        if same.of in read:
            log.same.setdefault(same.of, []).append(same)
        else:
            log.add(_same_outcome(same, None))
    seen = frozenset(entry.uri for entry in found if isinstance(entry, SourceFile))
    return _Found(assignment, folders, seen)


def _candidate(file: SourceFile, scope_map: ScopeMap, largest: int) -> FoundFile:
    stamp = file_stamp(file.path)
    return FoundFile(
        file,
        given=scope_map.find(file.relative),
        stated=scope_map.stated(file.relative),
        sha256=file_sha256(file.path, largest),
        stamp=stamp,
    )


def _same_outcome(same: SameFile, read: FileOutcome | None) -> FileOutcome:
    """Return what became of a copy, given what became of the file that was read for it."""
    if read is not None and read.status == "refused":
        reason = f"the same bytes as {shown(read.uri)}: {read.reason}"
        return replace(read, uri=same.uri, reason=reason, seconds=0.0)
    status: FileStatus = "unchanged" if same.known else "same"
    chunks = same.known.chunks if same.known else 0
    if read is not None:
        chunks = read.chunks
    return FileOutcome(
        same.uri, status, document_id=same.document_id, chunks=chunks, same_as=same.of
    )


def _settle_names(assignment: Assignment, store: Store, log: _Log) -> None:
    """Write the names of documents that were not written anew, and drop those without a name."""
    refused = {outcome.uri for outcome in log.outcomes if outcome.status == "refused"}
    stays = {task.id for task in assignment.tasks if task.file.uri in refused}
    if names := {id: given for id, given in assignment.names.items() if id not in stays}:
        store.rename(names)
    # What was read of a file earlier stays while its new bytes cannot be read.
    if dropped := [id for id, had in assignment.superfluous.items() if refused.isdisjoint(had)]:
        store.remove(dropped)


def _settle_gone(found: _Found, store: Store, options: IngestOptions, log: _Log) -> None:
    """Report documents whose files are gone, and remove them where that is wanted."""
    states = list(store.document_states(options.collection).values())
    gone = find_gone(states, found.folders, found.seen)
    if not gone:
        return
    names = {state.id: state.names for state in states}
    pruned = {entry.uri for entry in gone if options.prune and not entry.doubt}
    touched = {entry.document_id for entry in gone if entry.uri in pruned}
    left = {id: tuple(name for name in names[id] if name not in pruned) for id in touched}
    if kept := {id: rest for id, rest in left.items() if rest}:
        store.rename(kept)
    if dropped := sorted(id for id, rest in left.items() if not rest):
        store.remove(dropped)
    chunks = {state.id: state.chunks for state in states}
    for entry in gone:
        id = entry.document_id
        others = [name for name in left.get(id, names[id]) if name != entry.uri]
        removed = entry.uri in pruned
        log.outcomes.append(_gone_outcome(entry, others, chunks[id], removed=removed))


def _gone_outcome(entry: Gone, others: Sequence[str], chunks: int, *, removed: bool) -> FileOutcome:
    reasons: list[str] = []
    if entry.doubt:
        reasons.append(f"not certain, as {entry.doubt}")
    if others:
        reasons.append(f"the document stays as {shown(others[0])}")
    return FileOutcome(
        entry.uri,
        "removed" if removed else "gone",
        reason="; ".join(reasons),
        document_id=entry.document_id,
        chunks=chunks,
        same_as=others[0] if others else None,
    )


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
    vectors = _brought_along(batch)
    if vectors:
        if cache:
            cache.put(vectors)
        log.embedded(batch, len(vectors), len(vectors) / len(texts))
    remaining = ((digest, text) for digest, text in texts.items() if digest not in vectors)
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
            prepared.minhash,
        )
        for prepared in batch
    ]


def _with_topics(item: IngestedDocument, topics: Topics | None) -> IngestedDocument:
    """Add the topics of a document's chunks, where its collection has topics."""
    if topics is None:
        return item
    theta = topics.theta(item.vectors, [chunk.text for chunk in item.chunks])
    return replace(item, theta=theta, topics_fingerprint=topics.fingerprint)


def _brought_along(batch: Sequence[Prepared]) -> dict[str, Vector]:
    """Return the vectors that the engine made, by digest of chunk."""
    return {
        chunk.sha256: vector
        for prepared in batch
        if prepared.vectors is not None
        for chunk, vector in zip(prepared.chunks, prepared.vectors, strict=True)
    }


def _scopes(store: Store, collection: str, assignment: Assignment) -> Iterator[str]:
    """Yield the scopes of the collection, and those of the files of this run."""
    yield from store.scope_names(collection)
    yield from (task.given.scope for task in assignment.tasks if task.given.scope)


def _finish(
    store: Store, options: IngestOptions, started_at: str, folders: Sequence[Folder], log: _Log
) -> IngestRun:
    store.finish(options.collection)
    outcomes = tuple(sorted(log.outcomes, key=lambda outcome: outcome.uri))
    names = tuple(shown(folder.uri) for folder in folders)
    notes = options.classifier.notes() if options.classifier else ()
    ids = (uuid.uuid4().hex, options.collection)
    run = IngestRun(*ids, started_at, _now(), outcomes, names, notes)
    store.record_run(run)
    return run


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
