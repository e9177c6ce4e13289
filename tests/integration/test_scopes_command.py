"""`milepost scopes` on a real graph: what it lists, finds, and changes."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner, Result

from app import wiring
from app.cli import scopes
from app.settings import Settings
from graph.errors import UsageError
from graph.model import Filter, SearchRequest, TrainedRouter
from graph.store import GraphStore
from tests.fakes import HashingEmbedder
from tests.graphs import make_document

pytestmark = pytest.mark.neo4j

Run = Callable[..., Result]
STAFF = Filter(audiences=("public", "staff"))


@pytest.fixture
def run(graph_store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The commands, on a graph with three policies, three culverts and a memo for staff."""
    for n in range(3):
        graph_store.write(
            [
                make_document(f"policy{n}", f"certificate revocation list issuance {n}", scope="a"),
                make_document(f"culvert{n}", f"culvert pipe diameter {n}", "drain", scope="b"),
            ]
        )
    memo = make_document("memo", "merger talks", scope="b", audience="staff")
    graph_store.write([memo, make_document("else", "x", collection="other", scope="a")])
    graph_store.finish("default")

    @contextmanager
    def open_store(settings: Settings) -> Generator[GraphStore]:
        yield graph_store

    monkeypatch.setattr(wiring, "open_store", open_store)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(scopes.app, arguments)

    return call


def scopes_of(store: GraphStore, where: Filter = STAFF) -> dict[str, str]:
    return {document.title: document.scope for document, _ in store.list_documents(where)}


def test_moving_documents_says_what_trained_routers_make_of_it(
    run: Run, graph_store: GraphStore
) -> None:
    assert run("set", "a", "file:///culvert2").stderr == ""

    graph_store.write_router(TrainedRouter("default", "tfidf", "mark", "2026", "{}", b""))

    assert "learned where documents were before" in run("set", "a", "file:///culvert1").stderr
    assert "refused until they are trained again" in run("set", "new", "file:///culvert1").stderr


def test_scopes_are_listed_with_what_the_caller_may_see(run: Run) -> None:
    seen = json.loads(run("list", "--json").stdout)
    all_ = json.loads(run("list", "--audience", "staff", "--json").stdout)

    assert seen == [
        {"name": "a", "documents": 3, "chunks": 3},
        {"name": "b", "documents": 3, "chunks": 6},
    ]
    assert all_[1] == {"name": "b", "documents": 4, "chunks": 7}
    assert "Documents" in run("list").stdout
    assert "No documents" in run("list", "-C", "nothing").stdout


def test_discovering_changes_nothing_unless_applied(run: Run, graph_store: GraphStore) -> None:
    before = scopes_of(graph_store)

    shown = run("discover", "-k", "2")
    found = json.loads(run("discover", "-k", "2", "--json").stdout)

    assert shown.exit_code == 0, shown.output
    assert "With --apply, 6 documents of 6 would move to 2 scopes" in " ".join(shown.stdout.split())
    assert "purity 1.000 by chunks, 1.000 by documents, NMI 1.000" in shown.stdout
    assert (found["purity"], found["nmi"], found["applied"]) == (1.0, 1.0, False)
    assert {tuple(move.values())[1:] for move in found["moves"]} == {
        (old, scope["name"])
        for old, scope in zip(("a", "b"), _by_size_of_chunks(found), strict=True)
    }
    assert scopes_of(graph_store) == before


def test_applied_scopes_can_be_searched_and_what_is_not_seen_stays(
    run: Run, graph_store: GraphStore
) -> None:
    done = run("discover", "-k", "2", "--apply", "--json")

    assert done.exit_code == 0, done.output
    policies, culverts = (scope["name"] for scope in _by_size_of_chunks(json.loads(done.stdout)))
    assert "certificate" in policies or "revocation" in policies
    assert "culvert" in culverts or "pipe" in culverts
    scopes_now = scopes_of(graph_store)
    assert {scopes_now[f"policy{n}"] for n in range(3)} == {policies}
    assert {scopes_now[f"culvert{n}"] for n in range(3)} == {culverts}
    assert scopes_now["memo"] == "b"
    assert graph_store.scope_names("default") == sorted(["b", policies, culverts])
    assert graph_store.scope_names("other") == ["a"]
    where = Filter(scopes=(culverts,))
    vector = HashingEmbedder().embed_query("culvert")
    hits = graph_store.search(SearchRequest(where, 9, vector=vector, text="culvert"))
    assert {hit.passage.document for hit in hits} == {"culvert0", "culvert1", "culvert2"}
    again = run("discover", "-k", "2")
    assert "--apply would move nothing" in again.stdout


def test_more_scopes_than_documents_are_said_to_be_fewer(run: Run) -> None:
    shown = run("discover", "-k", "40").stdout

    assert "6 scopes instead of 40" in shown


def test_an_empty_collection_says_what_to_do(run: Run) -> None:
    done = run("discover", "-C", "nothing")

    assert isinstance(done.exception, UsageError)
    assert "milepost ingest" in str(done.exception)


def test_documents_are_moved_by_file_and_by_id(run: Run, graph_store: GraphStore) -> None:
    [id] = [d.id for d, _ in graph_store.list_documents(STAFF) if d.title == "culvert1"]

    done = run("set", " pipes ", "file:///culvert0", id[:8])
    again = json.loads(run("set", "pipes", "file:///culvert0", "--json").stdout)

    assert "Moved 2 documents to scope 'pipes', which is new." in done.stdout
    moved = {title for title, scope in scopes_of(graph_store).items() if scope == "pipes"}
    assert moved == {"culvert0", "culvert1"}
    assert (again["scope"], again["new"], again["moved"]) == ("pipes", False, 1)
    assert graph_store.scope_names("default") == ["a", "b", "pipes"]


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 101])
def test_a_scope_needs_a_name_that_can_be_read(run: Run, name: str) -> None:
    done = run("set", name, "file:///culvert0")

    assert isinstance(done.exception, UsageError)


def test_a_document_that_is_not_there_is_named(run: Run, graph_store: GraphStore) -> None:
    before = scopes_of(graph_store)

    done = run("set", "pipes", "file:///culvert0", "file:///nowhere")

    assert isinstance(done.exception, UsageError)
    assert "file:///nowhere" in str(done.exception)
    assert scopes_of(graph_store) == before


def test_training_stands_beside_them(run: Run) -> None:
    assert "--queries" in run("train", "--help").stdout


def _by_size_of_chunks(found: dict[str, list[dict[str, int]]]) -> list[dict[str, int]]:
    return sorted(found["scopes"], key=lambda scope: scope["chunks"])
