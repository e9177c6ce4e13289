"""Routers that learned from examples, applied with NumPy alone: no query waits for scikit-learn.

`router.train` makes them. They are kept in the graph (`graph.model.TrainedRouter`) with the
fingerprint of what they depend on, and refused when that has changed.
"""

import hashlib
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.errors import RouterMismatch
from graph.fold import fold
from graph.model import Route, TrainedRouter
from router.route import ranked

Matrix = NDArray[np.float32]

_TOKEN = re.compile(r"\b\w\w+\b")
"""What scikit-learn's TfidfVectorizer takes for a word."""

TRAINED = ("probe", "tfidf")
"""Names under which trained routers are kept."""


@dataclass(frozen=True, slots=True)
class LinearRouter:
    """Softmax of a linear score for each scope."""

    scopes: tuple[str, ...]
    weights: Matrix
    """Shape (scopes, features)."""
    bias: NDArray[np.float32]
    """Shape (scopes,)."""
    temperature: float = 1.0
    """Above 0; the scores are divided by it, so that probabilities are neither bold nor shy."""

    def routes(self, features: NDArray[np.float32]) -> tuple[Route, ...]:
        """Return all scopes, most likely first.

        Args:
            features: Shape (features,).
        """
        scores = (self.weights @ features + self.bias).astype(np.float64) / self.temperature
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        return ranked(dict(zip(self.scopes, shares.tolist(), strict=True)))


@dataclass(frozen=True, slots=True)
class TfidfRouter:
    """R1 of the dilution paper: words and pairs of words, weighted by TF-IDF."""

    linear: LinearRouter
    places: Mapping[str, int]
    """Column of each word or pair."""
    idf: NDArray[np.float32]
    """Shape (features,)."""

    def routes(self, question: str) -> tuple[Route, ...]:
        """Return all scopes, most likely first; none where no word of the question is known."""
        features = np.zeros(len(self.idf), np.float32)
        for term, count in Counter(terms(question)).items():
            if (place := self.places.get(term)) is not None:
                features[place] = count
        features *= self.idf
        norm = float(np.linalg.norm(features))
        # Without a known word the bias alone would decide, and with confidence.
        return self.linear.routes(features / norm) if norm else ()


def terms(text: str) -> list[str]:
    """Return words of two letters or more and pairs of neighbours, as TfidfVectorizer does."""
    words = _TOKEN.findall(fold(text).lower())
    return [*words, *(f"{a} {b}" for a, b in itertools.pairwise(words))]


def centroids(scopes: Sequence[str], means: Matrix) -> LinearRouter:
    """Make the router of the dilution paper, section 4: the cosine with each scope's mean chunk.

    Args:
        scopes: Names.
        means: Shape (scopes, d). A scope whose mean is zero, as one without chunks, is left out.
    """
    norms = np.linalg.norm(means, axis=1)
    kept = np.flatnonzero(norms > 0)
    units = (means[kept] / norms[kept, None]).astype(np.float32)
    names = tuple(scopes[place] for place in kept.tolist())
    return LinearRouter(names, units, np.zeros(len(kept), np.float32), _CENTROID_TEMPERATURE)


_CENTROID_TEMPERATURE = 0.05
"""Cosines with means lie close together; this spreads them to probabilities."""


def fingerprint(embedder: str, scopes: Sequence[str]) -> str:
    """Return a digest of what a trained router depends on."""
    parts = json.dumps([embedder, sorted(scopes)])
    return hashlib.blake2b(parts.encode(), digest_size=12).hexdigest()


def require_fresh(router: TrainedRouter, expected: str) -> None:
    """Refuse a router that was trained for other scopes or another embedder.

    Raises:
        RouterMismatch: It was.
    """
    if router.fingerprint != expected:
        raise RouterMismatch(
            f"The router {router.name!r} of collection {router.collection!r} was trained for other "
            "scopes or another embedder than there are now. Run `milepost scopes train` again."
        )


def pack_linear(router: LinearRouter, **more: NDArray[np.generic]) -> bytes:
    """Return a router's arrays as npz."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        scopes=np.array(router.scopes),
        weights=router.weights,
        bias=router.bias,
        temperature=np.array(router.temperature),
        **more,
    )
    return buffer.getvalue()


def pack_tfidf(router: TfidfRouter) -> bytes:
    """Return a router's arrays as npz."""
    words = sorted(router.places, key=router.places.__getitem__)
    return pack_linear(router.linear, words=np.array(words), idf=router.idf)


def unpack_linear(packed: bytes) -> LinearRouter:
    """Return what `pack_linear` packed."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return LinearRouter(
            tuple(arrays["scopes"].tolist()),
            arrays["weights"],
            arrays["bias"],
            float(arrays["temperature"]),
        )


def unpack_tfidf(packed: bytes) -> TfidfRouter:
    """Return what `pack_tfidf` packed."""
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        places = {word: place for place, word in enumerate(arrays["words"].tolist())}
        return TfidfRouter(unpack_linear(packed), places, arrays["idf"])
