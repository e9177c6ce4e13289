"""What topics are found in, and what any way of finding them gives back."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graph.model import Vector, Vectors
from ingestion.topic_kmeans import Words
from ingestion.topic_terms import Vocabulary


@dataclass(frozen=True, slots=True)
class Corpus:
    """Chunks that topics are found in: the same order everywhere."""

    chunk_ids: tuple[str, ...]
    vectors: Vectors
    """Shape (n, d), rows of unit length."""
    words: Words
    """Counts, (n, V)."""
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Found:
    """Topics, before they are named and judged."""

    centroids: Vectors
    """Shape (K, d), rows of unit length, in the embedder's space."""
    temperature: float
    terms: tuple[tuple[str, ...], ...] | None = None
    """The model's own; None takes those that tell the topics' chunks from the others."""
    arrays: Mapping[str, NDArray[np.generic]] = field(
        default_factory=dict[str, NDArray[np.generic]]
    )
    """What theta of new text needs beside; see `ingestion.topic_models`."""
    labels: tuple[str, ...] | None = None
    theta: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    """Theta by chunk id, where it is given rather than computed."""
    source: str = ""
    """Where topics that were made elsewhere come from."""


def weighted_centroids(theta: Vectors, vectors: Vectors) -> Vectors:
    """Return the mean of the chunks' vectors, weighted by theta, as unit rows (K, d).

    For models that have no centroids in the embedder's space. What all chunks have in common is
    not taken away, so that these are directions of text.

    Args:
        theta: Shape (n, K).
        vectors: Shape (n, d).
    """
    sums = theta.T.astype(np.float64) @ vectors
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    mean = vectors.mean(axis=0, dtype=np.float64)
    # A topic that no chunk has lies where the collection does: any other place were invented.
    sums = np.where(lengths > 1e-9, sums, mean)
    return (sums / np.linalg.norm(sums, axis=1, keepdims=True)).astype(np.float32)
