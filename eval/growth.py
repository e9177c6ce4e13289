"""The growth experiment: the same questions and gold documents in a corpus that grows.

The documents that answer the questions stay; distractors are drawn at random and added in steps up
to the whole corpus, several draws for each size (dilution paper, section 3.3). Search is exact.
Only vector lists are compared, so that what changes is the corpus and nothing else.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.asked import Asked, found_share, precision
from eval.corpus import Codes, Corpus, Similarity, top
from router.fuse import reciprocal_rank
from router.guided import PRIOR_WEIGHT
from router.prior import FLOOR
from router.route import COSINE_SHARPNESS, MIXED_SHARPNESS, NEIGHBOURS
from router.systems import TOP_SCOPES

K = 10
STEPS = 6
DRAWS = 5
_LIST = 30
"""Length of the lists that are fused."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class View:
    """What a ranker sees of one question in one corpus."""

    similarity: Similarity
    scope_of: Codes
    """Shape (n,)."""
    centroids: Mapping[int, float]
    """Cosine of the question with each scope's mean vector."""
    gold_scopes: frozenset[int]
    """For the ranker that is told the answer's scope."""


Ranker = Callable[[View, int], Codes]
"""Returns rows, best first."""


@dataclass(frozen=True, slots=True)
class Point:
    """One system at one size, over the draws."""

    documents: int
    chunks: float
    """Mean."""
    precision: float
    """P@k, mean over questions and draws."""
    recall: float
    """Share of the gold places found up to k, mean over questions and draws."""
    precision_sd: float
    """Over the draws; 0 where there is one."""
    recall_sd: float


def monolithic(view: View, k: int) -> Codes:
    """Search everything."""
    return top(view.similarity, k)


def hard_scoped(view: View, k: int) -> Codes:
    """Search the scope that the nearest chunks vote for, and nothing else."""
    return _within(view, [next(iter(_votes(view)))], k)


def soft_scoped(view: View, k: int) -> Codes:
    """Fuse everything with the scopes of the two nearest centroids, all of equal weight."""
    nearest = sorted(view.centroids, key=lambda scope: (-view.centroids[scope], scope))
    return _fused(view, nearest[:TOP_SCOPES], k)


def guided(view: View, k: int) -> Codes:
    """Let likely scopes lift their chunks a little: the vector part of the default system."""
    best = np.full(int(view.scope_of.max()) + 1, -np.inf)
    np.maximum.at(best, view.scope_of, view.similarity)
    shares = np.exp(MIXED_SHARPNESS * (best - best.max()))
    lifted = view.similarity + PRIOR_WEIGHT * np.log(shares / shares.sum() + FLOOR)[view.scope_of]
    return top(lifted.astype(np.float32), k)


def oracle_scoped(view: View, k: int) -> Codes:
    """Search the scopes of the gold: what a router that never errs would gain."""
    return _within(view, list(view.gold_scopes), k)


RANKERS: Mapping[str, Ranker] = {
    "monolithic": monolithic,
    "hard_scoped": hard_scoped,
    "soft_scoped": soft_scoped,
    "guided": guided,
    "oracle_scoped": oracle_scoped,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How far and how often the corpus grows."""

    steps: int = STEPS
    """Sizes, from the gold documents alone to the whole corpus, evenly on a logarithmic scale."""
    draws: int = DRAWS
    k: int = K
    seed: int = 0


def grow(
    corpus: Corpus,
    questions: Sequence[Asked],
    plan: Plan,
    rankers: Mapping[str, Ranker] = RANKERS,
    progress: Progress = lambda done, total: None,
) -> dict[str, list[Point]]:
    """Run the experiment; by ranker, a point for each size, the smallest corpus first.

    Args:
        corpus: The whole one.
        questions: At least one; their gold documents stay in every corpus.
        plan: How far and how often.
        rankers: By name.
        progress: Told how many corpora are done, of how many.
    """
    gold = np.array(sorted({place for asked in questions for place in asked.documents}))
    others = np.setdiff1d(np.arange(len(corpus.documents)), gold)
    generator = np.random.default_rng(plan.seed)
    points: dict[str, list[Point]] = {name: [] for name in rankers}
    sizes = _sizes(len(gold), len(corpus.documents), plan.steps)
    # With no distractors, or all of them, there is only one corpus to draw.
    draws_of = {size: 1 if size in (sizes[0], sizes[-1]) else plan.draws for size in sizes}
    done = 0
    for size in sizes:
        draws: list[_Draw] = []
        for _ in range(draws_of[size]):
            drawn = generator.permutation(others)[: size - len(gold)]
            rows = np.flatnonzero(np.isin(corpus.document_of, np.concatenate([gold, drawn])))
            draws.append(_draw(corpus, rows, questions, rankers, plan.k))
            done += 1
            progress(done, sum(draws_of.values()))
        for name in rankers:
            points[name].append(_point(name, size, draws))
    return points


@dataclass(frozen=True, slots=True)
class _Draw:
    """One corpus: mean precision and recall of each ranker."""

    chunks: int
    precision: Mapping[str, float]
    recall: Mapping[str, float]


def _draw(
    corpus: Corpus,
    rows: Codes,
    questions: Sequence[Asked],
    rankers: Mapping[str, Ranker],
    k: int,
) -> _Draw:
    vectors, scope_of = corpus.vectors[rows], corpus.name_of[rows]
    scopes = np.unique(scope_of)
    centroids = np.stack([vectors[scope_of == scope].mean(axis=0) for scope in scopes])
    centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in rankers}
    for asked in questions:
        near = dict(zip(scopes.tolist(), (centroids @ asked.vector).tolist(), strict=True))
        view = View(vectors @ asked.vector, scope_of, near, asked.scopes)
        for name, ranker in rankers.items():
            found = rows[ranker(view, k)]
            scores[name].append((precision(found, asked, k), found_share(found, asked)))
    return _Draw(
        chunks=len(rows),
        precision={name: statistics.fmean(p for p, _ in all_) for name, all_ in scores.items()},
        recall={name: statistics.fmean(r for _, r in all_) for name, all_ in scores.items()},
    )


def _point(name: str, documents: int, draws: Sequence[_Draw]) -> Point:
    precisions = [draw.precision[name] for draw in draws]
    recalls = [draw.recall[name] for draw in draws]
    return Point(
        documents=documents,
        chunks=statistics.fmean(draw.chunks for draw in draws),
        precision=statistics.fmean(precisions),
        recall=statistics.fmean(recalls),
        precision_sd=statistics.stdev(precisions) if len(draws) > 1 else 0.0,
        recall_sd=statistics.stdev(recalls) if len(draws) > 1 else 0.0,
    )


def _sizes(smallest: int, largest: int, steps: int) -> list[int]:
    return sorted(set(np.geomspace(smallest, largest, max(steps, 2)).round().astype(int).tolist()))


def _votes(view: View) -> dict[int, float]:
    """Share of the votes of the nearest chunks that each scope gets, the largest first."""
    nearest = top(view.similarity, NEIGHBOURS)
    strengths = np.exp(COSINE_SHARPNESS * (view.similarity[nearest] - view.similarity[nearest[0]]))
    votes = np.bincount(view.scope_of[nearest], strengths / strengths.sum())
    ranked = np.argsort(-votes, kind="stable").tolist()
    return {scope: float(votes[scope]) for scope in ranked if votes[scope] > 0}


def _within(view: View, scopes: Sequence[int], k: int) -> Codes:
    inside = np.flatnonzero(np.isin(view.scope_of, scopes))
    return inside[top(view.similarity[inside], k)]


def _fused(view: View, scopes: Sequence[int], k: int) -> Codes:
    lists = [top(view.similarity, _LIST), *(_within(view, [scope], _LIST) for scope in scopes)]
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, row in enumerate(ranked.tolist(), start=1):
            scores[row] = scores.get(row, 0.0) + reciprocal_rank(rank)
    best = sorted(scores, key=lambda row: (-scores[row], row))
    return np.array(best[:k], dtype=np.int64)
