"""What the packages above ask of their collaborators; only `app.wiring` names concrete classes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from graph.model import (
    Candidate,
    Chunk,
    ChunkBatch,
    Document,
    DocumentState,
    Filter,
    Holding,
    IngestedDocument,
    IngestRun,
    Passage,
    Query,
    Ranking,
    Route,
    Scope,
    SearchRequest,
    Section,
    TopicCount,
    TopicModel,
    TrainedRouter,
    Vector,
    Vectors,
)


class Tokenizer(Protocol):
    """Splits text the way the encoder does."""

    max_tokens: int
    """Word pieces that the encoder reads of one text, special ones not counted."""

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the [start, end) character offsets of each word piece, however long the text."""
        ...


class Embedder(Tokenizer, Protocol):
    """Turns text into unit vectors of a fixed size."""

    name: str
    dimensions: int
    fingerprint: str
    """Changes whenever the vectors would; stored with each chunk and compared at start."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (n, d) float32, rows of unit length, in the order given.

        Raises:
            ModelError: The model failed or returned a vector that is not finite.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """Embed a question: (d,) float32 of unit length."""
        ...


class Retriever(Protocol):
    """A retrieval system."""

    def __call__(self, query: Query, k: int) -> Ranking:
        """Return at most k hits, best first; equal scores are ordered by chunk id."""
        ...


class Router(Protocol):
    """Tells which scopes a question belongs to."""

    def __call__(self, query: Query, vector: Vector) -> tuple[Route, ...]:
        """Return scopes, most likely first; empty when it cannot decide."""
        ...


class Topics(Protocol):
    """A topic model that is fitted: what it found, and theta of any text."""

    @property
    def name(self) -> str:
        """Return what found the topics, such as "kmeans"."""
        ...

    @property
    def fingerprint(self) -> str:
        """Return what changes whenever theta of the same text would."""
        ...

    @property
    def centroids(self) -> Vectors:
        """Return the topics in the embedder's space: (K, d), rows of unit length."""
        ...

    @property
    def terms(self) -> tuple[tuple[str, ...], ...]:
        """Return the terms of each topic, the most telling first."""
        ...

    def theta(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return the topics of texts: (n, K) float32, rows of at least 0 that sum to 1.

        Args:
            vectors: Embeddings of the texts, (n, d).
            texts: Passages without their headings, or questions, (n,); models of words need them.
        """
        ...


class Store(Protocol):
    """The graph. `graph.store.GraphStore` is Neo4j; tests have one in memory.

    Every method may raise StoreUnavailable, StoreFull or StoreError.
    """

    # Writing

    def write(self, items: Sequence[IngestedDocument]) -> None:
        """Insert or replace documents, all of them or none, leaving nothing of older versions."""
        ...

    def remove(self, document_ids: Sequence[str]) -> int:
        """Remove documents with their sections and chunks; return how many there were."""
        ...

    def rename(self, names: Mapping[str, Sequence[str]]) -> None:
        """Set the addresses for which documents stand: by document id, the document's own first."""
        ...

    def finish(self, collection: str) -> None:
        """Bring scopes and the order of editions up to date with the documents."""
        ...

    def set_scopes(self, collection: str, scopes: Mapping[str, str]) -> int:
        """Move documents of a collection to scopes, by document id; return how many there were.

        Ids that the collection does not have are left out. A scope that is set so is kept when the
        document is ingested again, unless a scope map gives another. Call `finish` afterwards.
        """
        ...

    def record_run(self, run: IngestRun) -> None:
        """Keep the run's report in the graph."""
        ...

    # Reading

    def document_states(self, collection: str) -> Mapping[str, DocumentState]:
        """Return what is known of each document, by uri."""
        ...

    def list_documents(self, where: Filter) -> Sequence[tuple[Document, int]]:
        """Return documents with their number of chunks, by scope, series, edition, title, uri."""
        ...

    def list_scopes(self, where: Filter) -> Sequence[Scope]:
        """Return the scopes that hold chunks which the filter lets through, by name."""
        ...

    def chunks(
        self, collection: str, *, with_vectors: bool = True, with_topics: bool = False
    ) -> Iterator[ChunkBatch]:
        """Yield all chunks, whatever their audience, in batches: by document id and ordinal.

        For evaluation, training and maintenance; what a caller may see is found by `search`.
        """
        ...

    def nearest_scopes(
        self, vector: Vector, where: Filter, limit: int
    ) -> Sequence[tuple[str, float]]:
        """Return scope and (1 + cosine) / 2 of the nearest chunks, nearest first."""
        ...

    def search(self, request: SearchRequest) -> Sequence[Candidate]:
        """Fetch all lists in one round trip, each candidate once, ordered by chunk id."""
        ...

    def referred(
        self, references: Sequence[str], vector: Vector, where: Filter, each: int
    ) -> Sequence[Candidate]:
        """Return the chunks nearest to the question under headings that hold these references.

        Args:
            references: Such as "RCW 82.04.050"; each makes a list "reference:NAME".
            vector: Embedding of the question.
            where: Which chunks.
            each: Chunks for each reference.
        """
        ...

    def passages(self, chunk_ids: Sequence[str], where: Filter) -> Sequence[Passage]:
        """Return those of these chunks that the filter lets through, in reading order."""
        ...

    def neighbours(
        self, chunk_ids: Sequence[str], where: Filter, distance: int
    ) -> Sequence[Passage]:
        """Return these chunks with up to `distance` chunks before and after each."""
        ...

    def section_passages(self, section_id: str, where: Filter) -> Sequence[Passage]:
        """Return a section's chunks, those of its subsections too, in reading order."""
        ...

    def outlines(
        self, document_ids: Sequence[str], where: Filter
    ) -> Sequence[tuple[Section, Sequence[Chunk]]]:
        """Return the sections of those documents that the filter lets through.

        Each with the chunks that stand directly in it, not in its subsections: by document id and
        ordinal.
        """
        ...

    def holdings(self, where: Filter) -> Sequence[Holding]:
        """Return which scopes, series, editions and years there are."""
        ...

    def scope_names(self, collection: str) -> Sequence[str]:
        """Return all scopes of a collection by name, whatever their audience."""
        ...

    # Routers

    def write_router(self, router: TrainedRouter) -> None:
        """Keep what a router learned, in place of what it had learned before."""
        ...

    def read_router(self, collection: str, name: str) -> TrainedRouter | None:
        """Return what a router learned, or None if it was never trained."""
        ...

    # Topics

    def write_topics(self, model: TopicModel) -> None:
        """Keep the topics of a collection in place of those it had.

        The chunks keep their theta, which is an older model's then: write theta afterwards.
        """
        ...

    def read_topics(self, collection: str) -> TopicModel | None:
        """Return the topics of a collection, or None if it has none."""
        ...

    def write_theta(
        self, collection: str, chunk_ids: Sequence[str], theta: Vectors, fingerprint: str
    ) -> int:
        """Write the topics of chunks, in bulk, and link each chunk to its strongest topics.

        Args:
            collection: Chunks of others are left as they are.
            chunk_ids: (n,).
            theta: Shape (n, K), rows sum to 1.
            fingerprint: Of the topic model that made theta.

        Returns:
            How many of the chunks the collection has.
        """
        ...

    def count_theta(self, collection: str, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks a collection has, and how many have a theta of this model."""
        ...

    def count_topics(self, where: Filter) -> Sequence[TopicCount]:
        """Return the topics that chunks are about which the filter lets through, by number."""
        ...

    def topic_passages(
        self, number: int, where: Filter, limit: int
    ) -> Sequence[tuple[Passage, float]]:
        """Return the passages that are most about a topic, with the weights, highest first."""
        ...
