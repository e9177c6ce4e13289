import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.metrics import Relevance, Scores, ideal, means, score


def relevant(*places: Sequence[str], grades: dict[str, int] | None = None) -> Relevance:
    ids = {id for place in places for id in place}
    return Relevance(grades or dict.fromkeys(ids, 1), tuple(frozenset(place) for place in places))


def score_one(ranking: Sequence[str], found: Relevance, k: int) -> Scores:
    return score({"q": ranking}, {"q": found}, (k,))["q"]


def test_precision_and_recall_by_hand() -> None:
    scores = score_one(["x", "a", "y", "b"], relevant("a", "b", "c"), 4)

    assert scores["P@4"] == pytest.approx(2 / 4)
    assert scores["R@4"] == pytest.approx(2 / 3)
    assert scores["IE@4"] == pytest.approx(2 / 4 * 2 / 3)
    assert scores["MRR@4"] == pytest.approx(1 / 2)


@pytest.mark.parametrize(("rank", "discount"), [(1, 1.0), (2, 0.6309), (3, 0.5)])
def test_a_hit_is_discounted_from_the_second_rank_on(rank: int, discount: float) -> None:
    ranking = ["x", "y", "z"]
    ranking[rank - 1] = "a"

    assert score_one(ranking, relevant("a"), 3)["nDCG@3"] == pytest.approx(discount, abs=5e-5)


def test_ndcg_with_grades_by_hand() -> None:
    found = relevant("a", "b", grades={"a": 3, "b": 1})

    scores = score_one(["b", "x", "a"], found, 3)

    gained = 1 / math.log2(2) + 3 / math.log2(4)
    best = 3 / math.log2(2) + 1 / math.log2(3)
    assert scores["nDCG@3"] == pytest.approx(gained / best)


def test_an_id_that_comes_twice_counts_once_before_the_cut() -> None:
    assert score_one(["a", "a", "x"], relevant("a"), 3) == score_one(["a", "x"], relevant("a"), 3)

    scores = score_one(["a", "a", "a"], relevant("a", "b"), 3)

    assert scores["R@3"] == pytest.approx(0.5)
    assert scores["P@3"] == pytest.approx(1 / 3)
    assert score_one(["a", "a", "b"], relevant("a", "b"), 2)["R@2"] == pytest.approx(1.0)


def test_a_question_without_gold_is_left_out_and_spoils_no_other() -> None:
    questions = {"q1": relevant("a"), "q2": Relevance({}, ()), "q3": relevant("c")}

    scores = score({"q1": ["a"], "q2": ["b"], "q3": ["c"]}, questions, (1,))

    assert {q: one["P@1"] for q, one in scores.items()} == {"q1": 1.0, "q3": 1.0}


def test_nothing_relevant_found_is_zero_and_so_is_no_answer() -> None:
    scores = score({"q1": ["x"]}, {"q1": relevant("a"), "q2": relevant("a")}, (1, 3))

    assert {value for one in scores.values() for value in one.values()} == {0.0}


def test_precision_divides_by_k_where_fewer_hits_came() -> None:
    assert score_one(["a"], relevant("a"), 10)["P@10"] == pytest.approx(0.1)


def test_found_counts_places_not_chunks() -> None:
    scores = score_one(["a1", "a2", "x"], relevant(["a1", "a2", "a3"], ["b1"]), 3)

    assert scores["Found@3"] == pytest.approx(0.5)
    assert scores["R@3"] == pytest.approx(2 / 4)


def test_equal_scores_cannot_reorder_what_a_system_ranked() -> None:
    # trec_eval orders equal scores by id: "z" would come before "a".
    assert score_one(["a", "z"], relevant("a"), 1)["P@1"] == 1.0
    assert score_one(["z", "a"], relevant("a"), 1)["P@1"] == 0.0


def test_information_efficiency_is_averaged_both_ways() -> None:
    scores = score(
        {"q1": ["a", "b"], "q2": ["x", "y"]},
        {"q1": relevant("a", "b"), "q2": relevant("c")},
        (2,),
    )

    averages = means(scores)

    assert averages["IE@2"] == pytest.approx((1.0 * 1.0 + 0.0) / 2)
    assert averages["PxR@2"] == pytest.approx(0.5 * 0.5)


def test_means_of_no_questions_are_none_at_all() -> None:
    assert means({}) == {}


def test_the_ideal_ranking_finds_every_place_before_the_second_of_any() -> None:
    found = relevant(["a1", "a2", "a3"], ["b1", "b2"])

    assert ideal(found)[:2] == ["a1", "b1"]
    assert score_one(ideal(found), found, 2)["Found@2"] == 1.0


IDS = st.sampled_from("abcdefgh")


@given(st.lists(IDS), st.dictionaries(IDS, st.integers(1, 3), min_size=1))
def test_scores_are_between_zero_and_the_ceiling(
    ranking: list[str], grades: dict[str, int]
) -> None:
    found = Relevance(grades, tuple(frozenset([id]) for id in grades))

    scores, ceiling = score_one(ranking, found, 3), score_one(ideal(found), found, 3)

    for measure, value in scores.items():
        assert 0 <= value <= ceiling[measure] + 1e-9, measure
    assert ceiling["nDCG@3"] == pytest.approx(1.0)
