"""Dilution as questions with known answers see it, and what the right scope would gain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.asked import Asked, precision
from eval.corpus import Corpus, top
from eval.dilution import NEIGHBOURS
from eval.stats import Comparison, Estimate, compare, estimate


@dataclass(frozen=True, slots=True)
class ScopeDelta:
    """Delta of the questions that one scope answers."""

    scope: str
    questions: int
    delta: float
    """Mean share of the k nearest chunks that are of no scope of the gold, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class LabelledDilution:
    """What searching everything costs, and what a router that never errs would gain."""

    k: int
    scopes: tuple[ScopeDelta, ...]
    """Most diluted first; a question that several scopes answer counts in each."""
    delta: Estimate
    """Over the questions."""
    precision: Estimate
    """P@k of vector search over everything."""
    gain: Comparison
    """P@k within the scopes of the gold minus P@k over everything, question by question."""


def measure(
    corpus: Corpus, questions: Sequence[Asked], *, k: int = NEIGHBOURS, seed: int = 0
) -> LabelledDilution:
    """Measure delta from labels, by exact search."""
    deltas: list[float] = []
    everywhere: list[float] = []
    scoped: list[float] = []
    by_scope: dict[int, list[float]] = {}
    for asked in questions:
        similarity = corpus.vectors @ asked.vector
        nearest = top(similarity, k)
        inside = np.isin(corpus.name_of, list(asked.scopes))
        delta = 1 - float(inside[nearest].mean())
        deltas.append(delta)
        for scope in asked.scopes:
            by_scope.setdefault(scope, []).append(delta)
        everywhere.append(precision(nearest, asked, k))
        within = top(np.where(inside, similarity, -np.inf), min(k, int(inside.sum())))
        scoped.append(precision(within, asked, k))
    found = [ScopeDelta(corpus.names[s], len(d), sum(d) / len(d)) for s, d in by_scope.items()]
    return LabelledDilution(
        k=k,
        scopes=tuple(sorted(found, key=lambda one: (-one.delta, one.scope))),
        delta=estimate(deltas, seed=seed),
        precision=estimate(everywhere, seed=seed),
        gain=compare(everywhere, scoped, seed=seed),
    )
