"""Significance for small samples of questions: tests and intervals that need no normality.

Everything is seeded, so that a table can be computed again. Nothing here returns NaN: where a
figure cannot be had it is None, and a note says why.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import stats

PERMUTATIONS = 10_000
RESAMPLES = 1_000
CONFIDENCE = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    n: int
    mean: float | None
    """None where n is 0."""
    low: float | None
    """Lower end of the 95% bootstrap interval; None below two values."""
    high: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same questions."""

    n: int
    difference: Estimate
    """Mean of the second minus the first."""
    p: float | None
    """Two-sided, in (0, 1]; None where there is nothing to compare."""
    note: str = ""
    """What a reader must know, such as "no difference" or "n = 1"."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Spearman's rank correlation."""

    n: int
    rho: float | None
    p: float | None
    note: str = ""


def estimate(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Estimate:
    """Return the mean and its percentile bootstrap interval (Efron 1979).

    Raises:
        ValueError: A value is not finite.
    """
    array = _finite(values)
    if array.size == 0:
        return Estimate(0, None, None, None)
    mean = float(array.mean())
    if array.size == 1:
        return Estimate(1, mean, None, None)
    drawn = np.random.default_rng(seed).integers(array.size, size=(resamples, array.size))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(array[drawn].mean(axis=1), [tail, 1 - tail])
    return Estimate(array.size, mean, float(low), float(high))


def compare(
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare two systems by a paired permutation test (Fisher 1935) and a bootstrap interval.

    Args:
        first: Scores of the baseline, one for each question.
        second: Scores of the other system, for the same questions in the same order.
        seed: Of permutations and resamples.
        permutations: Random sign flips; all of them are tried where there are not more than that.
        resamples: Bootstrap samples.

    Raises:
        ValueError: The lengths differ, or a score is not finite.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores cannot be paired with {len(second)}")
    differences = _finite(second) - _finite(first)
    n = differences.size
    difference = estimate(differences.tolist(), seed=seed, resamples=resamples)
    if n == 0:
        return Comparison(0, difference, None, "n = 0: no question in common")
    if n == 1:
        return Comparison(1, difference, 1.0, "n = 1: one question decides nothing")
    if not differences.any():
        return Comparison(n, Estimate(n, 0.0, 0.0, 0.0), 1.0, "no difference")
    return Comparison(n, difference, _sign_flip_p(differences, seed, permutations))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p values for how many there are (Holm 1979); None stays and does not count."""
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for step, (p, place) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - step)))
        corrected[place] = highest
    return corrected


def spearman(x: Sequence[float], y: Sequence[float]) -> Correlation:
    """Correlate two series by rank, with the two-sided p value of the t approximation.

    Raises:
        ValueError: The lengths differ, or a value is not finite.
    """
    first, second = _finite(x), _finite(y)
    if first.size != second.size:
        raise ValueError(f"{first.size} values cannot be paired with {second.size}")
    if first.size < 3:
        return Correlation(first.size, None, None, f"n = {first.size}: at least 3 are needed")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Correlation(first.size, None, None, "all values are equal")
    rho, p = cast("tuple[float, float]", tuple(stats.spearmanr(first, second)))
    return Correlation(first.size, float(rho), float(p))


def _sign_flip_p(differences: Floats, seed: int, permutations: int) -> float:
    """Share of sign flips whose sum is at least as far from 0 as the one observed.

    Of random flips the observed one counts as one more, so that p is never 0 (Phipson & Smyth
    2010). Sums that differ by rounding only are equal.
    """
    n = differences.size
    observed = abs(float(differences.sum()))
    if 2**n <= permutations:
        signs = np.array(list(itertools.product([1.0, -1.0], repeat=n)))
    else:
        draws = np.random.default_rng(seed).integers(2, size=(permutations, n))
        signs = 1.0 - 2.0 * draws
    sums = np.abs(signs @ differences)
    rounding = 1e-12 * float(np.abs(differences).sum())
    extreme = int(np.count_nonzero(sums >= observed - rounding))
    return extreme / len(signs) if 2**n <= permutations else (extreme + 1) / (len(signs) + 1)


def _finite(values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a score is not finite")
    return array
