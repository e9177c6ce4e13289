"""Vector search dilution: how often the nearest chunks come from the wrong source.

The dilution factor delta of a question is the share of its k nearest chunks that do not come from
the scope of its answer: 1 - P_global (dilution paper, section 3.2). Without questions, each chunk
asks for its k nearest other chunks; delta-hat is 1 - P_global, averaged over the scope that asks
(section 3.4). Search is exact, so no index has a part in it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.corpus import Codes, Corpus
from eval.stats import Correlation, spearman
from graph.errors import UsageError

NEIGHBOURS = 10
SAMPLE = 1_000
"""Chunks that ask, for each scope."""
_BLOCK = 8_000_000
"""Similarities that are held at once: 32 MB."""

Matrix = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ScopeDilution:
    """How much one scope is diluted."""

    scope: str
    documents: int
    chunks: int
    asked: int
    """Chunks that asked: all of them, or a sample."""
    delta_hat: float
    """Share of their nearest chunks that are of other scopes, in [0, 1]."""
    least: float
    """The lowest delta-hat that is possible: a scope of 4 chunks cannot fill 10 places."""

    @property
    def is_measurable(self) -> bool:
        """Whether the scope has enough chunks to be its own neighbours."""
        return self.least == 0


@dataclass(frozen=True, slots=True)
class Leak:
    """How much of one scope's neighbourhood another takes."""

    asking: str
    answering: str
    share: float
    """In [0, 1]."""


@dataclass(frozen=True, slots=True)
class Dilution:
    """How much a collection is diluted."""

    chunks: int
    neighbours: int
    scopes: tuple[ScopeDilution, ...]
    """Most diluted first."""
    delta_hat: float
    """Mean over the scopes, each counting the same."""
    by_chunk: float
    """Mean over the scopes weighted by their chunks: what a chunk drawn at random sees."""
    size_effect: Correlation
    """Of log size and delta-hat, over scopes with more chunks than there are neighbours."""
    shares: tuple[tuple[float, ...], ...]
    """For each scope in `names`, the share of its neighbours from each."""
    names: tuple[str, ...]

    def leaks(self, least: float = 0.0) -> list[Leak]:
        """Return which scopes leak into which, the worst first."""
        found = [
            Leak(self.names[a], self.names[b], share)
            for a, row in enumerate(self.shares)
            for b, share in enumerate(row)
            if a != b and share > least
        ]
        return sorted(found, key=lambda leak: (-leak.share, leak.asking, leak.answering))


def measure(
    corpus: Corpus,
    *,
    neighbours: int = NEIGHBOURS,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
) -> Dilution:
    """Measure delta-hat for each scope, and which scopes leak into which.

    Args:
        corpus: What to measure.
        neighbours: How many nearest chunks each asks for.
        sample: At most so many chunks of each scope ask, drawn with the seed.
        seed: Of the sample.
        progress: Told how many chunks have asked, of how many.

    Raises:
        UsageError: There is only one chunk, which has no neighbours.
    """
    if len(corpus.ids) < 2:
        raise UsageError("A collection of one chunk has no neighbours. Ingest more documents.")
    neighbours = min(neighbours, len(corpus.ids) - 1)
    asking = _asking(corpus, sample, seed)
    shares = _shares(corpus, asking, neighbours, progress)
    asked = np.bincount(corpus.name_of[asking], minlength=len(corpus.names))
    sizes = corpus.sizes
    scopes = tuple(
        ScopeDilution(
            scope=name,
            documents=len(np.unique(corpus.document_of[corpus.name_of == place])),
            chunks=int(sizes[place]),
            asked=int(asked[place]),
            delta_hat=float(1 - shares[place, place]),
            least=1 - min(int(sizes[place]) - 1, neighbours) / neighbours,
        )
        for place, name in enumerate(corpus.names)
    )
    large = [one for one in scopes if one.is_measurable]
    logs, deltas = [math.log(one.chunks) for one in large], [one.delta_hat for one in large]
    return Dilution(
        chunks=len(corpus.ids),
        neighbours=neighbours,
        scopes=tuple(sorted(scopes, key=lambda one: (-one.delta_hat, one.scope))),
        delta_hat=sum(one.delta_hat for one in scopes) / len(scopes),
        by_chunk=sum(one.delta_hat * one.chunks for one in scopes) / len(corpus.ids),
        size_effect=spearman(logs, deltas),
        shares=tuple(tuple(row) for row in shares.tolist()),
        names=corpus.names,
    )


def _asking(corpus: Corpus, sample: int, seed: int) -> Codes:
    generator = np.random.default_rng(seed)
    chosen: list[Codes] = []
    for place in range(len(corpus.names)):
        rows = np.flatnonzero(corpus.name_of == place)
        chosen.append(rows if len(rows) <= sample else generator.choice(rows, sample, False))
    return np.sort(np.concatenate(chosen))


def _shares(corpus: Corpus, asking: Codes, neighbours: int, progress: Progress) -> Matrix:
    """Share of each scope (column) among the neighbours of each (row), shape (scopes, scopes)."""
    counts = np.zeros((len(corpus.names), len(corpus.names)))
    for done, rows in _blocks(asking, len(corpus.ids)):
        found = corpus.name_of[_nearest_others(corpus, rows, neighbours)]
        asked = np.broadcast_to(corpus.name_of[rows][:, np.newaxis], found.shape)
        np.add.at(counts, (asked, found), 1)
        progress(done, len(asking))
    asked_of = np.bincount(corpus.name_of[asking], minlength=len(corpus.names))
    return counts / (asked_of * neighbours)[:, np.newaxis]


def _nearest_others(corpus: Corpus, rows: Codes, neighbours: int) -> Codes:
    similarity = corpus.vectors[rows] @ corpus.vectors.T
    similarity[np.arange(len(rows)), rows] = -np.inf
    return np.argpartition(-similarity, neighbours - 1, axis=1)[:, :neighbours]


def _blocks(rows: Codes, width: int) -> Iterator[tuple[int, Codes]]:
    size = max(1, _BLOCK // width)
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        yield start + len(block), block
