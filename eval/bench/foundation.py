"""How fast the straight road is: start, write, ingest, search. `make bench` prints the table.

Starts a Neo4j of its own in a temporary folder, so nobody's graph is touched. Other systems write
the same chunks to the same server in the same run: on a shared machine ratios mean more than
figures. Each figure is the median of several runs.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from neo4j import Driver, GraphDatabase
from platformdirs import user_cache_path

from graph.model import Chunk, Document, FileOutcome, IngestedDocument, Query, Section, Vectors
from graph.ports import Embedder, Store
from graph.server import local
from graph.server.options import Connection, ServerOptions
from graph.store import EmbedderInfo, GraphStore
from ingestion.embed import load_embedder
from ingestion.pipeline import IngestOptions, ingest
from router import retrieve, systems
from router.guided import guided
from router.retrieve import System
from router.route import vote

CHUNKS = 4_000
PER_DOCUMENT = 100
DIMENSIONS = 384
RUNS = 3


def main() -> None:
    """Run everything and print the table."""
    print(f"load average at the start: {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        options = ServerOptions(
            data_dir=Path(folder), cache_dir=user_cache_path("milepost"), bolt_port=17787
        )
        connection = local.start(options)
        try:
            local.stop(options)
            started = time.perf_counter()
            connection = local.start(options)
            report("Neo4j start, warm", time.perf_counter() - started, "s")
            bench_help()
            bench_writing(connection)
            bench_samples(connection)
        finally:
            local.reset(options)


def report(what: str, value: float, unit: str, note: str = "") -> None:
    """Print one row."""
    print(f"{what:<44} {value:>9,.2f} {unit:<10} {note}")


def median(work: Callable[[], object], runs: int = RUNS) -> float:
    """Return the median seconds of several runs."""
    seconds: list[float] = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def bench_help() -> None:
    """Time `milepost --help`, next to an interpreter that does nothing."""
    command = str(Path(sys.executable).with_name("milepost"))
    help_seconds = median(lambda: subprocess.run([command, "--help"], capture_output=True), 7)
    bare = median(lambda: subprocess.run([sys.executable, "-c", ""], capture_output=True), 7)
    report("milepost --help", help_seconds, "s", f"{help_seconds / bare:.1f} x a bare interpreter")


def bench_writing(connection: Connection) -> None:
    """Write the same chunks with Milepost, langchain-neo4j and neo4j-graphrag."""
    texts, vectors = make_chunks()
    items = make_documents(texts, vectors)
    auth = (connection.username, connection.password)
    with (
        GraphStore(connection.uri, auth) as store,
        GraphDatabase.driver(connection.uri, auth=auth) as driver,
    ):
        store.migrate(EmbedderInfo("bench", DIMENSIONS, "bench"))
        rates: dict[str, list[float]] = {}
        for _ in range(RUNS):
            for name, write in (
                ("milepost", lambda: write_milepost(store, items)),
                ("langchain-neo4j", lambda: write_langchain(connection, texts, vectors)),
                ("neo4j-graphrag", lambda: write_graphrag(driver, texts, vectors)),
            ):
                started = time.perf_counter()
                write()
                rates.setdefault(name, []).append(CHUNKS / (time.perf_counter() - started))
                empty(driver)
    ours = statistics.median(rates["milepost"])
    for name, values in rates.items():
        rate = statistics.median(values)
        report(f"writing, {name}", rate, "chunks/s", f"milepost is {ours / rate:.1f} x as fast")


def make_chunks() -> tuple[list[str], Vectors]:
    """Return texts of 130 words and random unit vectors, always the same."""
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in random.integers(0, 5_000, 130)) for _ in range(CHUNKS)]
    vectors = random.standard_normal((CHUNKS, DIMENSIONS)).astype(np.float32)
    return texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_documents(texts: Sequence[str], vectors: Vectors) -> list[IngestedDocument]:
    """Return the chunks as documents with a section for every four of them."""
    return [
        _document(start, texts[start : start + PER_DOCUMENT], vectors[start : start + PER_DOCUMENT])
        for start in range(0, len(texts), PER_DOCUMENT)
    ]


def _document(start: int, texts: Sequence[str], vectors: Vectors) -> IngestedDocument:
    id = f"document {start}"
    document = Document(
        id=id,
        uri=f"file:///{id}",
        title=id,
        sha256=id,
        media_type="text/plain",
        pages=None,
        ingested_at="2026-01-01T00:00:00+00:00",
        fingerprint="bench",
        scope=f"scope {start % 9}",
    )
    sections = tuple(
        Section(f"{id}/{n}", id, None, str(n), f"Part {n}", (f"Part {n}",), 1, n, None, None, "-")
        for n in range(len(texts) // 4 + 1)
    )
    chunks = tuple(
        Chunk(
            id=f"{id} chunk {n}",
            document_id=id,
            section_id=sections[n // 4].id,
            text=text,
            heading=sections[n // 4].title,
            ordinal=n,
            start=0,
            end=len(text),
            page_start=None,
            page_end=None,
            sha256=f"{id} {n}",
        )
        for n, text in enumerate(texts)
    )
    return IngestedDocument(document, sections, chunks, vectors, "bench")


def write_milepost(store: GraphStore, items: Sequence[IngestedDocument]) -> None:
    """Write documents, sections, chunks, order and vectors, as ingestion does."""
    for start in range(0, len(items), 4):
        store.write(items[start : start + 4])


class _NoEmbeddings:
    """langchain-neo4j asks an embedder for the number of dimensions, and for nothing else here."""

    def embed_query(self, text: str) -> list[float]:
        return [0.0] * DIMENSIONS


def write_langchain(connection: Connection, texts: Sequence[str], vectors: Vectors) -> None:
    """Write chunks with vectors through langchain-neo4j's vector store."""
    from langchain_neo4j import Neo4jVector

    embeddings: Any = _NoEmbeddings()
    store = Neo4jVector(
        embedding=embeddings,
        url=connection.uri,
        username=connection.username,
        password=connection.password,
        index_name="peer_langchain",
        node_label="PeerLangchain",
        embedding_dimension=DIMENSIONS,
    )
    store.create_new_index()
    for start in range(0, len(texts), 1_000):
        chosen = slice(start, start + 1_000)
        store.add_embeddings(texts[chosen], [v.tolist() for v in vectors[chosen]])


def write_graphrag(driver: Driver, texts: Sequence[str], vectors: Vectors) -> None:
    """Write chunks, then vectors through neo4j-graphrag's `upsert_vectors`."""
    from neo4j_graphrag.indexes import create_vector_index, upsert_vectors

    create_vector_index(
        driver,
        "peer_graphrag",
        label="PeerGraphrag",
        embedding_property="embedding",
        dimensions=DIMENSIONS,
        similarity_fn="cosine",
    )
    for start in range(0, len(texts), 1_000):
        chosen = slice(start, start + 1_000)
        records, _, _ = driver.execute_query(
            "UNWIND $texts AS text CREATE (c:PeerGraphrag {text: text}) RETURN elementId(c) AS id",
            texts=list(texts[chosen]),
        )
        ids = [record["id"] for record in records]
        upsert_vectors(driver, ids, "embedding", [v.tolist() for v in vectors[chosen]])


class Silent:
    """Progress told to nobody."""

    def started(self, files: int, size: int) -> None:
        """Ignore it."""

    def embedded(self, chunks: int, size: int) -> None:
        """Ignore it."""

    def done(self, outcome: FileOutcome, size: int) -> None:
        """Ignore it."""


def bench_samples(connection: Connection) -> None:
    """Ingest the samples without the vector cache, then ask their questions of each system."""
    embedder = load_embedder("all-MiniLM-L6-v2", user_cache_path("milepost"), print)
    samples = Path(__file__).parents[2] / "samples"
    lines = (samples / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [Query(json.loads(line)["question"]) for line in lines]
    auth = (connection.username, connection.password)
    with GraphDatabase.driver(connection.uri, auth=auth) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
    with GraphStore(connection.uri, auth) as store:
        store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))
        started = time.perf_counter()
        run = ingest(
            [samples],
            store=store,
            embedder=embedder,
            cache=None,
            options=IngestOptions(),
            progress=Silent(),
        )
        seconds = time.perf_counter() - started
        chunks = sum(outcome.chunks for outcome in run.outcomes)
        report("ingesting the samples, all embedded anew", seconds, "s", f"{chunks:,} chunks")
        report("  of them", chunks / seconds, "chunks/s")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report("  peak memory of the main process", memory, "MB", "writing the peers' included")
        bench_search(store, embedder, questions)


def bench_search(store: Store, embedder: Embedder, questions: Sequence[Query]) -> None:
    """Time each system from the question's text to ten hits, embedding included."""
    route = partial(retrieve.embed_and_route, embedder=embedder, router=partial(vote, store=store))
    embed = partial(retrieve.embed_only, embedder=embedder)
    for system in (
        System("guided", embed, partial(guided, store=store)),
        System("soft_scoped", route, partial(systems.soft_scoped, store=store)),
        System("hybrid", embed, partial(systems.hybrid, store=store)),
        System("monolithic", embed, partial(systems.monolithic, store=store)),
    ):
        seconds = [median(partial(system, query, 10)) for query in questions]
        tail = sorted(seconds)[int(0.95 * len(seconds))]
        note = f"p95 {tail * 1000:.0f} ms"
        report(f"search, {system.name}, p50", statistics.median(seconds) * 1000, "ms", note)


def empty(driver: Driver) -> None:
    """Remove all nodes, so that each writer starts on the same graph."""
    with driver.session() as session:
        for label in ("Chunk", "Section", "Document", "PeerLangchain", "PeerGraphrag"):
            session.run(
                f"MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 2000 ROWS"
            ).consume()


if __name__ == "__main__":
    main()
