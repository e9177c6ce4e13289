import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.stats import Estimate, compare, estimate, holm, spearman


def test_equal_systems_show_no_difference() -> None:
    scores = [0.1, 0.5, 1.0, 0.0, 0.3, 0.3, 0.9, 0.2, 0.4, 0.6]

    found = compare(scores, scores)

    assert (found.p, found.note) == (1.0, "no difference")
    assert found.difference == Estimate(10, 0.0, 0.0, 0.0)


def test_one_question_decides_nothing() -> None:
    found = compare([0.0], [1.0])

    assert found.p == 1.0
    assert found.difference == Estimate(1, 1.0, None, None)
    assert "n = 1" in found.note


def test_no_question_gives_no_number() -> None:
    found = compare([], [])

    assert found.p is None
    assert found.difference == Estimate(0, None, None, None)
    assert "n = 0" in found.note
    assert estimate([]) == Estimate(0, None, None, None)


def test_few_questions_are_tested_exactly() -> None:
    # All eight of the same sign: only that and its mirror are as extreme, of 2**8 flips.
    assert compare([0.0] * 8, [1.0] * 8).p == pytest.approx(2 / 2**8)
    # Differences 1, 2, 3: 6, and -6, of eight sums.
    assert compare([0, 0, 0], [1, 2, 3]).p == pytest.approx(2 / 8)
    # Differences 3, -1: the sums are 2, 4, -4, -2, all at least as far from 0 as 2.
    assert compare([0, 1], [3, 0]).p == pytest.approx(1.0)


def test_a_clear_difference_over_many_questions_is_significant_and_never_p_zero() -> None:
    first = np.linspace(0, 0.5, 100)

    found = compare(first.tolist(), (first + 0.1).tolist())

    assert found.p == pytest.approx(1 / 10_001)
    assert found.difference.low == pytest.approx(0.1)


def test_noise_is_not_significant() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.random((2, 200)).tolist()

    found = compare(first, second)

    assert found.p is not None and found.p > 0.05
    assert found.difference.low is not None and found.difference.high is not None
    assert found.difference.low < 0 < found.difference.high


def test_the_same_seed_gives_the_same_figures() -> None:
    first, second = np.random.default_rng(2).random((2, 50)).tolist()

    assert compare(first, second, seed=7) == compare(first, second, seed=7)
    assert compare(first, second, seed=7) != compare(first, second, seed=8)


def test_the_bootstrap_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        found = estimate(generator.normal(size=60).tolist(), resamples=300)
        assert found.low is not None and found.high is not None
        covered += found.low <= 0 <= found.high

    assert 0.88 <= covered / 200 <= 0.99


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        compare([0.0, wrong], [1.0, 1.0])


def test_scores_of_different_questions_are_not_paired() -> None:
    with pytest.raises(ValueError, match="paired"):
        compare([0.0, 1.0], [1.0])


def test_holm_by_hand() -> None:
    # Sorted .01, .02, .04 times 3, 2, 1: .03, .04, .04.
    assert holm([0.04, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_corrects_upwards_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = [p for p in holm(p_values) if p is not None]

    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [corrected[n] for n in order] == sorted(corrected)


def test_spearman_by_hand() -> None:
    # Squared rank differences 0, 1, 1, 0, 0 over n = 5: 1 - 6 * 2 / 120.
    found = spearman([1, 2, 3, 4, 5], [10, 30, 20, 40, 50])

    assert found.rho == pytest.approx(0.9)
    assert found.p == pytest.approx(0.0374, abs=1e-4)


@pytest.mark.parametrize(("x", "y"), [([], []), ([1, 2], [2, 1]), ([1, 1, 1], [1, 2, 3])])
def test_spearman_says_so_where_there_is_none(x: list[float], y: list[float]) -> None:
    found = spearman(x, y)

    assert (found.rho, found.p) == (None, None)
    assert found.note


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=30))
def test_no_comparison_holds_nan(pairs: list[tuple[float, float]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]

    found = compare(first, second, permutations=50, resamples=20)

    figures = [found.p, found.difference.mean, found.difference.low, found.difference.high]
    assert all(figure is None or np.isfinite(figure) for figure in figures)
    assert found.p is None or 0 < found.p <= 1
