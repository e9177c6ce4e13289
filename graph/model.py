"""The values that travel between modules; all of them frozen, none of them knows the database."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One embedding, shape (d,), unit length, finite."""

Vectors = NDArray[np.float32]
"""A batch of embeddings, shape (n, d), each row unit length and finite."""

OPEN_ENDED = "99991231"
"""`valid_to` of an edition that nothing supersedes."""

SCOPE_SET = "scope: set in the graph (1.00)"
"""Among a document's `metadata_sources` where its scope was set by hand."""


# What is stored -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """One file, as it was read."""

    id: str
    """Hex digest of collection and uri: the same file keeps its id when its content changes."""
    uri: str
    """Absolute `file://` address, or the address that a crawler fetched."""
    title: str
    sha256: str
    """Digest of the file's bytes."""
    media_type: str
    pages: int | None
    """Number of pages; None for formats that have none."""
    ingested_at: str
    """ISO 8601, UTC."""
    fingerprint: str
    """What the chunks depend on beside the bytes: splitter version, embedder, metadata given."""
    scope: str = "default"
    collection: str = "default"
    audience: str = "public"
    """Who may see it: a caller sees only the audiences it holds."""
    series: str | None = None
    """The work of which this is an edition, such as "Common Policy"."""
    edition: str | None = None
    year: int | None = None
    date: str | None = None
    """Date of the edition, ISO 8601, where a day is known."""
    is_current: bool = True
    """False when a newer edition of the series is in the collection. Set by the store."""
    copies: tuple[str, ...] = ()
    """Addresses of further files with the same bytes, for which this document stands too."""
    scope_set: bool = False
    """Whether the scope was set in the graph, rather than by a scope map or the file's folder."""
    metadata_sources: tuple[str, ...] = ()
    """Where title, series, edition, year, date and scope come from, each with how far that source
    is trusted, in [0, 1]: such as "year: file name (0.80)"."""
    page_labels: tuple[str, ...] = ()
    """Pages, counted from 1 as everywhere in Milepost, with the numbers that are printed on them,
    where these differ: such as "1-2: iii-iv"."""


@dataclass(frozen=True, slots=True)
class Section:
    """A node of the document's outline."""

    id: str
    document_id: str
    parent_id: str | None
    """None for a section at the top of the document."""
    number: str | None
    """Such as "401.4-2(b)"; None where the heading carries no number."""
    title: str
    path: tuple[str, ...]
    """Headings from the top of the document down to this one, inclusive."""
    level: int
    """1 for the top."""
    ordinal: int
    """Position in the document, 0-indexed, depth first."""
    page_start: int | None
    """1-indexed; None for formats without pages."""
    page_end: int | None
    provenance: str
    """How the heading was found: "bookmarks", "numbering", "markup" or "document"."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of one section, small enough for the encoder to read whole."""

    id: str
    """Hex digest of document, section path, text and occurrence: stable while the text is."""
    document_id: str
    section_id: str
    text: str
    """Equals document text [start:end]."""
    heading: str
    """The section's path in one line, and below it the names of the columns where a table was cut;
    embedded and indexed together with the text."""
    ordinal: int
    """Position in the document, 0-indexed."""
    start: int
    """Character offset in the document's extracted text, 0-indexed, inclusive."""
    end: int
    """Exclusive."""
    page_start: int | None
    page_end: int | None
    sha256: str
    """Digest of heading and text: what the vector depends on."""
    printed: str | None = None
    """What is printed on its pages in place of their count, such as "iii" or "iii-iv"."""


@dataclass(frozen=True, slots=True)
class IngestedDocument:
    """A document with everything that is written for it, in one transaction."""

    document: Document
    sections: tuple[Section, ...]
    chunks: tuple[Chunk, ...]
    vectors: Vectors
    """Shape (len(chunks), d)."""
    embedder: str
    """Fingerprint of the model that made the vectors."""
    minhash: bytes = b""
    """Signature by which near copies are found; empty where there is none."""
    theta: Vectors | None = None
    """Shape (len(chunks), K), rows sum to 1; None where the collection has no topics."""
    topics_fingerprint: str | None = None
    """Of the topic model that made theta."""


@dataclass(frozen=True, slots=True)
class ChunkBatch:
    """Chunks as they are stored, each with the scope and series of its document."""

    chunks: tuple[Chunk, ...]
    scopes: tuple[str, ...]
    series: tuple[str | None, ...]
    vectors: Vectors
    """Shape (len(chunks), d); (len(chunks), 0) where vectors were not asked for."""
    theta: tuple[Vector | None, ...] = ()
    """Each chunk's topics, (K,), None for a chunk without; empty where they were not asked for."""
    topics_fingerprints: tuple[str | None, ...] = ()
    """Of the topic models that made them: a theta may be older than the topics in the graph.
    `graph.topics.stacked` checks that and returns one array."""


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What the graph knows of a file: enough to tell whether it must be read again."""

    id: str
    uri: str
    sha256: str
    fingerprint: str
    audience: str
    chunks: int
    copies: tuple[str, ...] = ()
    minhash: bytes = b""
    scope_set: str | None = None
    """Its scope, where that was set in the graph; None where a map or the folder gave it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every address for which the document stands, its own first."""
        return (self.uri, *self.copies)


FileStatus = Literal["read", "unchanged", "replaced", "same", "refused", "gone", "removed"]
"""`same`: another name for bytes that the graph has. `gone`: a document whose file is no longer
there. `removed`: such a document, or one name of it, taken out of the graph."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What an ingestion run did with one file."""

    uri: str
    status: FileStatus
    reason: str = ""
    """For a refused file: what is wrong and what to do. For others: warnings, if any."""
    code: str = ""
    """Machine-readable reason of a refusal, such as "encrypted"."""
    document_id: str | None = None
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    """1-indexed."""
    sections: int = 0
    chunks: int = 0
    seconds: float = 0.0
    engine: str = ""
    """What read the file, with its version, such as "pypdfium2 5.15.2"."""
    same_as: str | None = None
    """Address of the file with the same bytes, under which the document is kept."""
    near_copy_of: str | None = None
    """Address of the document whose text is nearly this one's; both are kept."""
    similarity: float | None = None
    """Share of five-word shingles in common with it (Jaccard), estimated, in [0, 1]."""
    metadata: tuple[str, ...] = ()
    """What is known of a document that was read, such as "year 2024: file name (0.80)"."""


@dataclass(frozen=True, slots=True)
class IngestRun:
    """One call of `milepost ingest`.

    `outcomes` has every file that was seen, and every document of the folders whose file is gone.
    """

    id: str
    collection: str
    started_at: str
    """ISO 8601, UTC."""
    finished_at: str
    outcomes: tuple[FileOutcome, ...]
    folders: tuple[str, ...] = ()
    """Paths of the folders that were ingested."""
    notes: tuple[str, ...] = ()
    """What a person should know of the run as a whole."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A named part of a collection, such as one series of publications."""

    name: str
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Holding:
    """Documents of a collection that share scope, series, edition and year."""

    scope: str
    series: str | None
    edition: str | None
    year: int | None
    documents: int


@dataclass(frozen=True, slots=True)
class TrainedRouter:
    """What a router learned, as it is kept in the graph."""

    collection: str
    name: str
    fingerprint: str
    """Of the embedder and the scopes that it was trained with."""
    trained_at: str
    """ISO 8601, UTC."""
    summary: str
    """JSON: questions, accuracy and whatever else a person would ask for."""
    weights: bytes
    """Arrays in NumPy's npz format, without pickles."""


@dataclass(frozen=True, slots=True)
class TopicModel:
    """The topics of a collection, as they are kept in the graph."""

    collection: str
    name: str
    """What found them: "kmeans", "fastopic", "etm" or "external"."""
    fingerprint: str
    """Changes whenever theta of the same text would."""
    embedder: str
    """Fingerprint of the embedder in whose space the centroids lie."""
    centroids: Vectors
    """Shape (K, d), rows of unit length."""
    temperature: float
    """Above 0: theta of new text is softmax(cosine / temperature), where the model has no way of
    its own."""
    terms: tuple[tuple[str, ...], ...]
    """Of each topic, (K,), the most telling first."""
    labels: tuple[str, ...]
    """Of each topic, (K,); no two are the same."""
    fitted_at: str = ""
    """ISO 8601, UTC."""
    summary: str = "{}"
    """JSON: chunks, seed, quality and whatever else a person would ask for."""
    arrays: bytes = b""
    """What the model needs beside for theta of new text: npz, without pickles."""


@dataclass(frozen=True, slots=True)
class TopicCount:
    """How much of a collection one topic is among the strongest of."""

    number: int
    """0-indexed: the topic's place in centroids, terms and theta."""
    chunks: int
    documents: int
    scopes: tuple[tuple[str, int], ...]
    """Scopes with their number of such chunks, most first."""


# What is asked ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks a search may return; every field is applied inside the indexes."""

    collection: str = "default"
    audiences: tuple[str, ...] = ("public",)
    """The audiences that the caller holds."""
    scopes: tuple[str, ...] = ()
    """Only these scopes; empty means all."""
    series: str | None = None
    edition: str | None = None
    """Only this edition, as its document is marked."""
    year: int | None = None
    as_of: int | None = None
    """Only editions in force at the end of this year; undated documents are always in force."""
    current_only: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A question and what it may be answered from."""

    text: str
    filter: Filter = Filter()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Up to four kinds of lists, fetched in one round trip."""

    filter: Filter
    limit: int
    """Length of each list."""
    vector: Vector | None = None
    """Query embedding for the global and the scoped lists; None leaves them out."""
    search_globally: bool = True
    """Whether to fetch the vector list over everything that the filter lets through."""
    scopes: tuple[str, ...] = ()
    """One vector list for each of these scopes."""
    text: str = ""
    """The question for the full-text list, as typed; empty leaves that list out."""
    addresses: tuple[str, ...] = ()
    """Numbers of sections, such as "401.4-2(b)": their passages make a list of their own."""
    with_vectors: bool = False
    """Whether each candidate comes with its embedding."""
    with_topics: bool = False
    """Whether each candidate comes with its topics."""


# What comes back ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListRank:
    """A chunk's place in one of the lists that were fused."""

    rank: int
    """1-indexed."""
    score: float
    """Vector lists and addresses: (1 + cosine) / 2, or 1 for an address without a vector to
    compare. Full text: BM25, without upper bound."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with what a person needs to find it in its document."""

    chunk_id: str
    text: str
    heading: str
    document_id: str
    document: str
    """Title of the document."""
    uri: str
    section_id: str
    section_number: str | None
    section: str
    """Title of the section."""
    page_start: int | None
    page_end: int | None
    scope: str
    series: str | None
    edition: str | None
    year: int | None
    is_current: bool
    printed: str | None = None
    """What is printed on the pages in place of their count, such as "iii" or "iii-iv"."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage found by at least one list."""

    passage: Passage
    lists: Mapping[str, ListRank]
    """By list name: "global", "fulltext", "address" or "scope:NAME"."""
    cosine: float | None = None
    """With the question, in [-1, 1], whichever list found the chunk; None without a vector."""
    vector: Vector | None = None
    """The chunk's embedding, where it was asked for."""
    theta: Vector | None = None
    """The chunk's topics, (K,), where they were asked for and the chunk has them."""
    topics_fingerprint: str | None = None
    """Of the topic model that made theta: it may be older than the topics in the graph."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate with its final place."""

    passage: Passage
    lists: Mapping[str, ListRank]
    score: float
    """Comparable within one ranking only; not a probability."""


@dataclass(frozen=True, slots=True)
class Route:
    """How likely it is that a scope holds the answer."""

    scope: str
    probability: float
    """In [0, 1]; the routes of one question sum to at most 1."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a retrieval system returns: the same question gives the same ranking, always."""

    query: Query
    system: str
    hits: tuple[Hit, ...]
    route: tuple[Route, ...] = ()
    """Most likely first; empty when the system does not route or could not decide."""
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])
    """Wall-clock milliseconds by stage."""
    reasons: tuple[str, ...] = ()
    """What was understood of the question, in plain words."""
