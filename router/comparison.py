"""Systems that read text themselves: in-memory lists, and rerankers over the candidates of hybrid.

They are there to be compared with. An in-memory list holds a collection's texts whatever their
audience, and what it ranks is read from the graph under the caller's filter: nobody is shown what
they may not see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graph.model import Filter, Hit, ListRank, Passage, Ranking
from graph.ports import Store
from router.retrieve import Clock, Routed, check
from router.systems import hybrid

RERANKED = 30
"""Candidates that a reranker reads, as in the dilution paper, appendix A6.3."""

PairScorer = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""Scores of a question with each text, shape (n,)."""


class TextIndex(Protocol):
    """Texts that were read beforehand."""

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return a score for each text, shape (n,); 0 or less for one that does not match."""
        ...


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    """A collection's chunks in memory."""

    ids: tuple[str, ...]
    """Ascending."""
    index: TextIndex


class InMemory:
    """Ranks all chunks of a collection by an index that is built when it is first asked for."""

    def __init__(
        self, name: str, store: Store, build: Callable[[Sequence[str]], TextIndex]
    ) -> None:
        """Read nothing yet.

        Args:
            name: Of the system.
            store: The graph.
            build: Makes the index of headings with texts.
        """
        self._name = name
        self._store = store
        self._build = build
        self._indexes: dict[str, CollectionIndex] = {}

    def __call__(self, routed: Routed, k: int) -> Ranking:
        """Return at most k chunks that match and that the caller may see, best first."""
        check(routed.query, k)
        where = routed.query.filter
        clock = Clock()
        found = self._index(where.collection)
        clock.lap("index")
        scores = found.index.scores(routed.query.text)
        order = np.argsort(-scores, kind="stable")  # the ids ascend: equal scores stay in order
        matched = [int(place) for place in order if scores[place] > 0]
        hits = self._visible(found.ids, scores, matched, where, k)
        clock.lap("search")
        timings_ms = {**routed.timings_ms, **clock.timings_ms}
        return Ranking(routed.query, self._name, tuple(hits), routed.routes, timings_ms)

    def _index(self, collection: str) -> CollectionIndex:
        if collection not in self._indexes:
            chunks = [
                chunk
                for batch in self._store.chunks(collection, with_vectors=False)
                for chunk in batch.chunks
            ]
            chunks.sort(key=lambda chunk: chunk.id)
            texts = [f"{chunk.heading}\n{chunk.text}" for chunk in chunks]
            ids = tuple(chunk.id for chunk in chunks)
            self._indexes[collection] = CollectionIndex(ids, self._build(texts))
        return self._indexes[collection]

    def _visible(
        self,
        ids: Sequence[str],
        scores: NDArray[np.float32],
        ranked: Sequence[int],
        where: Filter,
        k: int,
    ) -> list[Hit]:
        """Walk down the ranking until k chunks have passed the caller's filter."""
        hits: list[Hit] = []
        step = max(100, 2 * k)
        for start in range(0, len(ranked), step):
            part = ranked[start : start + step]
            seen = {p.chunk_id: p for p in self._store.passages([ids[n] for n in part], where)}
            for rank, place in enumerate(part, start=start + 1):
                if (passage := seen.get(ids[place])) is not None:
                    score = float(scores[place])
                    hits.append(Hit(passage, {self._name: ListRank(rank, score)}, score))
            if len(hits) >= k:
                break
        return hits[:k]


def reranked(
    routed: Routed, k: int, *, store: Store, name: str, scorer: Callable[[], PairScorer]
) -> Ranking:
    """Order the first `RERANKED` hits of hybrid anew by what a model makes of their texts.

    Args:
        routed: With its vector.
        k: Hits wanted; more than `RERANKED` come in hybrid's order behind.
        store: Where to search.
        name: Of the system.
        scorer: Loads the model when it is first needed.
    """
    clock = Clock()
    ranking = hybrid(routed, max(k, RERANKED), store=store)
    clock.lap("candidates")
    read, others = ranking.hits[:RERANKED], ranking.hits[RERANKED:]
    scores = scorer()(routed.query.text, [_readable(hit.passage) for hit in read])
    ordered = sorted(
        zip(scores.tolist(), read, strict=True),
        key=lambda pair: (-pair[0], not pair[1].passage.is_current, pair[1].passage.chunk_id),
    )
    lowest = min(scores.tolist(), default=0.0)
    hits = [replace(hit, score=score) for score, hit in ordered]
    hits += [replace(hit, score=lowest) for hit in others]
    clock.lap("rerank")
    timings_ms = {**ranking.timings_ms, "rerank": clock.timings_ms["rerank"]}
    return replace(ranking, system=name, hits=tuple(hits[:k]), timings_ms=timings_ms)


def _readable(passage: Passage) -> str:
    return f"{passage.heading}\n{passage.text}"
