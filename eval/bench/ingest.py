"""How fast ingestion is, and what takes the time. `make bench-ingest` prints the tables.

Starts a Neo4j of its own in a temporary folder, so nobody's graph is touched. Other systems write
the same chunks to the same server in the same run, once as their quick starts do and once with all
that Milepost writes: documents, sections, order, filter properties, vector and full-text index.
"""

import asyncio
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from neo4j import Driver, GraphDatabase
from platformdirs import user_cache_path

from eval.bench.foundation import (
    CHUNKS,
    DIMENSIONS,
    RUNS,
    Silent,
    make_chunks,
    make_documents,
    report,
    write_graphrag,
    write_langchain,
    write_milepost,
)
from graph import rows
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
    embedder = load_embedder("all-MiniLM-L6-v2", user_cache_path("milepost"), print)
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


def bench_writing(connection: Connection) -> None:
    """Write the same chunks with each system, in turn."""
    texts, vectors = make_chunks()
    items = make_documents(texts, vectors)
    auth = (connection.username, connection.password)
    with (
        GraphStore(connection.uri, auth) as store,
        GraphDatabase.driver(connection.uri, auth=auth) as driver,
    ):
        remove_all(driver)
        store.migrate(EmbedderInfo("bench", DIMENSIONS, "bench"))
        rates: dict[str, list[float]] = {}
        for _ in range(RUNS):
            for name, write in (
                ("milepost", lambda: write_milepost(store, items)),
                ("langchain-neo4j, equal work", lambda: langchain_equal(connection, items)),
                ("neo4j-graphrag, equal work", lambda: graphrag_equal(driver, items)),
                (
                    "langchain-neo4j, quick start",
                    lambda: write_langchain(connection, texts, vectors),
                ),
                ("neo4j-graphrag, quick start", lambda: write_graphrag(driver, texts, vectors)),
            ):
                started = time.perf_counter()
                write()
                rates.setdefault(name, []).append(CHUNKS / (time.perf_counter() - started))
                remove_all(driver)
    print(f"\nwriting {CHUNKS:,} chunks of {len(items)} documents, median of {RUNS} runs in turn")
    ours = statistics.median(rates["milepost"])
    for name, values in rates.items():
        rate = statistics.median(values)
        report(name, rate, "chunks/s", f"milepost is {ours / rate:.1f} x as fast")


_STRUCTURE = """
UNWIND $documents AS row MERGE (d:PeerDocument {id: row.id}) SET d = row
"""
_SECTIONS = """
UNWIND $sections AS row
MATCH (d:PeerDocument {id: row.document_id})
MERGE (s:PeerSection {id: row.id}) SET s = row
MERGE (d)-[:HAS_SECTION]->(s)
"""
_HOMES = """
UNWIND $homes AS row
MATCH (s:PeerSection {id: row.section_id}), (c:PeerLangchainFull {id: row.id})
MERGE (s)-[:HAS_CHUNK]->(c)
"""
_ORDER = """
UNWIND $order AS row
MATCH (a:PeerLangchainFull {id: row.before}), (b:PeerLangchainFull {id: row.after})
MERGE (a)-[:NEXT]->(b)
"""


class _NoEmbeddings:
    """langchain-neo4j asks an embedder for the number of dimensions, and for nothing else here."""

    def embed_query(self, text: str) -> list[float]:
        return [0.0] * DIMENSIONS


def langchain_equal(connection: Connection, items: Sequence[IngestedDocument]) -> None:
    """Write all that Milepost writes with langchain-neo4j.

    Chunks with vectors, properties, vector and keyword index through its vector store; what it has
    no function for, or one that needs the APOC plug-in only, with its `query`.
    """
    from langchain_neo4j import Neo4jVector
    from neo4j_graphrag.types import SearchType

    chunks = [row for item in items for row in rows.chunk_rows(item)]
    vectors = [vector.tolist() for item in items for vector in item.vectors]
    embeddings: Any = _NoEmbeddings()
    store = Neo4jVector.from_embeddings(
        list(zip([row["properties"]["text"] for row in chunks], vectors, strict=True)),
        embeddings,
        metadatas=[_without(row["properties"], "text", "id") for row in chunks],
        ids=[row["id"] for row in chunks],
        url=connection.uri,
        username=connection.username,
        password=connection.password,
        index_name="peer_langchain_full",
        keyword_index_name="peer_langchain_words",
        node_label="PeerLangchainFull",
        search_type=SearchType.HYBRID,
    )
    for label in ("PeerDocument", "PeerSection"):
        store.query(f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")
    store.query(_STRUCTURE, params={"documents": [rows.document_row(item) for item in items]})
    sections = [row for item in items for row in rows.section_rows(item)]
    store.query(_SECTIONS, params={"sections": sections})
    store.query(_HOMES, params={"homes": rows.home_rows(items)})
    store.query(_ORDER, params={"order": [row for item in items for row in rows.order_rows(item)]})


_LINK = """
UNWIND $rows AS row
MATCH (a:__KGBuilder__ {__tmp_internal_id: row.a}), (b:__KGBuilder__ {__tmp_internal_id: row.b})
CREATE (a)-[:PEER]->(b)
"""


def graphrag_equal(driver: Driver, items: Sequence[IngestedDocument]) -> None:
    """Write all that Milepost writes with neo4j-graphrag.

    Nodes through its `Neo4jWriter`, a document at a time as its pipeline does; relationships, for
    which that needs the APOC plug-in, with one plain statement; both indexes with its functions.
    """
    from neo4j_graphrag.components.kg_writer import Neo4jWriter
    from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode
    from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index

    label = "PeerGraphragFull"
    create_vector_index(
        driver,
        "peer_graphrag_full",
        label=label,
        embedding_property="embedding",
        dimensions=DIMENSIONS,
        similarity_fn="cosine",
    )
    create_fulltext_index(driver, "peer_graphrag_words", label, ["text", "heading", "keys"])
    writer = Neo4jWriter(driver, clean_db=False)

    def node(kind: str, properties: dict[str, Any], vector: list[float] | None = None) -> Any:
        kept = {key: value for key, value in properties.items() if value is not None}
        node = Neo4jNode(id=properties["id"], label=kind, properties=kept)
        return node.model_copy(
            update={"embedding_properties": {"embedding": vector}} if vector else {}
        )

    for item in items:
        chunks = rows.chunk_rows(item)
        vectors = [vector.tolist() for vector in item.vectors]
        pairs = zip(chunks, vectors, strict=True)
        nodes = [
            node("PeerDocument", _without(rows.document_row(item), "minhash")),
            *(node("PeerSection", row) for row in rows.section_rows(item)),
            *(node(label, row["properties"], vector) for row, vector in pairs),
        ]
        asyncio.run(writer.run(Neo4jGraph(nodes=nodes, relationships=[])))
        links = [(item.document.id, section.id) for section in item.sections]
        links += [(chunk.section_id, chunk.id) for chunk in item.chunks]
        links += [(row["before"], row["after"]) for row in rows.order_rows(item)]
        driver.execute_query(_LINK, rows=[{"a": a, "b": b} for a, b in links])


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in names}


def remove_all(driver: Driver) -> None:
    """Remove every node, so that each writer starts on an empty graph."""
    with driver.session() as session:
        session.run(
            "MATCH (n) WHERE NOT n:Migration AND NOT n:Embedder "
            "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS"
        ).consume()


if __name__ == "__main__":
    main()
