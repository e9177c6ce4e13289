import json
import math
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from eval.collection import EvaluationSet
from eval.experiment import Options, run, select
from eval.load import Loader, collection_name, load
from eval.relevance import Judge
from eval.results import TOTAL, WITHOUT_EMBEDDING, Results, Timing, read_results, write_results
from graph.errors import UsageError
from graph.model import Hit, Query, Ranking, Route, SearchRequest
from graph.ports import Store
from tests.fakes import HashingEmbedder, MemoryStore
from tests.unit.eval.sets import SMALL, SMALL_QUERIES, make_set, query

EMBEDDER = HashingEmbedder()
ALL = Options(part="all")


class VectorSystem:
    """Vector search, with a route where one is given; remembers what it was asked."""

    def __init__(self, store: Store, route: tuple[str, ...] = ()) -> None:
        self.store = store
        self.route = tuple(Route(scope, 0.5) for scope in route)
        self.asked: list[Query] = []

    def __call__(self, query: Query, k: int) -> Ranking:
        self.asked.append(query)
        request = SearchRequest(query.filter, k, vector=EMBEDDER.embed_query(query.text))
        found = sorted(self.store.search(request), key=lambda one: one.lists["global"].rank)
        hits = tuple(Hit(one.passage, one.lists, -one.lists["global"].rank) for one in found)
        return Ranking(query, "vector", hits, self.route, {"embed": 5.0, "search": 2.0})


class Blind:
    """Finds nothing."""

    def __call__(self, query: Query, k: int) -> Ranking:
        return Ranking(query, "blind", ())


@pytest.fixture
def small(tmp_path: Path) -> EvaluationSet:
    return make_set(tmp_path / "small", SMALL, SMALL_QUERIES)


@pytest.fixture
def store(small: EvaluationSet) -> MemoryStore:
    store = MemoryStore()
    load(small, collection_name(small), Loader(store, EMBEDDER, None))
    return store


def run_all(small: EvaluationSet, store: MemoryStore, options: Options = ALL, **systems) -> Results:
    name = collection_name(small)
    return run(systems, small, Judge(small, name, store), name, options)


def test_each_question_that_has_gold_is_scored(small: EvaluationSet, store: MemoryStore) -> None:
    results = run_all(small, store, vector=VectorSystem(store), blind=Blind())

    assert (results.questions, results.without_gold, results.not_held) == (3, 1, 0)
    assert set(results.systems["vector"].scores) == {"small/q1", "small/q2"}
    assert {one["P@1"] for one in results.systems["vector"].scores.values()} == {1.0}
    assert {one["P@1"] for one in results.systems["blind"].scores.values()} == {0.0}
    assert {one["R@10"] for one in results.ceiling.values()} == {1.0}


def test_a_system_sees_the_sets_own_collection_only(
    small: EvaluationSet, store: MemoryStore
) -> None:
    system = VectorSystem(store)

    run_all(small, store, vector=system)

    assert {one.filter.collection for one in system.asked} == {"eval-small"}


def test_one_question_is_asked_beforehand_and_not_counted(
    small: EvaluationSet, store: MemoryStore
) -> None:
    system = VectorSystem(store)
    told: list[tuple[int, int]] = []
    name = collection_name(small)
    judge = Judge(small, name, store)

    run({"a": system}, small, judge, name, Options(part="all"), lambda *n: told.append(n))

    assert [one.text for one in system.asked] == [
        "How high are rails?", "How high are rails?", "When do pensions begin?",
    ]  # fmt: skip
    assert told == [(1, 2), (2, 2)]


def test_times_are_kept_by_stage_and_in_all_with_and_without_embedding(
    small: EvaluationSet, store: MemoryStore
) -> None:
    timings = run_all(small, store, vector=VectorSystem(store)).systems["vector"].timings_ms

    assert timings["search"] == Timing(mean=2.0, p50=2.0, p95=2.0)
    assert timings[TOTAL].p50 > 0
    assert timings[WITHOUT_EMBEDDING].p50 == pytest.approx(timings[TOTAL].p50 - 5.0, abs=0.01)


def test_routes_are_scored_against_the_scopes_of_the_gold(
    small: EvaluationSet, store: MemoryStore
) -> None:
    routed = VectorSystem(store, ("bridges", "staff"))

    results = run_all(small, store, routed=routed, plain=VectorSystem(store))

    scores = results.systems["routed"].scores
    assert (scores["small/q1"]["Route@1"], scores["small/q2"]["Route@1"]) == (1.0, 0.0)
    assert scores["small/q2"]["Route@2"] == 1.0
    assert "Route@1" not in results.systems["plain"].scores["small/q1"]


def test_documents_are_ranked_at_the_place_of_their_first_chunk(tmp_path: Path) -> None:
    parts = "\n".join(f"rail rail rail number {n} " + "filler " * 30 for n in range(5))
    documents = [{"id": "long", "text": parts}, {"id": "b", "text": "One rail."}]
    one = make_set(tmp_path / "s", documents, [query("q", "rail", {"doc": "b"})])
    store = MemoryStore()
    load(one, collection_name(one), Loader(store, EMBEDDER, None))
    options = Options(part="all", unit="document", cutoffs=(2,))

    (scores,) = run_all(one, store, options, v=VectorSystem(store)).systems["v"].scores.values()

    assert (scores["P@2"], scores["R@2"]) == (0.5, 1.0)


def test_a_limit_draws_the_same_questions_each_time(tmp_path: Path) -> None:
    lines = [query(f"q{n}", "?", {"doc": "rail"}) for n in range(50)]
    large = make_set(tmp_path / "large", SMALL, lines)

    drawn = [q.id for q in select(large, Options(part="all", limit=10, seed=1))]

    assert len(set(drawn)) == 10
    assert drawn == [q.id for q in select(large, Options(part="all", limit=10, seed=1))]
    assert drawn != [q.id for q in select(large, Options(part="all", limit=10, seed=2))]
    assert len(select(large, Options(part="all", limit=99))) == 50


def test_a_set_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no question in pool"):
        select(make_set(tmp_path / "pool", SMALL), Options(part="all"))


def test_questions_none_of_which_has_gold_give_results_without_scores(tmp_path: Path) -> None:
    one = make_set(tmp_path / "s", SMALL, [query("q", "What is life?")])
    store = MemoryStore()
    load(one, collection_name(one), Loader(store, EMBEDDER, None))

    results = run_all(one, store, v=VectorSystem(store))

    assert (results.questions, results.without_gold) == (1, 1)
    assert results.systems["v"].scores == {}


def test_a_question_that_cannot_be_asked_is_named(small: EvaluationSet, store: MemoryStore) -> None:
    def refuse(query: Query, k: int) -> Ranking:
        raise UsageError("The question is empty.")

    with pytest.raises(UsageError, match="picky cannot answer 'How high"):
        run_all(small, store, picky=refuse)


def test_results_tell_what_they_depend_on(small: EvaluationSet, store: MemoryStore) -> None:
    options = Options(part="all", seed=3, notes={"embedder": "hashing"})

    results = run_all(small, store, options, v=VectorSystem(store))

    assert (results.seed, results.chunks, results.set) == (3, 3, "small")
    assert results.settings["embedder"] == "hashing"
    assert (results.settings["level"], results.settings["collection"]) == ("span", "eval-small")
    assert results.commit
    assert {"cores", "load_1_min", "load_1_min_at_end"} <= set(results.machine)
    assert "numpy" in results.packages


def test_results_come_back_from_their_file_as_they_were(
    small: EvaluationSet, store: MemoryStore, tmp_path: Path
) -> None:
    results = run_all(small, store, v=VectorSystem(store))
    path = tmp_path / "new" / "results.json"

    write_results(results, path)

    assert read_results(path) == results
    assert [one.name for one in path.parent.iterdir()] == ["results.json"]


def minimal() -> dict[str, object]:
    return {
        "set": "s", "part": "all", "questions": 1, "without_gold": 0, "not_held": 0, "chunks": 1,
        "started_at": "2026-01-01T00:00:00+00:00", "seconds": 1.0, "seed": 0, "commit": "c",
        "settings": {}, "machine": {}, "packages": {}, "systems": {}, "ceiling": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"systems": {"a": {"scores": {"q": {"P@1": math.nan}}, "timings_ms": {}}}},
        {"ceiling": {"q": {"P@1": math.inf}}},
        {"format": 2},
        {"colour": "blue"},
        {"set": None},
    ],
)
def test_a_file_that_holds_no_results_is_refused(
    tmp_path: Path, change: Mapping[str, object]
) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({**minimal(), **change}), "utf-8")

    with pytest.raises(UsageError, match="holds no results"):
        read_results(path)


def test_a_missing_or_broken_file_of_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_bytes(b"\xff{")
    for name in ("missing.json", "broken.json"):
        with pytest.raises(UsageError, match=name):
            read_results(tmp_path / name)


def test_nan_never_reaches_a_file() -> None:
    with pytest.raises(ValidationError):
        Results.model_validate({**minimal(), "seconds": math.nan})


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")

    with pytest.raises(UsageError, match="--out"):
        write_results(Results.model_validate(minimal()), tmp_path / "file" / "results.json")
