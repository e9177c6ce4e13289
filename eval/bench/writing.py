"""How fast Milepost writes, beside other systems on the same server, with the same chunks.

Each system writes in turn, once as its quick start does and once with all that Milepost writes:
documents, sections, order, filter properties, vector and full-text index. Part of
`make bench-ingest`.
"""

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from neo4j import Driver, GraphDatabase

from eval.bench.foundation import RUNS, report
from graph import rows
from graph.model import Chunk, Document, IngestedDocument, Section, Vectors
from graph.server.options import Connection
from graph.store import EmbedderInfo, GraphStore

CHUNKS = 4_000
PER_DOCUMENT = 100
DIMENSIONS = 384


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
