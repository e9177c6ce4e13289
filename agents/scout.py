"""The decisions of SCOUT-RAG that need no model: tiers of domains, quality, what to do next.

Li et al. (2026), arXiv:2602.08400. Their paper gives the equations and thresholds, but neither
prompts nor epsilon; epsilon is the dilution paper's (appendix A5.2), which also makes each scope a
domain. A domain's history (equation 2) is left out, as each question stands alone.
"""

from collections.abc import Mapping
from typing import Literal

Tier = Literal["HIGH", "MODERATE", "POTENTIAL", "IRRELEVANT"]
Strategy = Literal["depth", "breadth", "hybrid", "stop"]

EPSILON = 0.05
"""A gain in quality below this ends the refinement."""
GOOD_ENOUGH = 0.85
"""Quality from which nothing is refined."""
LEAST_SECONDS = 5.0
"""Below this much time left, nothing is refined."""
COMPLETE = 0.75
BROAD = 0.70
DEPTH_SECONDS, BREADTH_SECONDS, HYBRID_SECONDS = 15.0, 10.0, 20.0
"""Equation 6: what each strategy needs of the time left."""

NEAR, FARTHER = 0.05, 0.10
"""How far below the best domain's similarity HIGH and MODERATE reach, where no model judges."""


def richness(passages: Mapping[str, int]) -> dict[str, float]:
    """Return each domain's size as a share of the largest's, in [0, 1] (section Stage I)."""
    largest = max(passages.values(), default=0)
    return {name: count / largest if largest else 0.0 for name, count in passages.items()}


def tiers_by_similarity(similarity: Mapping[str, float]) -> dict[str, Tier]:
    """Sort domains into tiers without a model: by how near they come to the best one.

    Args:
        similarity: Of the question and the domain's nearest passage, cosine; 0 for a domain without
            a passage near the question.
    """
    best = max(similarity.values(), default=0.0)
    return {name: _tier(best - value, value) for name, value in similarity.items()}


def _tier(distance: float, similarity: float) -> Tier:
    if similarity <= 0:
        return "IRRELEVANT"
    if distance <= NEAR:
        return "HIGH"
    return "MODERATE" if distance <= FARTHER else "POTENTIAL"


def quality(completeness: float, breadth: float) -> float:
    """Return Q = (C + V) / 2, all in [0, 1] (Algorithm 1, line 11)."""
    return (completeness + breadth) / 2


def choose_strategy(completeness: float, breadth: float, seconds_left: float) -> Strategy:
    """Return how to refine (equation 6).

    Its cases overlap: what is both incomplete and narrow fulfils the first two as well. Hybrid is
    tried first, or it would never be chosen.
    """
    incomplete, narrow = completeness < COMPLETE, breadth < BROAD
    if incomplete and narrow and seconds_left > HYBRID_SECONDS:
        return "hybrid"
    if incomplete and seconds_left > DEPTH_SECONDS:
        return "depth"
    if narrow and seconds_left > BREADTH_SECONDS:
        return "breadth"
    return "stop"


def is_done(now: float, before: float | None, seconds_left: float) -> bool:
    """Tell whether refinement ends: good enough, out of time, or no longer gaining.

    Args:
        now: Quality of the newest answer.
        before: Of the one before it; None for the first.
        seconds_left: Of the time that the run may take.
    """
    stagnant = before is not None and now - before < EPSILON
    return now >= GOOD_ENOUGH or seconds_left < LEAST_SECONDS or stagnant
