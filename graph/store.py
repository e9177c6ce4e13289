"""The graph in Neo4j: one driver, every statement in a managed transaction, errors wrapped once."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, LiteralString, TypeVar

from neo4j import READ_ACCESS, WRITE_ACCESS, Driver, GraphDatabase, ManagedTransaction, Result
from neo4j.exceptions import DriverError, Neo4jError
from neo4j.vector import Vector as DriverVector

from graph import cypher, rows, schema, write
from graph.driver_errors import wrapped
from graph.errors import (
    EmbedderMismatch,
    SchemaMismatch,
    StoreFull,
    StoreUnavailable,
)
from graph.lucene import fulltext_query, heading_query
from graph.model import (
    SCOPE_SET,
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
    Scope,
    SearchRequest,
    Section,
    TopicCount,
    TopicModel,
    TrainedRouter,
    Vector,
    Vectors,
)
from graph.patience import Patience
from graph.topics import check_theta

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """What the graph remembers of the model that made its vectors."""

    name: str
    dimensions: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """What the server and the graph are, for `milepost schema status`."""

    server: str
    edition: str
    applied: tuple[str, ...]
    missing: tuple[str, ...]
    embedder: EmbedderInfo | None
    indexes: tuple[Mapping[str, Any], ...]
    chunks: int


class GraphStore:
    """`graph.ports.Store` on Neo4j. Close it, or use it in a `with` statement.

    The constructor opens no connection; `verify` does, and fails at once where nobody answers.
    """

    def __init__(
        self,
        uri: str,
        auth: tuple[str, str],
        *,
        database: str = "neo4j",
        retry_seconds: float = 30,
        patience: Patience | None = None,
    ) -> None:
        """Set the driver up.

        Args:
            uri: Such as "bolt://127.0.0.1:7687" or "neo4j+s://…".
            auth: User name and password.
            database: Name of the database.
            retry_seconds: How long a transaction is retried over lost connections and deadlocks.
            patience: For a server that is away for longer; None fails then.
        """
        _require_bolt(uri)
        self._uri = uri
        self._database = database
        self._patience = patience
        with wrapped(uri):
            self._driver: Driver = GraphDatabase.driver(
                uri,
                auth=auth,
                max_transaction_retry_time=retry_seconds,
                connection_timeout=5,
                connection_acquisition_timeout=30,
                liveness_check_timeout=60,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )

    def close(self) -> None:
        """Close the driver's connections."""
        self._driver.close()

    def __enter__(self) -> "GraphStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Schema

    def migrate(self, embedder: EmbedderInfo) -> tuple[str, ...]:
        """Bring the schema up to date and return the names of the migrations applied now.

        Raises:
            SchemaMismatch: The server is too old.
            EmbedderMismatch: The graph holds vectors of another model.
        """
        self.check_server()
        known = self._embedder()
        if known is not None and known.fingerprint != embedder.fingerprint and self._chunks():
            raise _embedder_mismatch(known, embedder)
        index = schema.VectorIndex(embedder.dimensions)
        if self._index_dimensions() not in (None, embedder.dimensions):
            # Made for another model, and empty: nothing is lost by building it anew.
            self._write(cypher.DROP_VECTOR_INDEX, {})
            schema.m002_vector_index(self._write, index)
        done = schema.migrate(self._write, index, self._applied())
        self._write(cypher.WRITE_EMBEDDER, asdict(embedder))
        return done

    def reindex(self) -> None:
        """Build the vector index anew, so that it is searched as a graph.

        Neo4j indexes what each transaction writes as a segment of its own and merges few of them:
        after a large load most are too small for an HNSW graph and are compared vector by vector.
        Building anew took 50,000 chunks from 170 to 11 ms a search; see eval/LOG.md. Until it is
        done, questions are refused.

        Raises:
            SchemaMismatch: There is no vector index.
        """
        dimensions = self._index_dimensions()
        if dimensions is None:
            raise SchemaMismatch("There is no vector index. Run `milepost schema migrate`.")
        self._write(cypher.DROP_VECTOR_INDEX, {})
        schema.m002_vector_index(self._write, schema.VectorIndex(dimensions))
        self._write(cypher.AWAIT_INDEXES, {"seconds": _REINDEX_SECONDS})

    def verify(self, embedder: EmbedderInfo) -> None:
        """Check server, schema, indexes and embedder; fail at once with what to do.

        Raises:
            StoreUnavailable: Nobody answers, or the password is refused.
            SchemaMismatch: Server too old, migrations or indexes missing or not ready.
            EmbedderMismatch: The graph holds vectors of another model.
        """
        status = self.status()
        if status.missing:
            raise SchemaMismatch(
                f"The graph's schema lacks {', '.join(status.missing)}. "
                "Run `milepost ingest FOLDER`, which creates it, or `milepost schema migrate`."
            )
        indexes = {str(index["name"]): index for index in status.indexes}
        for name in ("chunk_embedding", "chunk_text"):
            index = indexes.get(name, {"state": "missing", "properties": []})
            if index["state"] != "ONLINE":
                raise SchemaMismatch(
                    f"The index {name} is {index['state']}. Wait if it is POPULATING, "
                    "else run `milepost schema migrate`."
                )
            if name == "chunk_embedding" and "edition" not in index["properties"]:
                raise SchemaMismatch(
                    "The vector index was made by an older Milepost and cannot filter by edition. "
                    "Empty the graph with `milepost db reset` and ingest again."
                )
        if status.embedder and status.embedder.fingerprint != embedder.fingerprint:
            raise _embedder_mismatch(status.embedder, embedder)

    def status(self) -> SchemaStatus:
        """Return server version, migrations, indexes and embedder."""
        version, edition = self.check_server()
        applied = self._applied()
        return SchemaStatus(
            server=version,
            edition=edition,
            applied=applied,
            missing=tuple(name for name in schema.names() if name not in applied),
            embedder=self._embedder(),
            indexes=tuple(self._read(cypher.SHOW_INDEXES, {})),
            chunks=self._chunks(),
        )

    def check_server(self) -> tuple[str, str]:
        """Return version and edition of the server.

        Raises:
            StoreUnavailable: Nobody answers, or the password is refused.
            SchemaMismatch: The server is too old.
        """
        with wrapped(self._uri):
            self._driver.verify_connectivity()
        row = self._read(cypher.SERVER_VERSION, {})[0]
        version = str(row["version"])
        if tuple(int(part) for part in version.split(".")[:2]) < schema.SERVER_VERSION_NEEDED:
            raise SchemaMismatch(
                f"Neo4j {version} at {self._uri} is too old: "
                f"{'.'.join(map(str, schema.SERVER_VERSION_NEEDED))} or newer is needed. Upgrade "
                "it, or unset NEO4J_URI to let Milepost run its own."
            )
        return version, str(row["edition"])

    def _index_dimensions(self) -> int | None:
        for index in self._read(cypher.SHOW_INDEXES, {}):
            if index["name"] == "chunk_embedding":
                return int(index["config"]["vector.dimensions"])
        return None

    def _applied(self) -> tuple[str, ...]:
        return tuple(row["name"] for row in self._read(cypher.APPLIED_MIGRATIONS, {}))

    def _chunks(self) -> int:
        return int(self._read(cypher.COUNT_CHUNKS, {})[0]["chunks"])

    def _embedder(self) -> EmbedderInfo | None:
        found = self._read(cypher.READ_EMBEDDER, {})
        return EmbedderInfo(**found[0]) if found else None

    # Writing

    def write(self, items: Sequence[IngestedDocument]) -> None:
        """Insert or replace documents, all of them or none, leaving nothing of older versions.

        Where one transaction over all of them is too large for the server's memory, the documents
        are halved and written apart: each still whole or not at all.
        """
        ordered = sorted(items, key=lambda item: item.document.id)
        try:
            self._transaction(WRITE_ACCESS, lambda tx: write.documents(tx, ordered))
        except StoreFull:
            if len(ordered) < 2:
                raise
            self.write(ordered[: len(ordered) // 2])
            self.write(ordered[len(ordered) // 2 :])

    def remove(self, document_ids: Sequence[str]) -> int:
        """Remove documents with their sections and chunks; return how many there were."""
        removed = 0
        for batch in write.batches(sorted(document_ids), 20):
            result = self._write(cypher.REMOVE_DOCUMENTS, {"ids": list(batch)})
            removed += int(result[0]["removed"])
        return removed

    def rename(self, names: Mapping[str, Sequence[str]]) -> None:
        """Set the addresses for which documents stand: by document id, the document's own first."""
        changes = [
            {"id": id, "uri": uri, "copies": copies} for id, (uri, *copies) in sorted(names.items())
        ]
        for batch in write.batches(changes, write.ROWS_PER_STATEMENT):
            self._write(cypher.RENAME_DOCUMENTS, {"rows": list(batch)})

    def finish(self, collection: str) -> None:
        """Bring scopes and the order of editions up to date with the documents."""
        self._transaction(WRITE_ACCESS, lambda tx: write.order_and_count(tx, collection))

    def set_scopes(self, collection: str, scopes: Mapping[str, str]) -> int:
        """Move documents of a collection to scopes, by document id; return how many there were.

        Each batch of whole documents is one transaction. Call `finish` afterwards.
        """
        sizes = self._read(cypher.DOCUMENT_SIZES, {"collection": collection})
        moved = 0
        wanted = [row for row in sizes if row["id"] in scopes]
        for ids in _group_documents(wanted, write.ROWS_PER_STATEMENT):
            batch = [{"id": id, "scope": scopes[id], "source": SCOPE_SET} for id in ids]
            moved += self._transaction(WRITE_ACCESS, partial(write.scopes, all_rows=batch))
        return moved

    def record_run(self, run: IngestRun) -> None:
        """Keep the run's report in the graph, one relationship per file."""
        self._transaction(WRITE_ACCESS, lambda tx: write.run_report(tx, run))

    # Reading

    def document_states(self, collection: str) -> dict[str, DocumentState]:
        """Return what is known of each document, by uri."""
        found = self._read(cypher.DOCUMENT_STATES, {"collection": collection})
        return {row["uri"]: rows.state_from_row(row) for row in found}

    def list_documents(self, where: Filter) -> list[tuple[Document, int]]:
        """Return documents with their number of chunks, by scope, series, edition, title, uri."""
        found = self._read_filtered(cypher.LIST_DOCUMENTS, where, {})
        return [rows.document_from_row(row["document"]) for row in found]

    def list_scopes(self, where: Filter) -> list[Scope]:
        """Return the scopes that hold chunks which the filter lets through, by name."""
        return [Scope(**row) for row in self._read_filtered(cypher.LIST_SCOPES, where, {})]

    def chunks(
        self, collection: str, *, with_vectors: bool = True, with_topics: bool = False
    ) -> Iterator[ChunkBatch]:
        """Yield all chunks, whatever their audience, in batches: by document id and ordinal."""
        sizes = self._read(cypher.DOCUMENT_SIZES, {"collection": collection})
        for ids in _group_documents(sizes, write.ROWS_PER_STATEMENT):
            parameters: dict[str, object] = {
                "ids": ids,
                "with_vectors": with_vectors,
                "with_topics": with_topics,
            }
            if found := self._read(cypher.READ_CHUNKS, parameters):
                yield rows.chunk_batch_from_rows(found, with_topics=with_topics)

    def nearest_scopes(self, vector: Vector, where: Filter, limit: int) -> list[tuple[str, float]]:
        """Return scope and (1 + cosine) / 2 of the nearest chunks, nearest first."""
        parameters = {"vector": DriverVector(vector), "limit": limit}
        found = self._read_filtered(cypher.NEAREST_SCOPES, where, parameters)
        return [(row["scope"], row["score"]) for row in found]

    def search(self, request: SearchRequest) -> list[Candidate]:
        """Fetch all lists in one round trip, each candidate once, ordered by chunk id."""
        asked = request.vector is not None
        scopes = _allowed(request) if asked else []
        text = fulltext_query(request.text, request.filter)
        wanted = {
            "scopes": bool(scopes),
            "global": asked and request.search_globally,
            "fulltext": bool(text),
            "addresses": bool(request.addresses),
        }
        lists = [name for name, is_wanted in wanted.items() if is_wanted]
        if not lists:
            return []
        parameters: dict[str, object] = {
            "vector": DriverVector(request.vector) if request.vector is not None else None,
            "scopes": scopes,
            "text": text,
            "numbers": list(request.addresses),
            "headings": heading_query(request.addresses, request.filter),
            "limit": request.limit,
            "depth": _deeper(request.limit),
            "with_vectors": request.with_vectors,
            "with_topics": request.with_topics,
        }
        found = self._read_filtered(cypher.searching(lists), request.filter, parameters)
        return rows.candidates_from_rows(found)

    def referred(
        self, references: Sequence[str], vector: Vector, where: Filter, each: int
    ) -> list[Candidate]:
        """Return the chunks nearest to the question under headings that hold these references."""
        queries = {name: heading_query([name], where) for name in references}
        parameters: dict[str, object] = {
            "references": [{"name": name, "query": q} for name, q in queries.items() if q],
            "vector": DriverVector(vector),
            "limit": _REFERRED_CHUNKS,
            "each": each,
        }
        return rows.candidates_from_rows(self._read_filtered(cypher.REFERRED, where, parameters))

    def passages(self, chunk_ids: Sequence[str], where: Filter) -> list[Passage]:
        """Return those of these chunks that the filter lets through, in reading order."""
        found = self._read_filtered(cypher.PASSAGES, where, {"ids": list(chunk_ids)})
        return [rows.passage_from_row(row) for row in found]

    def neighbours(self, chunk_ids: Sequence[str], where: Filter, distance: int) -> list[Passage]:
        """Return these chunks with up to `distance` chunks before and after each."""
        parameters = {"ids": list(chunk_ids), "distance": distance}
        found = self._read_filtered(cypher.NEIGHBOURS, where, parameters)
        return [rows.passage_from_row(row) for row in found]

    def section_passages(self, section_id: str, where: Filter) -> list[Passage]:
        """Return a section's chunks, those of its subsections too, in reading order."""
        found = self._read_filtered(cypher.SECTION_PASSAGES, where, {"id": section_id})
        return [rows.passage_from_row(row) for row in found]

    def outlines(
        self, document_ids: Sequence[str], where: Filter
    ) -> list[tuple[Section, tuple[Chunk, ...]]]:
        """Return the sections of those documents that the filter lets through, with own chunks."""
        found = self._read_filtered(cypher.OUTLINES, where, {"ids": sorted(set(document_ids))})
        return [rows.outline_from_row(row) for row in found]

    def holdings(self, where: Filter) -> list[Holding]:
        """Return which scopes, series, editions and years there are."""
        (row,) = self._read_filtered(cypher.HOLDINGS, where, {})
        return [Holding(*values) for values in row["holdings"]]

    def scope_names(self, collection: str) -> list[str]:
        """Return all scopes of a collection by name, whatever their audience."""
        found = self._read(cypher.SCOPE_NAMES, {"collection": collection})
        return [row["name"] for row in found]

    # Routers

    def write_router(self, router: TrainedRouter) -> None:
        """Keep what a router learned, in place of what it had learned before."""
        parameters = {"collection": router.collection, "name": router.name}
        self._write(cypher.WRITE_ROUTER, {**parameters, "properties": asdict(router)})

    def read_router(self, collection: str, name: str) -> TrainedRouter | None:
        """Return what a router learned, or None if it was never trained."""
        found = self._read(cypher.READ_ROUTER, {"collection": collection, "name": name})
        if not found:
            return None
        row = found[0]["router"]
        return TrainedRouter(**row)

    # Topics

    def write_topics(self, model: TopicModel) -> None:
        """Keep the topics of a collection in place of those it had.

        The chunks keep their theta, which is an older model's then: write theta afterwards.
        """
        self._transaction(WRITE_ACCESS, lambda tx: write.topics(tx, model))
        parameters = {
            "collection": model.collection,
            "fingerprint": model.fingerprint,
            "limit": _TOPICS_DELETED_AT_ONCE,
        }
        while self._write(cypher.DELETE_OLD_TOPICS, parameters)[0]["deleted"]:
            pass

    def read_topics(self, collection: str) -> TopicModel | None:
        """Return the topics of a collection, or None if it has none."""
        found = self._read(cypher.READ_TOPICS, {"collection": collection})
        return rows.topic_model_from_row(found[0]) if found else None

    def write_theta(
        self, collection: str, chunk_ids: Sequence[str], theta: Vectors, fingerprint: str
    ) -> int:
        """Write the topics of chunks, in bulk, and link each chunk to its strongest topics.

        Raises:
            StoreError: They are no distributions; nothing is written then.
        """
        check_theta(theta, len(chunk_ids))
        written = 0
        for start in range(0, len(chunk_ids), write.ROWS_PER_STATEMENT):
            part = slice(start, start + write.ROWS_PER_STATEMENT)
            batch = rows.linked_rows(collection, chunk_ids[part], theta[part], fingerprint)
            work = partial(
                write.theta, collection=collection, fingerprint=fingerprint, all_rows=batch
            )
            written += self._transaction(WRITE_ACCESS, work)
        return written

    def count_theta(self, collection: str, fingerprint: str) -> tuple[int, int]:
        """Return how many chunks a collection has, and how many have a theta of this model."""
        parameters = {"collection": collection, "fingerprint": fingerprint}
        row = self._read(cypher.COUNT_THETA, parameters)[0]
        return int(row["chunks"]), int(row["current"])

    def count_topics(self, where: Filter) -> list[TopicCount]:
        """Return the topics that chunks are about which the filter lets through, by number."""
        found = self._read_filtered(cypher.COUNT_TOPICS, where, {})
        return [rows.topic_count_from_row(row) for row in found]

    def topic_passages(self, number: int, where: Filter, limit: int) -> list[tuple[Passage, float]]:
        """Return the passages that are most about a topic, with the weights, highest first."""
        parameters = {"number": number, "limit": limit}
        found = self._read_filtered(cypher.TOPIC_PASSAGES, where, parameters)
        return [(rows.passage_from_row(row), row["weight"]) for row in found]

    # Transactions

    def _read_filtered(
        self, statement: LiteralString, where: Filter, parameters: Mapping[str, object]
    ) -> list[dict[str, Any]]:
        return self._read(
            cypher.filtered(statement, where), {**cypher.filter_parameters(where), **parameters}
        )

    def _read(
        self, statement: LiteralString, parameters: Mapping[str, object]
    ) -> list[dict[str, Any]]:
        """Read at once; where that fails for a passing reason, in a transaction that is retried.

        The first try saves the messages that open and close a transaction.
        """
        values = dict(parameters)
        try:
            with self._driver.session(
                database=self._database, default_access_mode=READ_ACCESS
            ) as session:
                return _dicts(session.run(statement, values))
        except (Neo4jError, DriverError) as error:
            if not error.is_retryable():
                with wrapped(self._uri):
                    raise
        return self._transaction(READ_ACCESS, lambda tx: _dicts(tx.run(statement, values)))

    def _write(
        self, statement: LiteralString, parameters: Mapping[str, object]
    ) -> list[dict[str, Any]]:
        return self._transaction(
            WRITE_ACCESS, lambda tx: tx.run(statement, dict(parameters)).data()
        )

    def _transaction(self, access: str, work: Callable[[ManagedTransaction], _T]) -> _T:
        """Run `work` in a managed transaction: it may run twice, when a connection is lost."""
        once = partial(self._once, access, work)
        return self._patience.run(once) if self._patience else once()

    def _once(self, access: str, work: Callable[[ManagedTransaction], _T]) -> _T:
        with (
            wrapped(self._uri),
            self._driver.session(database=self._database, default_access_mode=access) as session,
        ):
            execute = session.execute_read if access == READ_ACCESS else session.execute_write
            return execute(work)


def _dicts(result: Result) -> list[dict[str, Any]]:
    # `dict(record)` looks every key up, which takes a fifth of a search.
    keys = result.keys()
    return [dict(zip(keys, record.values(), strict=True)) for record in result]


_REINDEX_SECONDS = 6 * 3600
"""Longest wait for an index; 50,000 chunks take one to four minutes."""

_TOPICS_DELETED_AT_ONCE = 10
"""Topics with the links of their chunks, which may be many."""


def _deeper(limit: int) -> int:
    """Return how many neighbours are asked of the index for a list of `limit`.

    A search of a graph of neighbours finds the nearest more surely the more it is asked for:
    recall@10 of 200,000 chunks, all of them searched, was .978 with 50.
    """
    return limit * 3 // 2


_REFERRED_CHUNKS = 50
"""Chunks under one heading that are compared with the question."""

_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def _require_bolt(uri: str) -> None:
    if uri.partition("://")[0] not in _SCHEMES:
        raise StoreUnavailable(
            f"NEO4J_URI is {uri!r}, which is no address of Neo4j's Bolt interface. It begins with "
            f"one of {', '.join(_SCHEMES)}, such as bolt://127.0.0.1:7687."
        )


def _group_documents(sizes: Sequence[Mapping[str, Any]], chunks: int) -> Generator[list[str]]:
    """Group documents so that a group has at most so many chunks, or is one document."""
    ids: list[str] = []
    size = 0
    for row in sizes:
        if ids and size + row["chunks"] > chunks:
            yield ids
            ids, size = [], 0
        ids.append(row["id"])
        size += row["chunks"]
    if ids:
        yield ids


def _allowed(request: SearchRequest) -> list[str]:
    only = request.filter.scopes
    return sorted({scope for scope in request.scopes if not only or scope in only})


def _embedder_mismatch(stored: EmbedderInfo, given: EmbedderInfo) -> EmbedderMismatch:
    return EmbedderMismatch(
        f"The graph's vectors were made by {stored.name} ({stored.dimensions} dimensions, "
        f"{stored.fingerprint}), but the embedder set is {given.name} ({given.dimensions}, "
        f"{given.fingerprint}). Set MILEPOST_EMBEDDER back, or empty the graph with "
        "`milepost db reset` and ingest again."
    )
