from collections.abc import Sequence

import numpy as np
import pytest

from graph.errors import UsageError
from graph.model import Filter, Query
from router.bm25 import Bm25
from router.comparison import RERANKED, InMemory, reranked
from router.retrieve import Routed
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()


def make_store() -> MemoryStore:
    store = MemoryStore()
    store.write([make_document(f"b{n}", f"bridge rail {n}") for n in range(5)])
    store.write([make_document("s", "bridge secret", audience="staff")])
    store.write([make_document("o", "bridge elsewhere", collection="other")])
    return store


def routed(text: str, **where: object) -> Routed:
    return Routed(Query(text, Filter(**where)), EMBEDDER.embed_query(text))  # type: ignore[arg-type]


def test_an_in_memory_list_shows_only_what_the_caller_may_see() -> None:
    system = InMemory("rank_bm25", make_store(), Bm25)

    public = system(routed("bridge secret"), 10)
    staff = system(routed("bridge secret", audiences=("public", "staff")), 10)
    other = system(routed("bridge", collection="other"), 10)

    assert len(public.hits) == 5
    assert "bridge secret" not in {hit.passage.text for hit in public.hits}
    assert staff.hits[0].passage.text == "bridge secret"
    assert [hit.passage.text for hit in other.hits] == ["bridge elsewhere"]


def test_many_chunks_that_may_not_be_seen_do_not_hide_those_that_may() -> None:
    store = MemoryStore()
    store.write([make_document(f"s{n}", "bridge bridge", audience="staff") for n in range(250)])
    store.write([make_document("open", "bridge and many other words beside it")])

    ranking = InMemory("rank_bm25", store, Bm25)(routed("bridge"), 3)

    assert [hit.passage.document for hit in ranking.hits] == ["open"]


def test_an_in_memory_list_of_an_empty_collection_finds_nothing() -> None:
    assert InMemory("rank_bm25", MemoryStore(), Bm25)(routed("bridge"), 3).hits == ()


def test_equal_scores_are_ordered_by_chunk_id_and_k_is_kept() -> None:
    hits = InMemory("rank_bm25", make_store(), Bm25)(routed("bridge"), 3).hits

    ids = [hit.passage.chunk_id for hit in hits]
    assert len(ids) == 3
    assert ids == sorted(ids)


def test_a_k_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        InMemory("rank_bm25", make_store(), Bm25)(routed("bridge"), 0)


def last_digit(question: str, texts: Sequence[str]) -> "np.ndarray":
    return np.array([float(text[-1]) for text in texts], np.float32)


def test_a_reranker_orders_the_candidates_of_hybrid_anew() -> None:
    ranking = reranked(
        routed("bridge rail"), 3, store=make_store(), name="x", scorer=lambda: last_digit
    )

    assert [hit.passage.text[-1] for hit in ranking.hits] == ["4", "3", "2"]
    assert ranking.system == "x"
    assert "rerank" in ranking.timings_ms


def test_hits_beyond_those_that_are_reranked_stay_behind() -> None:
    store = MemoryStore()
    store.write([make_document(f"b{n}", f"bridge rail {n}") for n in range(RERANKED + 10)])

    ranking = reranked(routed("bridge"), 40, store=store, name="x", scorer=lambda: last_digit)

    scores = [hit.score for hit in ranking.hits]
    assert len(scores) == 40
    assert scores == sorted(scores, reverse=True)


def test_nothing_found_is_nothing_to_rerank() -> None:
    ranking = reranked(
        routed("bridge"), 3, store=MemoryStore(), name="x", scorer=lambda: last_digit
    )

    assert ranking.hits == ()
