"""What only a real server can show."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from neo4j import Driver

from graph import cypher
from graph.errors import (
    EmbedderMismatch,
    SchemaMismatch,
    StoreError,
    StoreUnavailable,
)
from graph.model import FileOutcome, Filter, IngestRun, SearchRequest
from graph.schema import VectorIndex
from graph.store import EmbedderInfo, GraphStore
from tests.fakes import HashingEmbedder
from tests.graphs import make_document

pytestmark = pytest.mark.neo4j
INFO = EmbedderInfo("hashing", 256, HashingEmbedder.fingerprint)


def count(driver: Driver, pattern: str) -> int:
    records, _, _ = driver.execute_query(f"MATCH {pattern} RETURN count(*) AS n")  # type: ignore[arg-type]
    return records[0]["n"]


def test_migrating_twice_applies_nothing_the_second_time(graph_store: GraphStore) -> None:
    assert graph_store.migrate(INFO) == ()
    graph_store.verify(INFO)


def test_a_missing_index_is_named(graph_store: GraphStore, neo4j_driver: Driver) -> None:
    neo4j_driver.execute_query("DROP INDEX chunk_text")
    with pytest.raises(SchemaMismatch, match="chunk_text is missing"):
        graph_store.verify(INFO)
    graph_store.migrate(INFO)


def test_migrating_brings_a_dropped_index_back(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    neo4j_driver.execute_query("DROP INDEX chunk_text")
    neo4j_driver.execute_query("DROP INDEX chunk_embedding")

    graph_store.migrate(INFO)

    graph_store.verify(INFO)


def test_another_embedder_is_refused_with_both_names(graph_store: GraphStore) -> None:
    graph_store.write([make_document("a", "culvert")])
    other = EmbedderInfo("other", 384, "other-384")

    with pytest.raises(EmbedderMismatch, match=r"hashing.*other"):
        graph_store.verify(other)
    with pytest.raises(EmbedderMismatch, match=r"hashing.*other"):
        graph_store.migrate(other)


def test_an_empty_graph_takes_another_embedder(graph_store: GraphStore) -> None:
    graph_store.migrate(EmbedderInfo("other", 384, "other-384"))

    graph_store.verify(EmbedderInfo("other", 384, "other-384"))


def test_a_wrong_password_says_what_to_check(neo4j_server) -> None:
    with (
        GraphStore(neo4j_server.uri, ("neo4j", "wrong-password")) as store,
        pytest.raises(StoreUnavailable, match="NEO4J_PASSWORD"),
    ):
        store.verify(INFO)


def test_a_server_that_is_down_says_how_to_start_it() -> None:
    with (
        GraphStore("bolt://127.0.0.1:1", ("neo4j", "x")) as store,
        pytest.raises(StoreUnavailable, match="milepost db start"),
    ):
        store.verify(INFO)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(StoreError, match="NEO4J_URI"):
        GraphStore("localhost", ("neo4j", "x"))


def test_a_write_that_fails_half_way_leaves_nothing(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    good = make_document("a", "culvert one", "culvert two")
    bad = make_document("b", "culvert three")
    bad = replace(bad, chunks=(replace(bad.chunks[0], id=good.chunks[0].id),))

    with pytest.raises(StoreError):
        graph_store.write([good, bad])

    assert count(neo4j_driver, "(n) WHERE n:Document OR n:Section OR n:Chunk") == 0


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_vector_that_cannot_be_found_again_is_refused(
    graph_store: GraphStore, value: float
) -> None:
    item = replace(make_document("a", "one"), vectors=np.full((1, 256), value, np.float32))

    with pytest.raises(StoreError, match="zero or not finite"):
        graph_store.write([item])


def test_chunks_of_one_document_follow_each_other_and_no_other(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    items = [make_document(name, "one", "two", "three") for name in ("a", "b")]
    graph_store.write(items)
    graph_store.write(items)

    assert count(neo4j_driver, "(:Chunk)-[:NEXT]->(:Chunk)") == 4
    assert count(neo4j_driver, "(a)-[:NEXT]->(b) WHERE a.document_id <> b.document_id") == 0


def test_the_outline_is_a_tree_under_the_document(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    item = make_document("a", "one", "two", "three")
    graph_store.write([item])
    graph_store.write([item])

    assert count(neo4j_driver, "(:Document)-[:HAS_SECTION]->(:Section)") == 1
    assert count(neo4j_driver, "(:Section)-[:HAS_SUBSECTION]->(:Section)") == 2
    assert count(neo4j_driver, "(:Section)-[:HAS_CHUNK]->(:Chunk)") == 3


def test_a_replaced_document_leaves_no_orphans(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    graph_store.write([make_document("a", "one", "two", "three", "four")])
    graph_store.write([make_document("a", "two")])

    assert count(neo4j_driver, "(n:Chunk)") == 1
    assert count(neo4j_driver, "(n:Section)") == 1
    assert count(neo4j_driver, "()-[:NEXT]->()") == 0


def test_an_unchanged_chunk_keeps_its_vector_untouched(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    item = make_document("a", "one")
    graph_store.write([item])
    moved = replace(item, vectors=-item.vectors)
    graph_store.write([moved])

    records, _, _ = neo4j_driver.execute_query("MATCH (c:Chunk) RETURN c.embedding AS v")
    assert np.allclose(np.array(list(records[0]["v"])), item.vectors[0])


def test_editions_are_linked_newest_first(graph_store: GraphStore, neo4j_driver: Driver) -> None:
    years = (2021, 2018, 2024)
    graph_store.write([make_document(str(y), "text", series="Spec", year=y) for y in years])
    graph_store.finish("default")
    graph_store.finish("default")

    records, _, _ = neo4j_driver.execute_query(
        "MATCH (a)-[:SUPERSEDES]->(b) RETURN a.year AS newer, b.year AS older ORDER BY newer"
    )
    assert [tuple(record.values()) for record in records] == [(2021, 2018), (2024, 2021)]


def test_a_run_is_kept_with_every_file(graph_store: GraphStore, neo4j_driver: Driver) -> None:
    item = make_document("a", "one")
    graph_store.write([item])
    outcomes = (
        FileOutcome("file:///a", "read", document_id=item.document.id, chunks=1),
        FileOutcome("file:///b.pdf", "refused", reason="encrypted", code="encrypted"),
    )
    graph_store.record_run(IngestRun("run", "default", "2026-01-01", "2026-01-02", outcomes))

    assert (
        count(neo4j_driver, "(:IngestRun {id: 'run'})-[:READ {status: 'read'}]->(:Document)") == 1
    )
    assert count(neo4j_driver, "(:IngestRun)-[:REFUSED]->(:RefusedFile {code: 'encrypted'})") == 1


def test_threads_that_write_the_same_documents_in_opposite_order_all_succeed(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    items = [make_document(f"d{n}", "one", "two", scope=f"s{n % 3}") for n in range(20)]
    failures: list[BaseException] = []

    def write(order: list) -> None:
        try:
            for item in order:
                graph_store.write([item])
        except StoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(o,)) for o in (items, items[::-1]) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert count(neo4j_driver, "(n:Chunk)") == 40
    assert count(neo4j_driver, "(n:Scope)") == 3
    assert count(neo4j_driver, "()-[:NEXT]->()") == 20


def test_reindexing_finds_the_same_chunks_again(graph_store: GraphStore) -> None:
    graph_store.write([make_document(f"d{n}", f"bridge rail {n}") for n in range(5)])
    vector = HashingEmbedder().embed_query("bridge rail 3")
    request = SearchRequest(Filter(), 5, vector)
    before = graph_store.search(request)

    graph_store.reindex()

    assert graph_store.search(request) == before
    states = {index["name"]: index["state"] for index in graph_store.status().indexes}
    assert states["chunk_embedding"] == "ONLINE"


def test_a_search_while_its_index_is_built_says_to_wait(
    graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    neo4j_driver.execute_query("DROP INDEX chunk_embedding")
    neo4j_driver.execute_query(
        "UNWIND range(1, 20000) AS n "
        "CREATE (c:Chunk {id: toString(n), collection: 'default', audience: 'public'}) "
        "WITH c CALL db.create.setNodeVectorProperty(c, 'embedding', [x IN range(1, 256) | rand()])"
    )
    config = VectorIndex(256).config()
    neo4j_driver.execute_query(cypher.CREATE_VECTOR_INDEX, {"config": config})

    with pytest.raises(StoreUnavailable, match="still being built"):
        graph_store.search(SearchRequest(Filter(), 5, HashingEmbedder().embed_query("rail")))

    neo4j_driver.execute_query(cypher.AWAIT_INDEXES, {"seconds": 300})
