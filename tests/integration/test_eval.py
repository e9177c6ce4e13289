"""Evaluation and dilution on a real graph, as the command line runs them."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from app import wiring
from app.cli import eval as eval_command
from app.cli.dilution import dilution
from app.settings import Settings
from app.systems import build_systems
from app.wiring import App
from eval.load import Loader, collection_name, load
from eval.relevance import Judge
from graph.errors import UsageError
from graph.model import Filter, Query
from graph.store import GraphStore
from tests.fakes import HashingEmbedder, MemoryStore
from tests.unit.eval.sets import SMALL, SMALL_QUERIES, Line, make_set, query, write_set

pytestmark = pytest.mark.neo4j

Run = Callable[..., Result]
EMBEDDER = HashingEmbedder()


def topics() -> tuple[list[Line], list[Line]]:
    """Forty documents in two scopes that share most of their words, and questions on one."""
    documents: list[Line] = []
    for n in range(20):
        shared = f"The height of part {n} is measured in inches"
        documents.append({"id": f"new{n}", "scope": "new", "text": f"{shared} by inspector {n}."})
        documents.append(
            {"id": f"old{n}", "scope": "old", "text": f"{shared} by inspector {20 + n}."}
        )
    queries = [
        query(f"q{n}", f"height of part {n} inspector", {"doc": f"new{n}"}) for n in range(20)
    ]
    return documents, queries


@pytest.fixture
def run(graph_store: GraphStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The commands, on the tests' graph with the fake embedder."""
    monkeypatch.setenv("MILEPOST_CACHE_DIR", str(tmp_path / "cache"))

    @contextmanager
    def open_app(
        settings: Settings, *, migrate: bool = False, notify=None, bulk: bool = False
    ) -> Generator[App]:
        systems = build_systems(settings, graph_store, EMBEDDER)
        yield App(settings, graph_store, EMBEDDER, systems)

    monkeypatch.setattr(wiring, "open_app", open_app)
    cli = Typer()
    cli.add_typer(eval_command.app, name="eval")
    cli.command("dilution")(dilution)

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    return call


def test_the_real_graph_is_judged_and_searched_as_the_one_in_memory(
    graph_store: GraphStore, tmp_path: Path
) -> None:
    small = make_set(tmp_path / "small", SMALL, SMALL_QUERIES)
    name = collection_name(small)
    found = []
    for store in (graph_store, MemoryStore()):
        load(small, name, Loader(store, EMBEDDER, None))
        systems = build_systems(Settings.model_construct(), store, EMBEDDER)
        judged = Judge(small, name, store).judge(small.questions, "span", "chunk")
        hits = systems["monolithic"](Query("How high are rails?", Filter(collection=name)), 3).hits
        found.append((judged, [hit.passage.chunk_id for hit in hits]))

    assert found[0] == found[1]


def test_loading_twice_leaves_one_of_each(graph_store: GraphStore, tmp_path: Path) -> None:
    small = make_set(tmp_path / "small", SMALL, SMALL_QUERIES)
    loader = Loader(graph_store, EMBEDDER, None)
    load(small, "eval-small", loader)

    report = load(make_set(tmp_path / "small", SMALL[1:]), "eval-small", loader)

    assert (report.written, report.unchanged, report.removed) == (0, 2, 1)
    assert len(graph_store.list_documents(Filter(collection="eval-small"))) == 2


def test_run_table_and_significance(run: Run, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "topics", *topics())
    out = tmp_path / "results.json"

    done = run("eval", "run", "--set", str(folder), "--split", "all", "--out", str(out), "--json")

    assert done.exit_code == 0, done.output
    results = json.loads(out.read_text("utf-8"))
    assert list(results["systems"]) == ["guided", "convex", "hybrid", "monolithic", "bm25"]
    assert len(results["systems"]["hybrid"]["scores"]) == 20
    assert results["settings"]["embedder"] == "hashing"
    for system in ("guided", "hybrid", "monolithic"):
        scores = results["systems"][system]["scores"].values()
        assert all(one["R@10"] == 1.0 for one in scores), system

    table = run("eval", "table", str(out), "--json")
    systems = json.loads(table.stdout)["systems"]
    assert [one["system"] for one in systems][-1] == "ceiling"
    assert "topics, all questions: 20 scored of 20" in run("eval", "table", str(out)).stdout

    compared = run("eval", "significance", str(out), "--baseline", "monolithic", "--json")
    differences = json.loads(compared.stdout)["differences"]
    assert {one["measure"] for one in differences} == {"P@10", "R@10", "IE@3"}
    printed = run("eval", "significance", str(out), "--baseline", "monolithic").stdout
    assert "R@10 hybrid: no difference" in printed


def test_results_go_to_the_cache_where_no_file_is_named(run: Run, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "small", SMALL, SMALL_QUERIES)

    done = run("eval", "run", "--set", str(folder), "--systems", "hybrid", "--split", "all")

    assert done.exit_code == 0, done.output
    (file,) = (tmp_path / "cache" / "eval").iterdir()
    assert file.name.startswith("small-all-")
    assert "hybrid" in done.stdout and "ceiling" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "nowhere"), "no evaluation set 'nowhere'"),
        (("--set", "{small}", "--systems", "hybrid,other"), "no system 'other'"),
        (("--set", "{pool}"), "no question in pool"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(
    run: Run, graph_store: GraphStore, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_set(tmp_path / "small", SMALL, SMALL_QUERIES)
    write_set(tmp_path / "pool", SMALL)
    named = [one.format(small=tmp_path / "small", pool=tmp_path / "pool") for one in arguments]

    done = run("eval", "run", *named)

    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)
    assert graph_store.status().chunks == 0


def test_dilution_of_a_collection_with_plot_and_advice(run: Run, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "topics", *topics())
    plot = tmp_path / "plot.png"

    measured = run("dilution", "--set", str(folder), "--growth", "--plot", str(plot))

    assert measured.exit_code == 0, measured.output
    text = " ".join(measured.stdout.split())
    assert "Growth: precision at 10" in text
    assert "Questions: n = 20" in text
    assert "the collection is diluted" in text
    assert plot.read_bytes().startswith(b"\x89PNG")

    again = run("dilution", "--collection", "eval-topics", "--json")
    found = json.loads(again.stdout)
    assert {one["scope"]: one["chunks"] for one in found["scopes"]} == {"new": 20, "old": 20}
    assert found["advice"] in text
    assert found["labelled"] is None
    assert 0.3 < found["delta_hat"]["mean_over_scopes"] < 0.7


def test_an_empty_collection_and_growth_without_questions_are_refused(run: Run) -> None:
    for arguments, message in ((("-C", "nothing"), "empty"), (("--growth",), "--set")):
        done = run("dilution", *arguments)

        assert isinstance(done.exception, UsageError)
        assert message in str(done.exception)
