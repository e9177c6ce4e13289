"""Fusion: several ranked lists merged to one, by rank or by score."""

from collections.abc import Mapping, Sequence

from graph.model import Candidate, Hit

RRF_K = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009: large enough that no single first place decides."""

LEXICAL_WEIGHT = 0.3
"""Of the best full-text score beside a cosine of 1. Chosen on the development half of the
composite: .2 to .5 are level there, .1 and .7 are worse; see eval/LOG.md."""


def reciprocal_rank(rank: int, k: int = RRF_K) -> float:
    """Return 1 / (k + rank), with ranks counted from 1 as in the paper."""
    return 1 / (k + rank)


def fuse(candidates: Sequence[Candidate], weights: Mapping[str, float]) -> list[Hit]:
    """Order candidates by the weighted sum of their reciprocal ranks.

    A list that found nothing contributes nothing.

    Args:
        candidates: Each with its rank in the lists that found it.
        weights: By list name, 0 or more; a list without a weight is left out.
    """
    scores = [
        sum(
            weights.get(name, 0.0) * reciprocal_rank(entry.rank)
            for name, entry in sorted(candidate.lists.items())
        )
        for candidate in candidates
    ]
    return ordered(candidates, scores)


def mixed(candidates: Sequence[Candidate], weight: float = LEXICAL_WEIGHT) -> list[float]:
    """Return each candidate's cosine plus its share of the best full-text score.

    The convex combination of Bruch, Gai and Ingber (TOIS 2023), up to a factor: cosines are
    bounded and comparable as they are; BM25 has no upper bound and is divided by the highest
    score that the question got. A candidate that full text did not find has 0 of it.

    Args:
        candidates: With their cosines.
        weight: Of the full-text share, 0 or more.
    """
    lexical = [
        entry.score if (entry := candidate.lists.get("fulltext")) else 0.0
        for candidate in candidates
    ]
    best = max(lexical, default=0.0) or 1.0
    return [
        (candidate.cosine or 0.0) + weight * score / best
        for candidate, score in zip(candidates, lexical, strict=True)
    ]


def ordered(candidates: Sequence[Candidate], scores: Sequence[float]) -> list[Hit]:
    """Order candidates by score, highest first.

    Equal scores, the normal case when disjoint lists are fused by rank, are ordered by edition, the
    current first, then by chunk id.
    """
    hits = [
        Hit(passage=candidate.passage, lists=candidate.lists, score=score)
        for candidate, score in zip(candidates, scores, strict=True)
    ]
    return sorted(
        hits, key=lambda hit: (-hit.score, not hit.passage.is_current, hit.passage.chunk_id)
    )
