"""Ingestion into a real Neo4j, with the reading process and the fake embedder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from neo4j import Driver

from graph.errors import StoreUnavailable
from graph.model import FileOutcome, IngestRun
from graph.server.options import Connection
from graph.store import GraphStore
from ingestion.pipeline import IngestOptions, ingest
from tests.fakes import HashingEmbedder

pytestmark = pytest.mark.neo4j

ROOT = Path(__file__).parents[2]

GRAPH = """
MATCH (n:Document|Section|Chunk|Scope)
RETURN labels(n) AS labels, n {.*, ingested_at: null} AS properties
"""
RELATIONSHIPS = """
MATCH (a:Document|Section|Chunk|Scope)-[r]->(b)
RETURN type(r) AS type, properties(r) AS properties,
       coalesce(a.id, a.name) AS from, coalesce(b.id, b.name) AS to
"""

CHILD = """
import sys, time
from pathlib import Path
from graph.store import GraphStore
from ingestion.pipeline import IngestOptions, ingest
from tests.fakes import HashingEmbedder
from tests.integration.test_ingest import Silent


class Slow(HashingEmbedder):
    def embed(self, texts):
        time.sleep(0.2)
        return super().embed(texts)


uri, username, password, folder = sys.argv[1:]
with GraphStore(uri, (username, password)) as store:
    ingest([Path(folder)], store=store, embedder=Slow(), cache=None,
           options=IngestOptions(batch_chunks=4), progress=Silent())
"""


class Silent:
    def started(self, files: int, size: int) -> None: ...

    def embedded(self, chunks: int, size: int) -> None: ...

    def done(self, outcome: FileOutcome, size: int) -> None: ...


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(12):
        sections = "".join(
            f"## {k} Part {k}\n\nDocument {n} says of part {k} that {'asphalt ' * 30}is hot.\n\n"
            for k in range(1, 4)
        )
        file = tmp_path / f"scope{n % 3}" / f"document{n:02}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# Document {n}\n\n{sections}", encoding="utf-8")
    return tmp_path


def run(folder: Path, store: GraphStore) -> IngestRun:
    return ingest(
        [folder],
        store=store,
        embedder=HashingEmbedder(),
        cache=None,
        options=IngestOptions(batch_chunks=10),
        progress=Silent(),
    )


def snapshot(driver: Driver) -> list[str]:
    """Everything in the graph but the runs and the time of ingestion.

    The order in which Neo4j gives the properties of a node has no meaning.
    """
    nodes = driver.execute_query(GRAPH).records
    relationships = driver.execute_query(RELATIONSHIPS).records
    records = [record.data() for record in [*nodes, *relationships]]
    for record in records:
        record["properties"] = sorted(record["properties"].items())
    return sorted(repr(sorted(record.items())) for record in records)


def empty(driver: Driver) -> None:
    driver.execute_query("MATCH (n) WHERE NOT n:Migration AND NOT n:Embedder DETACH DELETE n")


def counts(driver: Driver) -> dict[str, int]:
    query = "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS number"
    return {record["label"]: record["number"] for record in driver.execute_query(query).records}


def statuses(outcomes: Sequence[FileOutcome]) -> set[str]:
    return {outcome.status for outcome in outcomes}


def test_the_same_folder_again_changes_nothing_in_the_graph(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    first = run(folder, graph_store)
    before = snapshot(neo4j_driver)

    again = run(folder, graph_store)

    assert statuses(first.outcomes) == {"read"}
    assert statuses(again.outcomes) == {"unchanged"}
    assert snapshot(neo4j_driver) == before
    assert counts(neo4j_driver)["Document"] == 12


def test_a_changed_file_leaves_nothing_of_its_old_content(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    run(folder, graph_store)
    file = folder / "scope0" / "document00.md"
    file.write_text("# Document 0\n\nGravel is cold.\n", encoding="utf-8")

    changed = run(folder, graph_store)

    assert [o.status for o in changed.outcomes].count("replaced") == 1
    after = snapshot(neo4j_driver)
    empty(neo4j_driver)
    run(folder, graph_store)
    assert snapshot(neo4j_driver) == after


def test_a_removed_document_leaves_nothing_behind(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    run(folder, graph_store)
    file = folder / "scope2" / "document02.md"
    states = graph_store.document_states("default")

    removed = graph_store.remove([states[file.as_uri()].id])
    graph_store.finish("default")

    assert removed == 1
    after = snapshot(neo4j_driver)
    empty(neo4j_driver)
    file.unlink()
    run(folder, graph_store)
    assert snapshot(neo4j_driver) == after


def test_every_file_of_a_run_is_in_the_graph_with_its_fate(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    (folder / "empty.txt").write_bytes(b"")

    found = run(folder, graph_store)

    query = """
    MATCH (r:IngestRun {id: $id})
    RETURN COUNT { (r)-[:READ]->(:Document) } AS read,
           [(r)-[:REFUSED]->(f) | [f.uri, f.code]] AS refused
    """
    [record] = neo4j_driver.execute_query(query, id=found.id).records
    assert record["read"] == 12
    assert record["refused"] == [[(folder / "empty.txt").as_uri(), "empty"]]


def test_one_document_stands_for_copies_and_what_is_gone_is_pruned(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    original, copy = folder / "scope0" / "document00.md", folder / "scope1" / "copy.md"
    copy.write_bytes(original.read_bytes())
    first = run(folder, graph_store)
    original.unlink()
    pruned = ingest(
        [folder],
        store=graph_store,
        embedder=HashingEmbedder(),
        cache=None,
        options=IngestOptions(prune=True),
        progress=Silent(),
    )

    same = [outcome for outcome in first.outcomes if outcome.status == "same"]
    assert [outcome.uri for outcome in same] == [original.as_uri()]
    assert [o.uri for o in pruned.outcomes if o.status == "removed"] == [original.as_uri()]
    assert copy.as_uri() in graph_store.document_states("default")
    query = "MATCH (:IngestRun)-[x:READ]->(d) RETURN x.status AS status, count(*) AS number"
    found = {record["status"]: record["number"] for record in neo4j_driver.execute_query(query)[0]}
    assert found == {"read": 12, "same": 1, "unchanged": 12, "removed": 1}
    after = snapshot(neo4j_driver)
    empty(neo4j_driver)
    run(folder, graph_store)
    kinds = ["'Section'", "'Chunk'"]
    assert [len([row for row in after if kind in row]) for kind in kinds] == [
        len([row for row in snapshot(neo4j_driver) if kind in row]) for kind in kinds
    ]


def test_killed_at_any_moment_again_and_again_gives_the_graph_of_an_undisturbed_run(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver, neo4j_server: Connection
) -> None:
    run(folder, graph_store)
    undisturbed = snapshot(neo4j_driver)
    empty(neo4j_driver)
    moments = Random(time.time_ns())
    found: list[int] = []

    for number in (1, 4, 7, 9):
        with started(folder, neo4j_server) as child:
            wait_for_documents(neo4j_driver, number, child)
            time.sleep(moments.uniform(0, 0.3))
            child.send_signal(signal.SIGKILL)
        found.append(counts(neo4j_driver)["Document"])
    resumed = run(folder, graph_store)

    assert found == sorted(found)
    assert [o.status for o in resumed.outcomes].count("unchanged") >= found[-1]
    assert snapshot(neo4j_driver) == undisturbed


def test_two_runs_at_once_give_the_graph_of_one(
    folder: Path, graph_store: GraphStore, neo4j_driver: Driver, neo4j_server: Connection
) -> None:
    run(folder, graph_store)
    undisturbed = snapshot(neo4j_driver)
    empty(neo4j_driver)

    with started(folder, neo4j_server) as one, started(folder, neo4j_server) as other:
        assert (one.wait(120), other.wait(120)) == (0, 0)

    assert snapshot(neo4j_driver) == undisturbed


def started(folder: Path, server: Connection) -> subprocess.Popen[bytes]:
    """Begin a run in a process of its own."""
    arguments = (server.uri, server.username, server.password, str(folder))
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def wait_for_documents(driver: Driver, number: int, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while counts(driver).get("Document", 0) < number:
        assert child.poll() is None, "ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_server_that_is_down_is_one_clear_error(folder: Path) -> None:
    with (
        GraphStore("bolt://127.0.0.1:9", ("neo4j", "x"), retry_seconds=1) as store,
        pytest.raises(StoreUnavailable) as raised,
    ):
        run(folder, store)

    assert "\n" not in str(raised.value)
