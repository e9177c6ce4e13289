import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model import Candidate, Filter, ListRank, SearchRequest
from router.fuse import fuse, reciprocal_rank
from tests.fakes import MemoryStore
from tests.graphs import make_document


def candidates(*lists: dict[str, int]) -> list[Candidate]:
    """One candidate for each mapping of list name to rank."""
    store = MemoryStore()
    store.write([make_document("d", *[f"text {n}" for n in range(len(lists))])])
    found = store.search(SearchRequest(Filter(), 99, text="text"))
    found = sorted(found, key=lambda candidate: candidate.passage.text)
    return [
        Candidate(candidate.passage, {name: ListRank(rank, 1.0) for name, rank in ranks.items()})
        for candidate, ranks in zip(found, lists, strict=True)
    ]


def test_ranks_count_from_one() -> None:
    assert reciprocal_rank(1) == 1 / (60 + 1)


def test_the_score_is_the_weighted_sum_of_reciprocal_ranks() -> None:
    (hit,) = fuse(candidates({"global": 1, "fulltext": 3}), {"global": 1.0, "fulltext": 0.5})

    assert hit.score == pytest.approx(1 / (60 + 1) + 0.5 / (60 + 3))


def test_a_list_without_weight_contributes_nothing() -> None:
    (hit,) = fuse(candidates({"global": 1, "scope:x": 1}), {"global": 1.0})

    assert hit.score == pytest.approx(1 / (60 + 1))


def test_the_chunk_in_both_lists_comes_first() -> None:
    first, *_ = fuse(candidates({"a": 1}, {"b": 1}, {"a": 2, "b": 2}), {"a": 1.0, "b": 1.0})

    assert first.passage.text == "text 2"


@given(st.permutations(list(range(6))))
def test_ties_do_not_depend_on_the_order_of_arrival(order: list[int]) -> None:
    tied = candidates({"a": 1}, {"b": 1}, {"a": 2}, {"b": 2}, {"a": 3}, {"b": 3})
    weights = {"a": 1.0, "b": 1.0}

    assert fuse([tied[n] for n in order], weights) == fuse(tied, weights)


TIES = """
from graph.model import Filter, SearchRequest
from router.fuse import fuse
from tests.fakes import MemoryStore
from tests.graphs import make_document

store = MemoryStore()
store.write([make_document(str(n), "same text") for n in range(6)])
found = store.search(SearchRequest(Filter(), 9, text="same"))
print([hit.passage.chunk_id for hit in fuse(found, {"fulltext": 1.0})])
"""


def test_ties_do_not_depend_on_the_hash_seed() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", TIES],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": "."},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(3)
    }

    assert len(outputs) == 1
