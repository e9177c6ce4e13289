"""SCOUT-RAG's equations, computed by hand."""

import pytest

from agents.scout import (
    Strategy,
    choose_strategy,
    is_done,
    quality,
    richness,
    tiers_by_similarity,
)


def test_richness_is_the_share_of_the_largest_domain() -> None:
    assert richness({"policy": 40, "news": 10}) == {"policy": 40 / 40, "news": 10 / 40}
    assert richness({"empty": 0}) == {"empty": 0.0}
    assert richness({}) == {}


def test_quality_is_the_mean_of_completeness_and_breadth() -> None:
    assert quality(0.6, 0.9) == (0.6 + 0.9) / 2


@pytest.mark.parametrize(
    ("completeness", "breadth", "seconds", "strategy"),
    [
        (0.74, 0.69, 20.1, "hybrid"),
        (0.74, 0.69, 20.0, "depth"),
        (0.74, 0.69, 15.0, "breadth"),
        (0.74, 0.69, 10.0, "stop"),
        (0.74, 0.70, 60.0, "depth"),
        (0.74, 0.70, 15.0, "stop"),
        (0.75, 0.69, 60.0, "breadth"),
        (0.75, 0.70, 60.0, "stop"),
    ],
)
def test_the_strategy_follows_equation_6(
    completeness: float, breadth: float, seconds: float, strategy: Strategy
) -> None:
    assert choose_strategy(completeness, breadth, seconds) == strategy


@pytest.mark.parametrize(
    ("now", "before", "seconds", "done"),
    [
        (0.85, None, 60, True),
        (0.84, None, 60, False),
        (0.84, None, 4.9, True),
        (0.60, 0.56, 60, True),  # a gain of .04 is below epsilon
        (0.60, 0.54, 60, False),
        (0.50, 0.60, 60, True),
    ],
)
def test_refinement_ends_when_good_late_or_stagnant(
    now: float, before: float | None, seconds: float, done: bool
) -> None:
    assert is_done(now, before, seconds) is done


def test_without_a_model_tiers_follow_the_distance_to_the_best_domain() -> None:
    similarity = {"a": 0.80, "b": 0.76, "c": 0.72, "d": 0.50, "e": 0.0}

    assert tiers_by_similarity(similarity) == {
        "a": "HIGH",
        "b": "HIGH",
        "c": "MODERATE",
        "d": "POTENTIAL",
        "e": "IRRELEVANT",
    }
    assert tiers_by_similarity({}) == {}
