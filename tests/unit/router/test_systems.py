from collections.abc import Callable
from functools import partial

import pytest

from graph.errors import UsageError
from graph.model import Candidate, Filter, ListRank, Query, Ranking, Route
from router import retrieve, systems
from router.prior import FLOOR, log_prior
from router.retrieve import Routed, System
from router.route import vote
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
ALL = Filter()
Retrieve = Callable[..., Ranking]

EVERY = [
    systems.monolithic,
    systems.bm25,
    systems.hybrid,
    systems.convex,
    systems.hard_scoped,
    systems.soft_scoped,
    systems.scope_prior,
]


def make_store() -> MemoryStore:
    store = MemoryStore()
    store.write(
        [make_document(f"b{n}", f"bridge rail post {n}", scope="bridges") for n in range(4)]
        + [make_document(f"p{n}", f"pension rule {n}", scope="pensions") for n in range(4)]
        + [make_document("secret", "bridge rail secret", scope="hidden", audience="staff")]
    )
    return store


def make_system(store: MemoryStore, rank: Retrieve) -> System:
    route = partial(retrieve.embed_and_route, embedder=EMBEDDER, router=partial(vote, store=store))
    return System(rank.__name__, route, partial(rank, store=store))


def routed(text: str, *routes: Route, where: Filter = ALL) -> Routed:
    return Routed(Query(text, where), EMBEDDER.embed_query(text), routes)


def candidate(scope: str, cosine: float, **ranks: int) -> Candidate:
    store = MemoryStore()
    store.write([make_document(f"{scope}{cosine}", "text", scope=scope)])
    (chunk,) = next(store.chunks("default")).chunks
    (passage,) = store.passages([chunk.id], Filter())
    lists = {name: ListRank(rank, 1.0) for name, rank in ranks.items()}
    return Candidate(passage, lists, cosine)


@pytest.mark.parametrize("rank", EVERY)
def test_every_system_returns_at_most_k_hits_best_first(rank: Retrieve) -> None:
    ranking = make_system(make_store(), rank)(Query("bridge rail"), 3)

    scores = [hit.score for hit in ranking.hits]
    assert ranking.system == rank.__name__
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert ranking.hits[0].passage.scope == "bridges"


@pytest.mark.parametrize("rank", EVERY)
def test_the_same_question_gives_the_same_ranking(rank: Retrieve) -> None:
    system = make_system(make_store(), rank)

    assert system(Query("rule"), 8).hits == system(Query("rule"), 8).hits


@pytest.mark.parametrize("rank", EVERY)
def test_no_system_returns_what_the_caller_may_not_see(rank: Retrieve) -> None:
    store = make_store()
    told = routed("bridge rail secret", Route("hidden", 1.0))

    found = partial(rank, store=store)(told, 20)

    assert "secret" not in {hit.passage.document for hit in found.hits}
    assert all(hit.passage.scope != "hidden" for hit in found.hits)


@pytest.mark.parametrize("rank", EVERY)
def test_no_system_leaves_the_scopes_that_the_caller_names(rank: Retrieve) -> None:
    told = routed("bridge rail", Route("bridges", 1.0), where=Filter(scopes=("pensions",)))

    found = partial(rank, store=make_store())(told, 20)

    assert {hit.passage.scope for hit in found.hits} <= {"pensions"}


def test_soft_scoping_keeps_the_global_hit_when_the_router_is_wrong() -> None:
    wrong = routed("bridge rail post", Route("pensions", 1.0))

    ranking = systems.soft_scoped(wrong, 5, store=make_store())

    assert "bridges" in {hit.passage.scope for hit in ranking.hits}


def test_soft_scoping_gives_the_two_likeliest_scopes_a_list_each() -> None:
    told = routed("rule", Route("pensions", 0.5), Route("bridges", 0.3), Route("x", 0.2))

    ranking = systems.soft_scoped(told, 8, store=make_store())

    lists = {name for hit in ranking.hits for name in hit.lists}
    assert lists == {"global", "scope:pensions", "scope:bridges"}


def test_hard_scoping_follows_the_first_route_and_loses_the_answer_when_it_is_wrong() -> None:
    wrong = routed("bridge rail post", Route("pensions", 1.0))

    ranking = systems.hard_scoped(wrong, 5, store=make_store())

    assert {hit.passage.scope for hit in ranking.hits} == {"pensions"}


@pytest.mark.parametrize("routes", [(), (Route("pensions", 0.49),)])
def test_a_route_that_is_missing_or_unsure_searches_everything(routes: tuple[Route, ...]) -> None:
    told = routed("bridge rail post", *routes)

    ranking = systems.hard_scoped(told, 8, store=make_store(), name="probe_routed", sure=0.5)

    assert ranking.system == "probe_routed"
    assert {hit.passage.scope for hit in ranking.hits} == {"bridges", "pensions"}


def test_the_oracle_must_be_told_the_scope() -> None:
    with pytest.raises(UsageError, match="--scope"):
        systems.oracle_scoped(routed("rule"), 5, store=make_store())

    told = routed("bridge", where=Filter(scopes=("pensions",)))
    ranking = systems.oracle_scoped(told, 5, store=make_store())
    assert {hit.passage.scope for hit in ranking.hits} == {"pensions"}


def test_the_prior_is_the_log_of_the_probability_and_never_minus_infinity() -> None:
    ours, other = candidate("a", 0.5), candidate("b", 0.5)

    assert log_prior([ours, other], [Route("a", 0.999)]) == pytest.approx([0.0, -6.9078], abs=1e-4)
    assert log_prior([ours], []) == [0.0]
    assert FLOOR == 0.001


def test_a_prior_changes_the_order_of_what_is_nearly_equal_and_nothing_else() -> None:
    class Fixed(MemoryStore):
        def search(self, request: object):
            return [
                candidate("unlikely", 0.52, **{"global": 2}),
                candidate("likely", 0.50, **{"global": 3}),
                candidate("unlikely", 0.90, **{"global": 1}),
            ]

    told = routed("x", Route("likely", 0.9), Route("unlikely", 0.1))

    ranking = systems.scope_prior(told, 3, store=Fixed())

    # .50 + .02 log .901 = .498 against .52 + .02 log .101 = .474 and .90 - .046 = .854
    assert [hit.passage.document for hit in ranking.hits] == [
        "unlikely0.9",
        "likely0.5",
        "unlikely0.52",
    ]
