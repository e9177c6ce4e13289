"""Topics by spherical k-means: unit centroids, and theta as softmax of the cosines.

Dhillon and Modha, "Concept decompositions for large sparse text data using clustering" (Machine
Learning 42, 2001). With equal weights and one concentration, softmax(cosine / T) is the posterior
of a mixture of von Mises-Fisher distributions with concentration 1 / T (Banerjee et al., JMLR 6,
2005). Own steps, as they keep the centroids on the sphere and can tell their progress;
scikit-learn's k-means on the same vectors takes longer to no better mean cosine: see eval/LOG.md.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import UsageError
from graph.model import Vector, Vectors

ITERATIONS = 50
SETTLED = 1e-3
"""Share of vectors that change their topic, below which the iterations end."""
TEMPERATURES = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
"""Those that are tried, where none is given: theta of k-means."""
USUAL_TEMPERATURE = 0.05
"""Where there are too few words to choose by."""
JUDGED = 2_000
"""Chunks held out to choose a temperature by, at most; as many times four teach the words."""

_NUMBERS_AT_ONCE = 20_000_000
"""Of theta and beta, held at once while their words are foretold: 80 MB each."""

Count = Callable[[int, int], None]
"""Told how much is done, of how much."""

Words = Any
"""A sparse matrix (n, V) of word counts, scipy.sparse.csr_matrix, which has no usable stubs."""


def fit_centroids(vectors: Vectors, k: int, seed: int, count: Count) -> Vectors:
    """Return unit centroids (k, d): the same vectors and seed give the same.

    Args:
        vectors: Shape (n, d), rows of unit length.
        k: Number of topics.
        seed: Of k-means++.
        count: Told the iterations.

    Raises:
        UsageError: There are fewer different vectors than topics.
    """
    from threadpoolctl import threadpool_limits

    # In threads, sums differ in their last digits from run to run.
    with threadpool_limits(1):
        centroids = _first_centroids(vectors, k, np.random.default_rng(seed))
        before = np.full(len(vectors), -1)
        for done in range(ITERATIONS):
            count(done, ITERATIONS)
            cosines = vectors @ centroids.T  # (n, k)
            nearest = cosines.argmax(axis=1)
            _fill_empty(nearest, cosines, k)
            if (nearest != before).mean() < SETTLED:
                break
            before = nearest
            centroids = unit_rows(_sums(vectors, nearest, k))
    count(ITERATIONS, ITERATIONS)
    return centroids


def softmax_theta(vectors: Vectors, centroids: Vectors, temperature: float) -> Vectors:
    """Return softmax(cosine / temperature), (n, k).

    Args:
        vectors: Shape (n, d), rows of unit length.
        centroids: Shape (k, d), rows of unit length.
        temperature: Above 0.
    """
    scaled = vectors @ centroids.T / np.float32(temperature)
    scaled -= scaled.max(axis=1, keepdims=True)
    np.exp(scaled, out=scaled)
    return scaled / scaled.sum(axis=1, keepdims=True)


def choose_temperature(
    theta_at: Callable[[Vectors, float], Vectors],
    temperatures: Sequence[float],
    vectors: Vectors,
    words: Words,
    seed: int,
) -> float | None:
    """Return the temperature whose topics foretell the words of chunks held out best.

    The words of a chunk are drawn from sum_k theta_k beta_k, where beta_k, the words of topic k,
    comes from other chunks: the temperature of the least perplexity is taken. A low one gives each
    chunk one topic only, a high one makes all chunks alike, and both foretell words badly.

    Args:
        theta_at: Theta of vectors at a temperature.
        temperatures: Those that are tried.
        vectors: Shape (n, d).
        words: Counts of words in the same chunks, (n, V).
        seed: Of the sample.

    Returns:
        None where there are too few chunks or words to choose by.
    """
    drawn = np.random.default_rng(seed).permutation(len(vectors))[: 5 * JUDGED]
    held_out, teaching = np.sort(drawn[: len(drawn) // 5]), np.sort(drawn[len(drawn) // 5 :])
    if not len(held_out) or not words[held_out].sum() or not words[teaching].sum():
        return None
    losses = {
        temperature: log_perplexity(
            theta_at(vectors[held_out], temperature),
            word_shares(theta_at(vectors[teaching], temperature), words[teaching]),
            words[held_out],
        )
        for temperature in temperatures
    }
    return min(losses, key=lambda temperature: (losses[temperature], temperature))


def word_shares(theta: Vectors, words: Words) -> Vectors:
    """Return beta: the words of each topic, (K, V), rows sum to 1.

    Args:
        theta: Shape (n, K).
        words: Counts, (n, V). Each word counts .01 more in each topic, so that none is impossible.
    """
    counts = np.asarray((words.T @ theta).T, dtype=np.float32) + np.float32(0.01)
    return counts / counts.sum(axis=1, keepdims=True)


def log_perplexity(theta: Vectors, beta: Vectors, words: Words) -> float:
    """Return the mean of -log p(word) over all words, p(word) = sum_k theta_k beta_k(word).

    Args:
        theta: Shape (n, K).
        beta: Shape (K, V).
        words: Counts, (n, V).
    """
    found: Any = words.tocoo()
    total = 0.0
    step = max(1, _NUMBERS_AT_ONCE // theta.shape[1])
    for start in range(0, found.nnz, step):
        part = slice(start, start + step)
        share: Any = np.einsum("nk,kn->n", theta[found.row[part]], beta[:, found.col[part]])
        total -= float(found.data[part] @ np.log(share))
    return total / float(found.data.sum())


def unit_rows(rows: NDArray[np.floating[Any]]) -> Vectors:
    """Return the rows divided by their lengths, as float32."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.maximum(lengths, 1e-12)).astype(np.float32)


def _first_centroids(vectors: Vectors, k: int, drawn: np.random.Generator) -> Vectors:
    """Choose vectors by k-means++: far ones are likelier. 1 - cosine is half the squared distance.

    Raises:
        UsageError: There are fewer different vectors than topics.
    """
    chosen = [int(drawn.integers(len(vectors)))]
    distance: Vector = 1 - vectors @ vectors[chosen[0]]
    while len(chosen) < k:
        distance[distance < 1e-6] = 0  # what rounding leaves of the same vector
        sums: NDArray[np.float64] = np.cumsum(distance, dtype=np.float64)
        if not sums[-1]:
            raise UsageError(
                f"Only {len(chosen)} of the chunks differ, too few for {k} topics. "
                f"Choose at most -k {len(chosen)}."
            )
        # In (0, sum]: the first place that reaches it has a distance of its own.
        target = (1 - drawn.random()) * sums[-1]
        chosen.append(int(np.argmax(sums >= target)))
        np.minimum(distance, 1 - vectors @ vectors[chosen[-1]], out=distance)
    return vectors[chosen].copy()


def _fill_empty(nearest: NDArray[np.int64], cosines: Vectors, k: int) -> None:
    """Give each topic that lost all its vectors the one that is farthest from its own centroid."""
    empty: list[int] = np.flatnonzero(np.bincount(nearest, minlength=k) == 0).tolist()
    if not empty:
        return
    own = cosines[np.arange(len(nearest)), nearest]
    sizes = np.bincount(nearest, minlength=k)
    farthest = (int(place) for place in np.argsort(own, kind="stable"))
    for topic in empty:
        place = next(place for place in farthest if sizes[nearest[place]] > 1)
        sizes[nearest[place]] -= 1
        nearest[place] = topic


def _sums(vectors: Vectors, nearest: NDArray[np.int64], k: int) -> NDArray[np.float32]:
    """Return the sum of each topic's vectors, (k, d)."""
    from scipy import sparse

    matrix: Any = sparse.csr_matrix
    n = len(vectors)
    members = matrix((np.ones(n, np.float32), (nearest, np.arange(n))), shape=(k, n))
    return np.asarray(members @ vectors)
