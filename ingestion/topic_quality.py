"""How good topics are: do their words belong together, and do they differ from each other."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph.model import Vectors
from ingestion.topic_kmeans import Words

COHERENT_TERMS = 10
"""First terms of a topic of which the coherence is taken; Lau et al. 2014 and most others."""
DIVERSE_TERMS = 25
"""First terms of a topic of which the diversity is taken; Dieng et al. 2020, section 6."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Measures of a topic model, each over the collection that it was fitted on."""

    coherence: float | None
    """Mean NPMI of the pairs of a topic's first 10 terms, in [-1, 1]; higher is better. None where
    no topic has two."""
    diversity: float | None
    """Share of different terms among the topics' first 25, in (0, 1]; higher is better. None where
    there are none."""
    topics_per_chunk: float
    """Mean of exp(entropy of theta), in [1, K]: between how many topics a chunk is spread."""


def judge(terms: Sequence[Sequence[str]], theta: Vectors, presence: "Presence") -> Quality:
    """Return the measures.

    Args:
        terms: Of each topic, the most telling first.
        theta: Of chunks, (n, K).
        presence: In which chunks the terms are.
    """
    return Quality(
        coherence=coherence(terms, presence),
        diversity=diversity(terms),
        topics_per_chunk=topics_per_chunk(theta),
    )


@dataclass(frozen=True, slots=True)
class Presence:
    """In which chunks each word is."""

    words: Words
    """Counts, (n, V), by columns: scipy.sparse.csc_matrix."""
    places: Mapping[str, int]
    """Column of each word."""


def npmi(first: float, second: float, both: float) -> float:
    """Return the normalised pointwise mutual information of two terms, in [-1, 1].

    log(p(a, b) / (p(a) p(b))) / -log p(a, b): Bouma 2009. -1 for terms that are never together, 1
    for terms that are together in each chunk.

    Args:
        first: Share of chunks that have the one.
        second: Share of chunks that have the other.
        both: Share of chunks that have both.
    """
    if both <= 0:
        return -1.0
    if both >= 1:
        return 1.0
    return math.log(both / (first * second)) / -math.log(both)


def coherence(terms: Sequence[Sequence[str]], presence: Presence) -> float | None:
    """Return the mean over topics of the mean NPMI of their first terms' pairs.

    Topics with fewer than two known terms are left out; None where all of them have.
    """
    means: list[float] = []
    for found in terms:
        known = [word for word in found if word in presence.places][:COHERENT_TERMS]
        if len(known) > 1:
            means.append(_mean_npmi(presence, [presence.places[word] for word in known]))
    return float(np.mean(means)) if means else None


def diversity(terms: Sequence[Sequence[str]]) -> float | None:
    """Return the share of different terms among the topics' first ones; None without terms."""
    shown = [term for found in terms for term in found[:DIVERSE_TERMS]]
    return len(set(shown)) / len(shown) if shown else None


def topics_per_chunk(theta: Vectors) -> float:
    """Return the mean of exp(entropy), the number of equal topics of the same entropy.

    Args:
        theta: Shape (n, K), n at least 1.
    """
    shares = np.clip(theta.astype(np.float64), 1e-12, None)
    return float(np.exp(-(shares * np.log(shares)).sum(axis=1)).mean())


def _mean_npmi(presence: Presence, columns: Sequence[int]) -> float:
    has = presence.words[:, columns] > 0
    together = np.asarray((has.T.astype(np.float64) @ has.astype(np.float64)).todense())
    shares = together / presence.words.shape[0]
    pairs = itertools.combinations(range(len(columns)), 2)
    return float(np.mean([npmi(shares[a, a], shares[b, b], shares[a, b]) for a, b in pairs]))
