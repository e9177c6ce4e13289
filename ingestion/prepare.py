"""One file to a document with sections and chunks, or to the reason why it was not read."""

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from graph.errors import UnreadableFile
from graph.model import Chunk, Document, DocumentState, FileOutcome, Section, Vectors
from graph.ports import Embedder
from ingestion.chunk import SPLITTER_VERSION, chunk_document
from ingestion.describe import describe
from ingestion.identity import Task, document_id, file_sha256, file_stamp
from ingestion.metadata import METADATA_VERSION
from ingestion.near_copies import minhash
from ingestion.page_labels import label_spans
from ingestion.parsed import ParsedDocument, ReadLimits
from ingestion.read import Reader
from ingestion.sections import build_sections

CLASSIFIED = "+"
"""In a stored fingerprint, before the mark of the chat model that was asked about the document."""

_ATTEMPTS = 2
"""How often a file is read that changes meanwhile."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is the same for all files of a run."""

    collection: str
    audience: str | None
    """For files to which the scope map gives none; see `IngestOptions`."""
    embedder: Embedder
    limits: ReadLimits
    classifier: str = ""
    """Mark of the chat model that is asked about documents; empty where none is."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that is ready to be embedded and written."""

    document: Document
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    outcome: FileOutcome
    """What the report will say once it is written."""
    minhash: bytes = b""
    """Signature by which near copies are found."""
    vectors: Vectors | None = None
    """Shape (len(chunks), d), where the chunks were embedded with the reading."""
    path: PurePath = PurePath()  # noqa: RUF009 (immutable)
    """The file's path below the ingested folder."""


def prepare(task: Task, plan: Plan, reader: Reader) -> Prepared | FileOutcome:
    """Read a file and cut it into chunks, unless the graph has it already."""
    try:
        for _ in range(_ATTEMPTS):
            if (result := _attempt(task, plan, reader)) is not None:
                return result
        raise UnreadableFile(
            "changing", "the file changed while it was read; run again when nothing writes to it"
        )
    except UnreadableFile as error:
        return _refused(task, error)


def document_audience(task: Task, plan: Plan) -> str:
    """Return who may see the file: what is given now, else what it has in the graph."""
    stored = task.known.audience if task.known else "public"
    return task.audience or task.given.audience or plan.audience or stored


def document_fingerprint(task: Task, plan: Plan) -> str:
    """Return a digest of all that a document's chunks depend on beside the file's bytes."""
    metadata = json.dumps(asdict(task.given), sort_keys=True)
    audience = document_audience(task, plan)
    versions = (SPLITTER_VERSION, METADATA_VERSION)
    return _digest(*versions, plan.embedder.fingerprint, audience, metadata)


def _attempt(task: Task, plan: Plan, reader: Reader) -> Prepared | FileOutcome | None:
    """Prepare a file once; None if it changed meanwhile."""
    started = time.monotonic()
    path = task.file.path
    stamp = file_stamp(path)
    planned = task.sha256 is not None and stamp == task.stamp
    sha256 = task.sha256 if planned else file_sha256(path, plan.limits.file_bytes)
    fingerprint = document_fingerprint(task, plan)
    known = task.known
    if known is not None and _is_known(known, sha256, fingerprint, task, plan):
        return _unchanged(task, known)
    parsed = reader.read(path)
    if file_stamp(path) != stamp or not sha256:
        return None
    if task.sha256 not in (None, sha256):
        # What it is was decided by other bytes: another document's name may hang on that.
        raise UnreadableFile("changing", "the file changed during the run; run again")
    document = _document(task, plan, parsed, sha256, fingerprint)
    spans = build_sections(parsed, document.id, document.title)
    chunks = chunk_document(parsed, spans, document.title, plan.embedder)
    if not chunks:
        raise UnreadableFile("no_text", "the file holds nothing that can be searched for")
    sections = tuple(span.section for span in spans)
    outcome = _read_outcome(task, document, parsed, sections, chunks)
    seconds = round(time.monotonic() - started, 3)
    signature = minhash(parsed.text)
    outcome = replace(outcome, seconds=seconds)
    return Prepared(document, sections, chunks, outcome, signature, path=task.file.relative)


def _is_known(
    known: DocumentState, sha256: str | None, fingerprint: str, task: Task, plan: Plan
) -> bool:
    """Return whether the graph has the file as it would be read now."""
    # The fingerprint knows what is given now, not that the graph holds another scope since.
    if (known.sha256, known.scope_set) != (sha256, task.scope_set):
        return False
    before, _, classifier = known.fingerprint.partition(CLASSIFIED)
    # What a model said stays where none is asked any more.
    return before == fingerprint and plan.classifier in ("", classifier)


def _unchanged(task: Task, known: DocumentState) -> FileOutcome:
    uri = task.file.uri
    if uri in known.names:
        return FileOutcome(uri, "unchanged", document_id=known.id, chunks=known.chunks)
    return FileOutcome(uri, "same", document_id=known.id, chunks=known.chunks, same_as=known.uri)


def _document(
    task: Task, plan: Plan, parsed: ParsedDocument, sha256: str, fingerprint: str
) -> Document:
    now = datetime.now(UTC)
    about = describe(
        parsed,
        task.file.relative,
        task.given,
        task.stated,
        scope_set=task.scope_set,
        latest_year=now.year + 1,
    )
    return Document(
        id=task.id or document_id(plan.collection, task.file.uri),
        uri=task.file.uri,
        title=about.title,
        sha256=sha256,
        media_type=parsed.media_type,
        pages=parsed.pages,
        ingested_at=now.isoformat(timespec="seconds"),
        fingerprint=fingerprint,
        scope=about.scope,
        collection=plan.collection,
        audience=document_audience(task, plan),
        series=about.series,
        edition=about.edition,
        year=about.year,
        date=about.date,
        copies=task.copies,
        scope_set=task.scope_set is not None,
        metadata_sources=about.sources,
        page_labels=label_spans(parsed.page_labels),
    )


def _read_outcome(
    task: Task,
    document: Document,
    parsed: ParsedDocument,
    sections: Sequence[Section],
    chunks: Sequence[Chunk],
) -> FileOutcome:
    return FileOutcome(
        uri=document.uri,
        status="read" if task.known is None else "replaced",
        reason="; ".join(parsed.warnings),
        document_id=document.id,
        pages=parsed.pages,
        pages_without_text=parsed.pages_without_text,
        sections=len(sections),
        chunks=len(chunks),
        engine=parsed.engine,
        metadata=with_values(document),
    )


def with_values(document: Document) -> tuple[str, ...]:
    """Return a document's metadata with their sources, such as "year 2024: file name (0.80)"."""
    split = (line.partition(": ") for line in document.metadata_sources)
    return tuple(f"{field} {getattr(document, field)}: {source}" for field, _, source in split)


def _refused(task: Task, error: UnreadableFile) -> FileOutcome:
    reason = str(error)
    if task.known is not None:
        reason += "; what was read of it earlier stays in the graph until it is removed"
    return FileOutcome(task.file.uri, "refused", reason=reason, code=error.status)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
