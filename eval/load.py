"""Writes an evaluation set's documents into the graph, in a collection of its own.

Texts take the road of ingested files: the same splitter, embedder and vector cache. Loading again
writes only what changed, and removes what is no longer in the set.
"""

import codecs
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import quote

import numpy as np

from eval.collection import EvaluationSet, SourceDocument
from graph.errors import UnreadableFile
from graph.model import Document, DocumentState, FileOutcome, IngestedDocument, Vector
from graph.ports import Embedder, Store
from ingestion.chunk import SPLITTER_VERSION, chunk_document, embedded_text
from ingestion.metadata import find_metadata
from ingestion.parsed import ParsedDocument
from ingestion.pipeline import batches
from ingestion.prepare import Prepared, document_id
from ingestion.read import Reader
from ingestion.sections import build_sections
from ingestion.text import parse_text
from ingestion.vector_cache import VectorCache, embed_cached

BATCH_CHUNKS = 512
_EMBEDDED_AT_ONCE = 128
"""Chunks after which vectors are in the cache, so that a run that is killed loses little."""

Progress = Callable[[int, int], None]
"""Told how much is done, of how much; in characters or bytes."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What loading did."""

    collection: str
    written: int
    """Documents."""
    unchanged: int
    removed: int
    refused: tuple[FileOutcome, ...]


@dataclass(frozen=True, slots=True)
class Loader:
    """What loading needs."""

    store: Store
    embedder: Embedder
    cache: VectorCache | None
    """Of the same embedder; None embeds everything."""


def collection_name(evaluation_set: EvaluationSet) -> str:
    """Return the collection that a set is kept in."""
    return f"eval-{evaluation_set.name}"


def uri(document: SourceDocument) -> str:
    """Return the address under which a set's document is kept in the graph."""
    return f"set://{quote(document.set)}/{quote(document.id)}"


def graph_ids(evaluation_set: EvaluationSet, collection: str) -> dict[str, SourceDocument]:
    """Return the set's documents by the id that they have in the graph."""
    return {document_id(collection, uri(one)): one for one in evaluation_set.documents}


def load(
    evaluation_set: EvaluationSet,
    collection: str,
    loader: Loader,
    progress: Progress = lambda done, total: None,
) -> LoadReport:
    """Bring a set's documents into the graph.

    Raises:
        StoreError: The graph failed; what was written before are whole documents.
        ModelError: The embedder failed.
    """
    states = loader.store.document_states(collection)
    documents = graph_ids(evaluation_set, collection)
    log = _Log(documents, progress)
    with Reader() as reader:
        prepared = _prepare_changed(documents, collection, loader.embedder, states, reader, log)
        for batch in batches(prepared, BATCH_CHUNKS):
            loader.store.write(_embedded(batch, loader))
            log.written(batch)
    stale = [state.id for state in states.values() if state.id not in documents]
    removed = loader.store.remove(stale) if stale else 0
    if log.count or removed:
        loader.store.finish(collection)
    refused = tuple(log.refused)
    unchanged = len(documents) - log.count - len(refused)
    return LoadReport(collection, log.count, unchanged, removed, refused)


def extracted_text(document: SourceDocument) -> str:
    """Return the text that a document given as text has in the graph.

    Raises:
        UnreadableFile: It holds no text.
    """
    return _parse_text(document).text


class _Log:
    """What is done so far."""

    def __init__(self, documents: Mapping[str, SourceDocument], progress: Progress) -> None:
        self.count = 0
        self.refused: list[FileOutcome] = []
        self._sizes = {id: _size(document) for id, document in documents.items()}
        self._total = sum(self._sizes.values())
        self._done = 0
        self._progress = progress

    def written(self, batch: Sequence[Prepared]) -> None:
        self.count += len(batch)
        self.passed([one.document.id for one in batch])

    def refuse(self, id: str, uri: str, error: UnreadableFile) -> None:
        self.refused.append(FileOutcome(uri, "refused", reason=str(error), code=error.status))
        self.passed([id])

    def passed(self, ids: Iterable[str]) -> None:
        self._done += sum(self._sizes[id] for id in ids)
        self._progress(self._done, self._total)


def _prepare_changed(
    documents: Mapping[str, SourceDocument],
    collection: str,
    embedder: Embedder,
    states: Mapping[str, DocumentState],
    reader: Reader,
    log: _Log,
) -> Iterator[Prepared]:
    for id, source in documents.items():
        known = states.get(uri(source))
        stamp = (_sha256(source), _fingerprint(source, embedder))
        if known is not None and (known.sha256, known.fingerprint) == stamp:
            log.passed([id])
            continue
        try:
            parsed = _parse_text(source) if source.path is None else reader.read(source.path)
            document = _document(source, parsed, id, collection, stamp)
            yield _prepared(document, parsed, _title(source, document), embedder)
        except UnreadableFile as error:
            log.refuse(id, uri(source), error)


def _parse_text(source: SourceDocument) -> ParsedDocument:
    # A byte order mark, or the reader would guess an encoding where the text holds NULs.
    parsed = parse_text(codecs.BOM_UTF8 + (source.text or "").encode())
    if not any(character.isalnum() for character in parsed.text):
        raise UnreadableFile("no_text", "the text holds no letters or figures")
    return parsed


def _document(
    source: SourceDocument, parsed: ParsedDocument, id: str, collection: str, stamp: tuple[str, str]
) -> Document:
    now = datetime.now(UTC)
    found = find_metadata(parsed, source.id, latest_year=now.year + 1) if source.path else None
    titled = source.title and source.title != source.id
    sha256, fingerprint = stamp
    return Document(
        id=id,
        uri=uri(source),
        title=(source.title or "") if titled else found.title if found else source.id,
        sha256=sha256,
        media_type=parsed.media_type,
        pages=parsed.pages,
        ingested_at=now.isoformat(timespec="seconds"),
        fingerprint=fingerprint,
        scope=source.scope,
        collection=collection,
        series=source.series,
        edition=source.edition or (found.edition if found else None),
        year=source.year or (found.year if found else None),
        date=source.date,
    )


def _title(source: SourceDocument, document: Document) -> str:
    """Return what stands above the document's chunks; an id such as "162428-0-349" is no title."""
    return "" if source.path is None and document.title == source.id else document.title


def _prepared(
    document: Document, parsed: ParsedDocument, title: str, embedder: Embedder
) -> Prepared:
    spans = build_sections(parsed, document.id, title)
    chunks = chunk_document(parsed, spans, title, embedder)
    if not chunks:
        raise UnreadableFile("no_text", "the document holds nothing that can be searched for")
    outcome = FileOutcome(document.uri, "read", document_id=document.id, chunks=len(chunks))
    return Prepared(document, tuple(span.section for span in spans), chunks, outcome)


def _embedded(batch: Sequence[Prepared], loader: Loader) -> list[IngestedDocument]:
    chunks = [chunk for one in batch for chunk in one.chunks]
    texts = {chunk.sha256: embedded_text(chunk.heading, chunk.text) for chunk in chunks}
    vectors: dict[str, Vector] = {}
    remaining = iter(texts.items())
    while part := dict(islice(remaining, _EMBEDDED_AT_ONCE)):
        vectors |= embed_cached(loader.embedder, loader.cache, part)
    return [
        IngestedDocument(
            one.document,
            one.sections,
            one.chunks,
            np.stack([vectors[chunk.sha256] for chunk in one.chunks]),
            loader.embedder.fingerprint,
        )
        for one in batch
    ]


def _size(source: SourceDocument) -> int:
    return len(source.text or "") if source.path is None else source.path.stat().st_size


def _sha256(source: SourceDocument) -> str:
    """Return the digest of what is read; empty for a file that the reader will refuse."""
    try:
        data = (source.text or "").encode() if source.path is None else source.path.read_bytes()
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()


def _fingerprint(source: SourceDocument, embedder: Embedder) -> str:
    metadata = source.model_dump_json(exclude={"text", "path"})
    parts = (SPLITTER_VERSION, embedder.fingerprint, metadata)
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
