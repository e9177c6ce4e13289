"""The scope prior: a likely scope lifts its chunks, an unlikely one costs them rank, no more."""

import math
from collections.abc import Sequence

from graph.model import Candidate, Route

FLOOR = 1e-3
"""Added to each probability, so that no scope is ever ruled out."""


def log_prior(candidates: Sequence[Candidate], routes: Sequence[Route]) -> list[float]:
    """Return log(P(scope of the candidate | question) + `FLOOR`); zeros without routes.

    A naive Bayes view of the dilution paper's soft scoping: log P(chunk | question) is the score of
    the chunk within its scope plus the log probability of the scope.
    """
    if not routes:
        return [0.0] * len(candidates)
    probabilities = {route.scope: route.probability for route in routes}
    return [
        math.log(probabilities.get(candidate.passage.scope, 0.0) + FLOOR)
        for candidate in candidates
    ]
