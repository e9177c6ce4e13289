"""Reciprocal-rank fusion: lists whose scores cannot be compared are merged by rank."""

from collections.abc import Mapping, Sequence

from graph.model import Candidate, Hit

RRF_K = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009: large enough that no single first place decides."""


def reciprocal_rank(rank: int, k: int = RRF_K) -> float:
    """Return 1 / (k + rank), with ranks counted from 1 as in the paper."""
    return 1 / (k + rank)


def fuse(candidates: Sequence[Candidate], weights: Mapping[str, float]) -> list[Hit]:
    """Order candidates by the weighted sum of their reciprocal ranks.

    A list that found nothing contributes nothing. Equal scores, the normal case when lists are
    disjoint, are ordered by edition, the current first, then by chunk id.

    Args:
        candidates: Each with its rank in the lists that found it.
        weights: By list name, 0 or more; a list without a weight is left out.
    """
    hits = [
        Hit(
            passage=candidate.passage,
            lists=candidate.lists,
            score=sum(
                weights.get(name, 0.0) * reciprocal_rank(entry.rank)
                for name, entry in sorted(candidate.lists.items())
            ),
        )
        for candidate in candidates
    ]
    return sorted(
        hits, key=lambda hit: (-hit.score, not hit.passage.is_current, hit.passage.chunk_id)
    )
