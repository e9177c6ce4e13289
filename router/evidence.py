"""What speaks for each candidate of a search: the features that the scorer weighs.

Everything is made from the candidates of one search, so nothing more is read from the graph: how
near a candidate is, how it compares with the others, what else of its document, section and scope
was found, which of the question's words it holds and how close together, and which topics it shares
with the question and with the best candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.model import Candidate, Vector, Vectors
from router.evidence_words import (
    WORD_FEATURES,
    Matches,
    found_words,
    idf_shares,
    word_features,
)

Floats = NDArray[np.float32]
Columns = list[NDArray[Any]]
"""Each (n,); of any number type, as they are stacked to float32 at the end."""

SHARPNESS = 20.0
"""A candidate's share of the votes is in proportion to exp(20 x score), as in `router.route`."""

GROUPS = ("document", "section", "scope")

_SIMILARITY = (
    "cosine", "share", "score", "cosine - best", "score - best", "score, standardised",
    "1 / rank by cosine", "1 / rank by words", "1 / rank", "- log rank", "not found by words",
    "log bm25", "gap of the first two",
)  # fmt: skip
_COMPANY = (
    "votes", "best", "best other", "size", "coverage", "coverage - best", "mean cosine",
    "1 / rank within", "best three", "1 / rank of the group",
)  # fmt: skip
_NEARNESS = ("to the best", "to the very best", "agreement", "score of the nearest", "density")
_TOPICS = (
    "theta . question", "theta . best", "affinity to the question", "affinity to the best",
    "g . question", "g . best", "purity",
)  # fmt: skip

WITHOUT_TOPICS = (
    *_SIMILARITY,
    *(f"{group}: {name}" for group in GROUPS for name in _COMPANY),
    *_NEARNESS,
    *WORD_FEATURES,
)
FEATURES = (*WITHOUT_TOPICS, *(f"topics: {name}" for name in _TOPICS))
"""The columns of `features`, those of topics last."""

TOPICS_KEPT = 10
"""M of MCompassRAG: topics whose centroids make g."""
_NEAREST = 5
_TINY = 1e-6
_NONE = [float("nan")] * 3


@dataclass(frozen=True, slots=True)
class TopicEvidence:
    """The topics of one search."""

    theta: Vectors
    """Of the candidates, (n, K)."""
    question: Vector
    """Of the question's own text, (K,)."""
    centroids: Vectors
    """Shape (K, d)."""


def features(
    question: str,
    vector: Vector,
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    topics: TopicEvidence | None = None,
) -> Floats:
    """Return a row of features for each candidate, (n, F).

    F is len(FEATURES) with topics, len(WITHOUT_TOPICS) without.

    Args:
        question: As it was asked.
        vector: Its embedding.
        candidates: With their vectors; in any order.
        scores: Of the system that found them, on the scale of `router.fuse.mixed`.
        topics: Of question and candidates.
    """
    if not candidates:
        return np.zeros((0, len(FEATURES if topics else WITHOUT_TOPICS)), np.float32)
    base = np.asarray(scores, np.float32)
    cosine = np.array([candidate.cosine or 0.0 for candidate in candidates], np.float32)
    vectors = np.stack([_vector(candidate) for candidate in candidates])
    votes = _votes(base)
    matches = found_words(question, candidates)
    keys = (
        [candidate.passage.document_id for candidate in candidates],
        [candidate.passage.section_id for candidate in candidates],
        [candidate.passage.scope for candidate in candidates],
    )
    columns = [
        *_similarity(candidates, cosine, base),
        *(
            column
            for key in keys
            for column in _company(key, base, votes, vectors @ vector, matches)
        ),
        *_nearness(vectors, base),
        *word_features(matches, candidates),
        *(_topics(topics, votes) if topics else ()),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _vector(candidate: Candidate) -> Vector:
    assert candidate.vector is not None, "candidates are asked for with_vectors"
    return candidate.vector


def _votes(scores: Floats, sharpness: float = SHARPNESS) -> Floats:
    """Return shares that sum to 1."""
    weights = np.exp(sharpness * (scores - scores.max()))
    return weights / weights.sum()


def _ranks(values: Floats) -> Floats:
    """Return each value's place, 1 for the highest; equal ones share theirs."""
    higher = len(values) - np.searchsorted(np.sort(values), values, side="right")
    return (1 + higher).astype(np.float32)


def _similarity(candidates: Sequence[Candidate], cosine: Floats, base: Floats) -> Columns:
    found = [candidate.lists.get("fulltext") for candidate in candidates]
    bm25 = np.array([entry.score if entry else 0.0 for entry in found], np.float32)
    by_cosine, by_words, rank = _ranks(cosine), _ranks(bm25), _ranks(base)
    first_two = np.sort(base)[::-1][:2]
    gap = float(first_two[0] - first_two[-1])
    return [
        cosine,
        bm25 / max(float(bm25.max()), _TINY),
        base,
        cosine - cosine.max(),
        base - base.max(),
        (base - base.mean()) / (base.std() + _TINY),
        1 / by_cosine,
        np.where(bm25 > 0, 1 / by_words, 0),
        1 / rank,
        -np.log(rank),
        np.where(bm25 > 0, 0, 1),
        np.log1p(bm25),
        np.full(len(base), gap, np.float32),
    ]


def _company(
    keys: Sequence[str], base: Floats, votes: Floats, cosine: Floats, matches: Matches
) -> Columns:
    """Tell how much of a candidate's document, section or scope was found, and how well."""
    places: dict[str, int] = {}
    grouped = [places.setdefault(key, len(places)) for key in keys]
    group, n = np.array(grouped), len(places)
    lowest, highest = base.min(), base.max()
    values, within = base.tolist(), [0] * len(keys)  # rank among its own, 1 for the best
    ordered: list[list[float]] = [[] for _ in range(n)]
    first, seen = [0] * n, 0  # the group's own rank
    order: list[int] = np.argsort(-base, kind="stable").tolist()
    for place in order:
        own = grouped[place]
        if not ordered[own]:
            seen += 1
            first[own] = seen
        ordered[own].append(values[place])
        within[place] = len(ordered[own])
    sizes = np.array([len(one) for one in ordered])
    best = np.array([(one + _NONE)[:3] for one in ordered], np.float32)  # the three highest scores
    others = best[group, [int(rank == 1) for rank in within]]
    sums = np.zeros((n, matches.texts.shape[1]), bool)
    held, words = matches.anywhere.nonzero()
    sums[group[held], words] = True
    coverage = sums.astype(np.float32) @ idf_shares(sums)
    means = np.bincount(group, cosine, n) / sizes
    threes = np.where(np.isnan(best), lowest, best).mean(axis=1)
    return [
        np.bincount(group, votes, n)[group],
        best[group, 0] - highest,
        np.where(np.isnan(others), -1, others - highest),
        sizes[group] / len(base),
        coverage[group],
        coverage[group] - coverage.max(),
        means[group] - means.max(),
        1 / np.array(within),
        threes[group] - threes.max(),
        1 / np.array(first)[group],
    ]


def _nearness(vectors: Vectors, base: Floats) -> Columns:
    """Tell how near a candidate is to the best ones and to its nearest: relevance feedback."""
    columns: Columns = []
    for sharpness in (SHARPNESS, 3 * SHARPNESS):
        centre = _votes(base, sharpness) @ vectors
        near = vectors @ (centre / max(float(np.linalg.norm(centre)), _TINY))
        columns.append(near - near.max())
    between = vectors @ vectors.T
    np.fill_diagonal(between, 0)
    votes = _votes(base, 2 * SHARPNESS)
    columns.append(between @ votes / (1 - votes + _TINY))
    kept = min(_NEAREST, len(base))
    nearest = np.argpartition(between, len(base) - kept, axis=1)[:, len(base) - kept :]
    columns.append(base[nearest].mean(axis=1) - base.max())
    columns.append(np.take_along_axis(between, nearest, axis=1).mean(axis=1))
    return columns


def _topics(topics: TopicEvidence, votes: Floats) -> Columns:
    """Compare topics with those of the question, and with those of its best candidates."""
    theta, question = topics.theta, topics.question
    best = votes @ theta  # (K,): the paper's abstraction with the candidates as the bank
    g = _units(_strongest(theta) @ topics.centroids)
    asked, found = (_units(_strongest(one[None]) @ topics.centroids)[0] for one in (question, best))
    roots = np.sqrt(theta)
    return [
        theta @ question,
        theta @ best,
        roots @ np.sqrt(question),
        roots @ np.sqrt(best),
        g @ asked,
        g @ found,
        (theta * np.log(theta + 1e-9)).sum(axis=1),
    ]


def _strongest(theta: Vectors) -> Vectors:
    """Keep the strongest `TOPICS_KEPT` of each row, eq. 8 of MCompassRAG."""
    kept = min(TOPICS_KEPT, theta.shape[1])
    least = np.partition(theta, -kept, axis=1)[:, -kept, None]
    return np.where(theta >= least, theta, 0)


def _units(vectors: Vectors) -> Vectors:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TINY)
