from functools import partial

import pytest

from graph.errors import StoreUnavailable, UsageError
from graph.model import Filter, Query, Route, SearchRequest
from router import retrieve
from router.retrieve import Routed, System
from router.route import vote
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()


def make_store() -> MemoryStore:
    store = MemoryStore()
    store.write(
        [make_document(f"b{n}", f"bridge rail post {n}", scope="bridges") for n in range(4)]
        + [make_document(f"p{n}", f"pension rule {n}", scope="pensions") for n in range(4)]
    )
    return store


def make_system(store: MemoryStore, name: str = "soft_scoped") -> System:
    route = partial(retrieve.embed_and_route, embedder=EMBEDDER, router=partial(vote, store=store))
    return System(name, route, partial(getattr(retrieve, name), store=store))


@pytest.mark.parametrize("name", ["monolithic", "hybrid", "soft_scoped"])
def test_every_system_returns_at_most_k_hits_best_first(name: str) -> None:
    ranking = make_system(make_store(), name)(Query("bridge rail"), 3)

    scores = [hit.score for hit in ranking.hits]
    assert ranking.system == name
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert ranking.hits[0].passage.scope == "bridges"


@pytest.mark.parametrize("name", ["monolithic", "hybrid", "soft_scoped"])
def test_the_same_question_gives_the_same_ranking(name: str) -> None:
    system = make_system(make_store(), name)

    assert system(Query("rule"), 8).hits == system(Query("rule"), 8).hits


def test_a_k_beyond_the_corpus_returns_what_there_is() -> None:
    assert len(make_system(make_store())(Query("bridge rail"), 500).hits) == 8


def test_the_vote_names_the_scope_of_the_nearest_chunks_first() -> None:
    query = Query("bridge rail post", Filter(scopes=("bridges",)))

    routes = vote(query, EMBEDDER.embed_query(query.text), store=make_store())

    assert routes == (Route("bridges", 1.0),)


def test_the_probabilities_of_the_vote_sum_to_one() -> None:
    query = Query("bridge rail post")

    routes = vote(query, EMBEDDER.embed_query(query.text), store=make_store())

    assert sum(route.probability for route in routes) == pytest.approx(1)


def test_an_empty_graph_gives_no_route_and_no_hits() -> None:
    ranking = make_system(MemoryStore())(Query("bridge"), 5)

    assert (ranking.route, ranking.hits) == ((), ())


def test_soft_scoping_keeps_the_global_hit_when_the_router_is_wrong() -> None:
    query = Query("bridge rail post")
    wrong = Routed(query, EMBEDDER.embed_query(query.text), (Route("pensions", 1.0),))

    ranking = retrieve.soft_scoped(wrong, 5, store=make_store())

    assert ranking.hits[0].passage.scope == "bridges"


def test_soft_scoping_gives_the_likely_scope_a_list_of_its_own() -> None:
    query = Query("rule")
    routed = Routed(query, EMBEDDER.embed_query(query.text), (Route("pensions", 0.9),))

    ranking = retrieve.soft_scoped(routed, 5, store=make_store())

    assert "scope:pensions" in ranking.hits[0].lists


def test_a_ranking_tells_how_long_each_stage_took() -> None:
    ranking = make_system(make_store())(Query("bridge"), 5)

    assert list(ranking.timings_ms) == ["embed", "route", "search", "fuse"]


@pytest.mark.parametrize("question", ["", "   ", "?!", "…", "\n"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        make_system(make_store())(Query(question), 5)


def test_a_question_as_long_as_a_document_is_refused() -> None:
    with pytest.raises(UsageError, match="100,000 characters"):
        make_system(make_store())(Query("a" * 100_000), 5)


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        make_system(make_store())(Query("bridge"), k)


def test_a_lost_database_is_no_empty_ranking() -> None:
    class LostStore(MemoryStore):
        def search(self, request: SearchRequest):
            raise StoreUnavailable("gone")

    with pytest.raises(StoreUnavailable):
        make_system(LostStore())(Query("bridge"), 5)
