from functools import partial

import pytest

from graph.errors import StoreUnavailable, UsageError
from graph.model import Query, SearchRequest
from router import retrieve, systems
from router.retrieve import System
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()


def make_system(store: MemoryStore) -> System:
    route = partial(retrieve.embed_only, embedder=EMBEDDER)
    return System("hybrid", route, partial(systems.hybrid, store=store))


def make_store() -> MemoryStore:
    store = MemoryStore()
    store.write([make_document(f"b{n}", f"bridge rail post {n}") for n in range(8)])
    return store


def test_a_k_beyond_the_corpus_returns_what_there_is() -> None:
    assert len(make_system(make_store())(Query("bridge rail"), 500).hits) == 8


def test_an_empty_graph_gives_no_route_and_no_hits() -> None:
    ranking = make_system(MemoryStore())(Query("bridge"), 5)

    assert (ranking.route, ranking.hits) == ((), ())


def test_a_ranking_tells_how_long_each_stage_took() -> None:
    ranking = make_system(make_store())(Query("bridge"), 5)

    assert list(ranking.timings_ms) == ["embed", "search", "fuse"]


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


def test_a_question_in_another_script_is_searched_by_vector() -> None:
    ranking = make_system(make_store())(Query("桥梁护栏"), 5)

    assert len(ranking.hits) == 5
    assert all("fulltext" not in hit.lists for hit in ranking.hits)
