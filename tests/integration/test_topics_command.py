"""`milepost topics` on a real graph: what it finds, shows, and refuses."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager

import numpy as np
import pytest
from neo4j import Driver
from typer.testing import CliRunner, Result

from app import wiring
from app.cli import topics
from app.settings import Settings
from graph.errors import TopicsMismatch, UsageError
from graph.store import GraphStore
from tests.graphs import make_document

pytestmark = pytest.mark.neo4j

Run = Callable[..., Result]


@pytest.fixture
def run(graph_store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The commands, on a graph with policies, culverts and a memo for staff."""
    for n in range(4):
        graph_store.write(
            [
                make_document(f"policy{n}", f"certificate revocation issuer keys {n}", scope="a"),
                make_document(f"culvert{n}", f"culvert pipe diameter flood {n}", scope="b"),
            ]
        )
    graph_store.write([make_document("memo", "merger talks", scope="b", audience="staff")])
    graph_store.finish("default")

    @contextmanager
    def open_store(settings: Settings) -> Generator[GraphStore]:
        yield graph_store

    monkeypatch.setattr(wiring, "open_store", open_store)

    def call(*arguments: str) -> Result:
        done = CliRunner().invoke(topics.app, arguments)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done

    return call


def test_topics_are_found_and_shown(run: Run, neo4j_driver: Driver) -> None:
    found = json.loads(run("fit", "-k", "2", "--json").stdout)
    shown = json.loads(run("show", "--json").stdout)

    assert (found["model"], found["k"], found["fitted_on"], found["written"]) == ("kmeans", 2, 8, 9)
    assert set(found["quality"]) == {"coherence", "diversity", "topics_per_chunk"}
    assert shown["fingerprint"] == found["fingerprint"]
    assert shown["coverage"] == {"chunks": 9, "current": 9}
    by_scope = {one["scopes"][0]["name"]: one for one in shown["topics"]}
    assert by_scope["a"]["chunks"] == by_scope["b"]["documents"] == 4
    assert {"certificate", "issuer"} <= set(by_scope["a"]["terms"])
    assert "merger" not in run("show", "--audience", "staff").stdout
    rows, _, _ = neo4j_driver.execute_query(
        "MATCH (c:Chunk)-[r:ABOUT]->(t:Topic) "
        "RETURN count(DISTINCT c) AS chunks, count(DISTINCT t) AS topics, min(r.weight) AS least"
    )
    assert (rows[0]["chunks"], rows[0]["topics"]) == (9, 2)
    assert rows[0]["least"] >= 0.1


def test_a_topic_is_shown_by_number_by_label_and_by_its_beginning(run: Run) -> None:
    found = json.loads(run("fit", "-k", "2", "--json").stdout)
    label = found["topics"][1]["label"]

    by_number = json.loads(run("show", "1", "--examples", "2", "--json").stdout)

    assert by_number["label"] == label
    assert len(by_number["examples"]) == 2
    assert by_number["examples"][0]["weight"] >= by_number["examples"][1]["weight"]
    for name in (label, label[:4]):
        assert json.loads(run("show", name, "--json").stdout)["number"] == 1
    assert label in run("show", "1").stdout
    assert json.loads(run("show", "1", "--examples", "0", "--json").stdout)["examples"] == []


def test_fitting_again_leaves_one_model_with_its_topics_and_links(
    run: Run, neo4j_driver: Driver
) -> None:
    run("fit", "-k", "4")
    run("fit", "-k", "2", "--seed", "1")

    rows, _, _ = neo4j_driver.execute_query(
        "MATCH (m:TopicModel) MATCH (t:Topic) WITH count(DISTINCT m) AS models, "
        "count(DISTINCT t) AS topics MATCH (c:Chunk) "
        "RETURN models, topics, collect(DISTINCT size(c.topics)) AS sizes"
    )
    assert rows[0].data() == {"models": 1, "topics": 2, "sizes": [2]}


def test_chunks_without_topics_are_told_and_weighed_by_update(
    run: Run, graph_store: GraphStore
) -> None:
    run("fit", "-k", "2")
    graph_store.write([make_document("late", "culvert pipe")])

    assert "1 of 10 chunks have no weights" in " ".join(run("show").stdout.split())
    assert json.loads(run("update", "--json").stdout)["written"] == 1
    assert "no weights" not in run("show").stdout
    assert "Weighed 0 chunks" in run("update").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("show", "99"), "no topic '99'"),
        (("show", "zzz"), "no topic 'zzz'"),
        (("fit", "-k", "20"), "8 chunks, fewer than 20"),
        (("fit", "-k", "2", "-C", "none"), "holds no chunks"),
        (("fit", "--temperature", "0"), "must be above 0"),
        (("fit", "--temperature", "nan"), "must be above 0"),
        (("fit", "--model", "external"), "--file NAME.npz"),
        (("fit", "--file", "x.npz"), "go together"),
        (("fit", "-k", "2", "--model", "etm", "--temperature", "1"), "no temperature"),
    ],
)
def test_wrong_use_is_told(run: Run, arguments: tuple[str, ...], says: str) -> None:
    run("fit", "-k", "2")

    with pytest.raises(UsageError, match=says) as raised:
        run(*arguments)

    assert raised.value.exit_code == 2


@pytest.mark.parametrize("command", ["show", "update"])
def test_a_collection_without_topics_tells_how_to_find_some(run: Run, command: str) -> None:
    with pytest.raises(TopicsMismatch, match="milepost topics fit"):
        run(command)


def test_chunks_are_exported_and_topics_of_elsewhere_brought_back(run: Run, tmp_path) -> None:
    run("export", str(tmp_path / "chunks.npz"))
    with np.load(tmp_path / "chunks.npz", allow_pickle=False) as arrays:
        ids = arrays["chunk_ids"].tolist()
    np.savez(tmp_path / "found.npz", theta=np.full((len(ids), 2), 0.5))
    described = {"source": "CWTM", "chunk_ids": ids, "terms": [["keys"], ["pipe"]]}
    (tmp_path / "found.json").write_text(json.dumps(described))

    done = run("fit", "--model", "external", "--file", str(tmp_path / "found.npz"), "--json")

    found = json.loads(done.stdout)
    assert (found["source"], found["k"], found["written"]) == ("CWTM", 2, 9)
