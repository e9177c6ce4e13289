"""Theta of any text by a topic model that is fitted, with NumPy alone: no torch, no package.

What a kind of model needs beside centroids and temperature is in `TopicModel.arrays`.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import TopicsMismatch
from graph.model import TopicModel, Vectors
from graph.ports import Store, Topics
from ingestion.topic_kmeans import Words, softmax_theta
from ingestion.topic_terms import Vocabulary


@dataclass(frozen=True, slots=True)
class CosineTopics:
    """Theta is softmax(cosine / temperature): k-means, and topics that were made elsewhere."""

    name: str
    fingerprint: str
    centroids: Vectors
    terms: tuple[tuple[str, ...], ...]
    temperature: float

    def theta(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return the topics of texts, (n, K)."""
        return softmax_theta(vectors, self.centroids, self.temperature)


@dataclass(frozen=True, slots=True)
class DistanceTopics:
    """Theta of FASTopic: exp(-distance / temperature), by topic over its sum in the collection.

    Wu et al., "FASTopic" (NeurIPS 2024), equation 11, as package `fastopic` 1.0.1 computes it.
    """

    name: str
    fingerprint: str
    centroids: Vectors
    terms: tuple[tuple[str, ...], ...]
    temperature: float
    topics: Vectors
    """Topic embeddings, (K, d), of any length; the centroids are their directions."""
    log_sums: NDArray[np.float32]
    """Log of the sum over the chunks fitted on, of exp(-distance / temperature), (K,)."""

    def theta(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return the topics of texts, (n, K)."""
        return _softmax(closeness(vectors, self.topics, self.temperature) - self.log_sums)


@dataclass(frozen=True, slots=True)
class EncoderTopics:
    """Theta of ETM: softmax of the mean that the encoder gives for the shares of the words.

    Dieng, Ruiz and Blei, "Topic modeling in embedding spaces" (TACL 2020), algorithm 1, as package
    `topmost` 1.0.2 builds the network.
    """

    name: str
    fingerprint: str
    centroids: Vectors
    terms: tuple[tuple[str, ...], ...]
    vocabulary: Vocabulary
    layers: tuple[tuple[Vectors, NDArray[np.float32]], ...]
    """Weights (out, in) and bias (out,) of the two hidden layers and the mean's."""

    def theta(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return the topics of texts, (n, K); those without known words get what is usual."""
        return self.theta_of_words(self.vocabulary.count(texts))

    def theta_of_words(self, words: Words) -> Vectors:
        """Return the topics of texts by their counts of words, (n, V)."""
        totals = np.maximum(np.asarray(words.sum(axis=1), np.float32), 1)  # (n, 1)
        (first, first_bias), (second, second_bias), (mean, mean_bias) = self.layers
        hidden = np.maximum(np.asarray(words @ first.T) / totals + first_bias, 0)
        hidden = np.maximum(hidden @ second.T + second_bias, 0)
        return _softmax(hidden @ mean.T + mean_bias)


def load(model: TopicModel, embedder: str) -> Topics:
    """Return the topics of a collection, ready for new text.

    Args:
        model: From the graph.
        embedder: Fingerprint of the embedder that makes the vectors.

    Raises:
        TopicsMismatch: The topics were made with another embedder, or by a kind of model that this
            version does not know.
    """
    if model.embedder != embedder:
        raise TopicsMismatch(
            f"The topics of collection {model.collection!r} were fitted with the embedder "
            f"{model.embedder}, but the one set is {embedder}. Fit them anew: "
            f"milepost topics fit -C {model.collection}"
        )
    shared = (model.name, model.fingerprint, model.centroids, model.terms)
    arrays = unpack(model.arrays)
    match model.name:
        case "kmeans" | "external":
            return CosineTopics(*shared, model.temperature)
        case "fastopic":
            return DistanceTopics(*shared, model.temperature, arrays["topics"], arrays["log_sums"])
        case "etm":
            layers = tuple((arrays[f"weight{n}"], arrays[f"bias{n}"]) for n in range(3))
            vocabulary = Vocabulary(tuple(map(str, arrays["vocabulary"])))
            return EncoderTopics(*shared, vocabulary, layers)
        case _:
            raise TopicsMismatch(
                f"The topics of collection {model.collection!r} are of the kind {model.name!r}, "
                "which this version of Milepost does not know. Install a newer one, or fit them "
                f"anew: milepost topics fit -C {model.collection}"
            )


def load_topics(store: Store, collection: str, embedder: str) -> Topics | None:
    """Return the topics of a collection, ready for new text; None if it has none.

    Raises:
        TopicsMismatch: They were made with another embedder.
    """
    model = store.read_topics(collection)
    return None if model is None else load(model, embedder)


def required_topics(store: Store, collection: str) -> TopicModel:
    """Return the topics of a collection.

    Raises:
        TopicsMismatch: It has none.
    """
    model = store.read_topics(collection)
    if model is None:
        raise TopicsMismatch(
            f"Collection {collection!r} has no topics. Find some: milepost topics fit "
            f"-C {collection}"
        )
    return model


def closeness(vectors: Vectors, topics: Vectors, temperature: float) -> Vectors:
    """Return -|vector - topic|² / temperature, (n, K), as FASTopic measures distance."""
    squares = (vectors**2).sum(axis=1, keepdims=True) + (topics**2).sum(axis=1)
    return (2 * vectors @ topics.T - squares) / np.float32(temperature)


def pack(**arrays: NDArray[np.generic]) -> bytes:
    """Return arrays as npz."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(packed: bytes) -> dict[str, Any]:
    """Return the arrays of an npz; none for no bytes."""
    if not packed:
        return {}
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return dict(arrays)


def _softmax(scores: Vectors) -> Vectors:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
