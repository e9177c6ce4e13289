"""How fast and how exact is search as a collection grows? `make bench-search` prints the tables.

Starts a Neo4j of its own in a temporary folder. Chunks are runs of words from real documents, short
so that many can be embedded, and their vectors are real embeddings, kept in the cache folder. Other
systems search copies of the same chunks, in indexes made by their own functions, on the same server
in the same run, question by question in turn. Times are medians, without embedding the question.
"""

import argparse
import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from neo4j import Driver, GraphDatabase
from numpy.typing import NDArray
from platformdirs import user_cache_path

from eval.bench.corpus import Bench, load_bench
from graph.model import Filter, SearchRequest, Vector
from graph.server import local
from graph.server.options import Connection, ServerOptions
from graph.store import EmbedderInfo, GraphStore
from router.retrieve import LIST_LENGTH as LENGTH

SIZES = (1_000, 10_000, 50_000, 200_000)
PEERS_AT = 50_000
"""The size at which other systems search, too."""

K = 10
QUESTIONS = 200

CLIENTS = 8

WARM_UP, ROUNDS = 3, 3
"""Rounds over all questions: not measured, as Java compiles what it runs often; and measured."""

Search = Callable[[str, Vector], object]


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of one way to search."""

    p50: float
    p95: float


def main() -> None:
    """Run everything and print the tables."""
    logging.getLogger("neo4j_graphrag").setLevel(logging.ERROR)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of chunks")
    sizes = sorted(parser.parse_args().sizes)
    print(f"load average at the start: {os.getloadavg()[0]:.1f}")
    bench = load_bench(max(sizes), QUESTIONS, user_cache_path("milepost"))
    with tempfile.TemporaryDirectory() as folder:
        options = ServerOptions(
            data_dir=Path(folder), cache_dir=user_cache_path("milepost"), bolt_port=17788
        )
        connection = local.start(options)
        try:
            _run(bench, sizes, connection)
        finally:
            local.reset(options)


def _run(bench: Bench, sizes: Sequence[int], connection: Connection) -> None:
    auth = (connection.username, connection.password)
    with (
        GraphStore(connection.uri, auth) as store,
        GraphDatabase.driver(connection.uri, auth=auth) as driver,
    ):
        store.migrate(EmbedderInfo("bench", bench.vectors.shape[1], "bench"))
        written = 0
        for size in sizes:
            started = time.perf_counter()
            for items in bench.documents(written, size):
                store.write(items)
            seconds = time.perf_counter() - started
            print(f"\n{size:,} chunks (+{size - written:,}, {seconds:.0f} s to write)")
            written = size
            started = time.perf_counter()
            store.reindex()
            print(f"  index built anew in {time.perf_counter() - started:.0f} s")
            bench_lists(store, bench)
            bench_recall(store, bench, size)
            bench_clients(store, bench)
            if size == PEERS_AT:
                bench_peers(store, driver, connection, bench, size)


def bench_lists(store: GraphStore, bench: Bench) -> None:
    """Time each combination of lists in one statement."""
    where = Filter(collection="bench")
    ways: dict[str, Search] = {
        "vector": lambda text, vector: store.search(SearchRequest(where, K, vector)),
        "full text": lambda text, vector: store.search(SearchRequest(where, K, text=text)),
        "vector + full text": lambda text, vector: store.search(
            SearchRequest(where, K, vector, text=text)
        ),
        "vector + scope + full text": lambda text, vector: store.search(
            SearchRequest(where, K, vector, scopes=("3%",), text=text)
        ),
        f"vector + full text, {LENGTH} each": lambda text, vector: store.search(
            SearchRequest(where, LENGTH, vector, text=text)
        ),
    }
    for name, found in timed(ways, bench).items():
        row(name, f"p50 {found.p50:6.1f} ms", f"p95 {found.p95:6.1f} ms")


def bench_recall(store: GraphStore, bench: Bench, size: int) -> None:
    """Compare the first ten of a list with exact search, in scopes of all sizes."""
    ids = bench.ids[:size]
    for scope, rows in bench.scopes(size).items():
        where = Filter(collection="bench", scopes=() if scope == "100%" else (scope,))
        recalls = [
            _recall(bench, rows, vector, _found(store, where, vector), ids)
            for vector in bench.question_vectors
        ]
        row(f"recall@10, scope {scope} ({len(rows):,})", f"{statistics.fmean(recalls):.3f}")


def bench_clients(store: GraphStore, bench: Bench) -> None:
    """Search from several threads at once."""
    where = Filter(collection="bench")

    def ask(question: tuple[str, Vector]) -> float:
        started = time.perf_counter()
        store.search(SearchRequest(where, LENGTH, question[1], text=question[0]))
        return (time.perf_counter() - started) * 1000

    questions = list(zip(bench.questions, bench.question_vectors, strict=True)) * 2
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        spent = list(pool.map(ask, questions))
    rate = len(questions) / (time.perf_counter() - started)
    times = _times(spent)
    row(f"{CLIENTS} clients, {LENGTH} each", f"p50 {times.p50:6.1f} ms", f"{rate:.0f} searches/s")


def bench_peers(
    store: GraphStore, driver: Driver, connection: Connection, bench: Bench, size: int
) -> None:
    """Time and judge what neo4j-graphrag and langchain-neo4j offer for the same lists."""
    copy_for_peers(driver, bench, size)
    graphrag, graphrag_scoped = graphrag_search(driver)
    langchain = langchain_search(connection, bench)
    where = Filter(collection="bench")
    ways: dict[str, Search] = {
        "milepost: vector + full text": lambda text, vector: store.search(
            SearchRequest(where, K, vector, text=text)
        ),
        "neo4j-graphrag: HybridRetriever": graphrag,
        "langchain-neo4j: hybrid": langchain,
        "milepost: vector + scope + full text": lambda text, vector: store.search(
            SearchRequest(where, K, vector, scopes=("3%",), text=text)
        ),
        "neo4j-graphrag: the same three lists": lambda text, vector: (
            graphrag(text, vector),
            graphrag_scoped(text, vector),
        ),
    }
    found = timed(ways, bench)
    print(f"beside others, {size:,} chunks, k = {K}")
    for name, times in found.items():
        row(name, f"p50 {times.p50:6.1f} ms", f"p95 {times.p95:6.1f} ms")
    ours, graph, lang, three, theirs = (times.p50 for times in found.values())
    row("two lists: ours / neo4j-graphrag", f"{ours / graph:.2f}", "target <= 0.8")
    row("two lists: ours / langchain-neo4j", f"{ours / lang:.2f}", "target <= 0.8")
    row("three lists: ours / neo4j-graphrag", f"{three / theirs:.2f}", "target <= 0.6")
    row("our three lists / their two", f"{three / min(graph, lang):.2f}", "target <= 1.3")
    bench_peer_recall(store, driver, bench, size)


def bench_peer_recall(store: GraphStore, driver: Driver, bench: Bench, size: int) -> None:
    """Compare ten of the vector index with exact search: ours, and one made by neo4j-graphrag."""
    ids, everything = bench.ids[:size], np.arange(size)
    where = Filter(collection="bench")

    def theirs(vector: Vector) -> list[str]:
        records, _, _ = driver.execute_query(
            "CALL db.index.vector.queryNodes('peer_vector', $k, $vector) YIELD node, score "
            "RETURN node.id AS id ORDER BY score DESC",
            k=K,
            vector=vector.tolist(),
        )
        return [record["id"] for record in records]

    def ours(vector: Vector) -> list[str]:
        return _found(store, where, vector, K)

    for name, find in (("milepost", ours), ("neo4j-graphrag's index", theirs)):
        recalls = [_recall(bench, everything, v, find(v), ids) for v in bench.question_vectors]
        row(f"recall@10 of ten asked for, {name}", f"{statistics.fmean(recalls):.3f}")


def copy_for_peers(driver: Driver, bench: Bench, size: int) -> None:
    """Write the same chunks for the others, and index them."""
    driver.execute_query("CREATE CONSTRAINT peer IF NOT EXISTS FOR (p:Peer) REQUIRE p.id IS UNIQUE")
    for start in range(0, size, 1_000):
        rows = [
            {"id": bench.ids[n], "text": bench.texts[n], "scope": bench.scope_of[n]}
            for n in range(start, min(start + 1_000, size))
        ]
        vectors = bench.vectors[start : start + len(rows)].tolist()
        driver.execute_query(
            "UNWIND $rows AS row CREATE (p:Peer {id: row.id, text: row.text, scope: row.scope}) "
            "WITH p, row CALL db.create.setNodeVectorProperty(p, 'embedding', row.vector)",
            rows=[one | {"vector": v} for one, v in zip(rows, vectors, strict=True)],
        )
    _index_peers(driver, bench)
    driver.execute_query("CALL db.awaitIndexes(3600)")


def _index_peers(driver: Driver, bench: Bench) -> None:
    """Index what was written: like ours, built at once, so that it is searched as a graph."""
    from neo4j_graphrag.indexes import create_fulltext_index

    # neo4j-graphrag's own function cannot make a filterable index where Cypher 5 is the default
    # language. With one, its retriever filters inside the index instead of comparing every node.
    driver.execute_query(
        "CYPHER 25 CREATE VECTOR INDEX peer_vector FOR (p:Peer) ON p.embedding WITH [p.scope] "
        "OPTIONS { indexConfig: { `vector.dimensions`: $dimensions, "
        "`vector.similarity_function`: 'cosine' } }",
        dimensions=bench.vectors.shape[1],
    )
    create_fulltext_index(driver, "peer_text", label="Peer", node_properties=["text"])


def graphrag_search(driver: Driver) -> tuple[Search, Search]:
    """Return neo4j-graphrag's hybrid search, and its vector search in one scope."""
    from neo4j_graphrag.retrievers import HybridRetriever, VectorRetriever

    properties = ["id", "text"]
    hybrid = HybridRetriever(driver, "peer_vector", "peer_text", return_properties=properties)
    scoped = VectorRetriever(driver, "peer_vector", return_properties=properties)
    return (
        lambda text, vector: hybrid.search(
            query_text=escaped(text), query_vector=vector.tolist(), top_k=K
        ),
        lambda text, vector: scoped.search(
            query_vector=vector.tolist(), top_k=K, filters={"scope": "3%"}
        ),
    )


def langchain_search(connection: Connection, bench: Bench) -> Search:
    """Return langchain-neo4j's hybrid search over the same indexes."""
    from langchain_neo4j import Neo4jVector
    from neo4j_graphrag.types import SearchType

    class Known:
        """Knows the vectors of the questions."""

        def embed_query(self, text: str) -> list[float]:
            return [0.0] * bench.vectors.shape[1]

    embeddings: Any = Known()
    store = Neo4jVector.from_existing_index(
        embeddings,
        index_name="peer_vector",
        keyword_index_name="peer_text",
        search_type=SearchType.HYBRID,
        url=connection.uri,
        username=connection.username,
        password=connection.password,
        text_node_property="text",
    )
    return lambda text, vector: store.similarity_search_with_score_by_vector(
        vector.tolist(), k=K, query=escaped(text)
    )


def escaped(text: str) -> str:
    """Leave out what Lucene's parser takes for operators, which the others hand on as typed."""
    return " ".join("".join(c if c.isalnum() else " " for c in text).lower().split())


def timed(ways: Mapping[str, Search], bench: Bench) -> dict[str, Times]:
    """Time several ways to search, taking turns on each question, once the server is warm."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(WARM_UP + ROUNDS):
        for text, vector in zip(bench.questions, bench.question_vectors, strict=True):
            for name, search in ways.items():
                started = time.perf_counter()
                search(text, vector)
                if turn >= WARM_UP:
                    spent[name].append((time.perf_counter() - started) * 1000)
    return {name: _times(values) for name, values in spent.items()}


def row(what: str, *values: str) -> None:
    """Print one row."""
    print(f"  {what:<46} {'  '.join(values)}")


def _times(milliseconds: Sequence[float]) -> Times:
    p50, p95 = (float(np.quantile(milliseconds, q)) for q in (0.5, 0.95))
    return Times(p50, p95)


def _found(store: GraphStore, where: Filter, vector: Vector, length: int = LENGTH) -> list[str]:
    found = store.search(SearchRequest(where, length, vector))
    ranked = sorted(found, key=lambda candidate: candidate.lists["global"].rank)
    return [candidate.passage.chunk_id for candidate in ranked[:K]]


def _recall(
    bench: Bench, rows: NDArray[np.int64], vector: Vector, found: list[str], ids: list[str]
) -> float:
    """Return the share of the ten nearest that were found; as near as the tenth counts as well."""
    similarity = bench.vectors[rows] @ vector
    k = min(K, len(rows))
    least = np.sort(similarity)[-k] - 1e-6
    rows_near: list[int] = rows[similarity >= least].tolist()
    near = {ids[row] for row in rows_near}
    return min(len(near.intersection(found)), k) / k


if __name__ == "__main__":
    main()
