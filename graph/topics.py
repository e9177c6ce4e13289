"""Topic distributions of chunks: which topics are strongest, and whether they fit the model."""

from collections.abc import Sequence

import numpy as np

from graph.errors import StoreError, TopicsMismatch
from graph.model import TopicModel, Vector, Vectors

STRONGEST = 3
"""Topics to which a chunk is linked at most."""
LEAST_WEIGHT = 0.1
"""What a topic weighs at least to which a chunk is linked, unless it is the chunk's first."""


def strongest(theta: Vector) -> list[tuple[int, float]]:
    """Return the topics that a chunk is about, with their weights: the highest first.

    The first topic is always among them, two others where they weigh enough.

    Args:
        theta: Shape (K,).
    """
    order: list[int] = np.argsort(-theta, kind="stable")[:STRONGEST].tolist()
    first, *others = order
    kept = [first, *(topic for topic in others if theta[topic] >= LEAST_WEIGHT)]
    return [(topic, float(theta[topic])) for topic in kept]


def topic_id(collection: str, fingerprint: str, number: int) -> str:
    """Return the key of a topic: those of a new model are other topics."""
    return f"{collection}/{fingerprint}/{number}"


def check_theta(theta: Vectors, rows: int) -> None:
    """Check what is to be written.

    Raises:
        StoreError: The shape is wrong, or a row is no distribution.
    """
    if theta.ndim != 2 or len(theta) != rows or not theta.shape[1]:
        raise StoreError(
            f"Topics of {rows} chunks have the shape {theta.shape}, so none are stored. Give a row "
            "for each chunk and a column for each topic."
        )
    sums = theta.sum(axis=1, dtype=np.float64)
    if not (np.isfinite(theta).all() and (theta >= 0).all() and np.allclose(sums, 1, atol=1e-3)):
        raise StoreError(
            "The topics of a chunk are negative, not finite or do not sum to 1, so none are "
            "stored. Check the topic model."
        )


def stacked(
    theta: Sequence[Vector | None], fingerprints: Sequence[str | None], model: TopicModel
) -> Vectors:
    """Return the topics of chunks as one array, (n, K).

    Args:
        theta: Of each chunk or candidate.
        fingerprints: Of the models that made them, in the same order.
        model: The one that they must be of.

    Raises:
        TopicsMismatch: A chunk has no topics, or those of another model.
    """
    missing = sum(one is None for one in theta)
    stale = sum(
        one is not None and mark != model.fingerprint
        for one, mark in zip(theta, fingerprints, strict=True)
    )
    if missing or stale:
        raise TopicsMismatch(
            f"Of {len(theta):,} chunks of collection {model.collection!r}, {missing:,} have no "
            f"topics and {stale:,} those of another model. Run `milepost topics update "
            f"-C {model.collection}`."
        )
    return np.stack([one for one in theta if one is not None]) if theta else _none(model)


def _none(model: TopicModel) -> Vectors:
    return np.zeros((0, len(model.centroids)), np.float32)
