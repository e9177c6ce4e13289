"""Puts the candidates of any system in the order that the trained scorer gives them.

The system runs as it always does, and its own statement brings embeddings and topics of all
candidates with them: nothing more is asked of the graph. Where a system's scores are on the scale
of `router.fuse.mixed`, the scorer corrects those, so that what the system knows (a section that is
named, an edition, a scope) still counts; else it corrects the mix of cosine and full text.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import TopicsMismatch, UsageError
from graph.model import Candidate, Hit, Ranking, SearchRequest, Vector
from graph.ports import Embedder, Store, Topics
from router import scorer_file
from router.blend import Blend
from router.evidence import FEATURES, WITHOUT_TOPICS, TopicEvidence, features
from router.fuse import mixed, ordered
from router.retrieve import Clock, Routed, System, length
from router.scorer_file import Stamp

SUFFIX = "+topics"
"""Behind a system's name: the same system, reranked."""

ON_MIXED_SCALE = frozenset({"guided", "convex"})
"""Systems whose scores are a cosine plus what they add to it."""

Floats = NDArray[np.float32]
NetworkScores = Callable[[Vector, Sequence[Candidate], TopicEvidence], Floats]


@dataclass(frozen=True, slots=True)
class Scorer:
    """A trained scorer, and the topics of the collection that it is used for."""

    stamp: Stamp
    topics: Topics | None
    blend: Blend | None
    network: NetworkScores | None = None
    """Of a compass network, which needs torch."""

    def scores(
        self, question: str, vector: Vector, found: Sequence[Candidate], base: Sequence[float]
    ) -> list[float]:
        """Return z of each candidate.

        Args:
            question: As it was asked.
            vector: Its embedding.
            found: Candidates with their vectors, and theta where the scorer weighs topics.
            base: Scores of the system, on the scale of `router.fuse.mixed`.

        Raises:
            TopicsMismatch: A candidate has no topics, or those of another model.
        """
        evidence = self._evidence(question, vector, found)
        if self.blend is not None:
            weighed = features(question, vector, found, base, evidence)
            return self.blend.scores(weighed, np.asarray(base, np.float32)).tolist()
        assert self.network is not None
        assert evidence is not None
        return self.network(vector, found, evidence).tolist()

    def _evidence(
        self, question: str, vector: Vector, found: Sequence[Candidate]
    ) -> TopicEvidence | None:
        if self.topics is None or not self.stamp.k:
            return None
        theta = theta_of(found, self.topics.fingerprint)
        own = self.topics.theta(vector[None], [question])[0]
        return TopicEvidence(theta, own, self.topics.centroids)


def load_scorer(path: Path, embedder: str, topics: Topics | None) -> Scorer:
    """Load a scorer for a collection.

    Args:
        path: Written by `milepost train`.
        embedder: Fingerprint of the graph's embedder.
        topics: Of the collection; None where it has none.

    Raises:
        UsageError: There is none, or it is of another version.
        ScorerMismatch: It was trained for another embedder or other topics.
    """
    arrays, stamp = scorer_file.load(path)
    scorer_file.require_fit(stamp, embedder, topics, path)
    if stamp.kind == "compass":
        from router.compass_scorer import network_scores

        return Scorer(stamp, topics, None, network_scores(arrays, stamp))
    if stamp.features != (FEATURES if stamp.k else WITHOUT_TOPICS):
        raise UsageError(
            f"The scorer {path} weighs other evidence than this version of Milepost gathers. Train "
            "it anew with `milepost train`."
        )
    return Scorer(stamp, topics, Blend(**arrays))


def theta_of(found: Sequence[Candidate], fingerprint: str) -> NDArray[np.float32]:
    """Return theta of candidates, (n, K).

    Raises:
        TopicsMismatch: One has no topics, or those of another model.
    """
    fitting = [one.theta for one in found if one.topics_fingerprint == fingerprint]
    theta = [one for one in fitting if one is not None]
    if len(theta) < len(found):
        raise TopicsMismatch(
            f"Of {len(found)} candidates, {len(found) - len(theta)} have no topics or those of an "
            "older model. Run `milepost topics update` for this collection."
        )
    return np.stack(theta)


class NotingStore:
    """A store that asks for vectors and topics in every search, and remembers what was found.

    All else is passed on. What is noted is kept for each thread, as one serves one question.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._local = threading.local()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def begin(self, limit: int) -> None:
        """Forget what was noted, and make lists this long from now on."""
        self._local.limit = limit
        self._local.found = {}

    @property
    def found(self) -> Mapping[str, Candidate]:
        """Return the candidates noted since `begin`, by chunk id."""
        return self._local.found

    def search(self, request: SearchRequest) -> Sequence[Candidate]:
        """Search as asked, with vectors and topics."""
        full = replace(request, limit=self._local.limit, with_vectors=True, with_topics=True)
        candidates = self._store.search(full)
        self._local.found |= {one.passage.chunk_id: one for one in candidates}
        return candidates


def reranked_by(
    base: System, noting: NotingStore, embedder: Embedder, scorer_of: Callable[[str], Scorer]
) -> System:
    """Return a system with the scorer behind it.

    Args:
        base: Bound to `noting`.
        noting: The graph.
        embedder: Embeds questions for systems that do not.
        scorer_of: Returns the scorer for a collection, loaded when it is first needed.
    """

    def retrieve(routed: Routed, k: int) -> Ranking:
        scorer = scorer_of(routed.query.filter.collection)
        noting.begin(length(k))
        ranking = base.retrieve(routed, 2 * length(k))  # every candidate, not the first k alone
        clock = Clock()
        hits = _reordered(base.name, routed, ranking, noting.found, scorer, embedder)
        clock.lap("rerank")
        timings_ms = {**ranking.timings_ms, **clock.timings_ms}
        return replace(ranking, system=name, hits=tuple(hits[:k]), timings_ms=timings_ms)

    name = base.name + SUFFIX
    return System(name, base.route, retrieve)


def _reordered(
    name: str,
    routed: Routed,
    ranking: Ranking,
    noted: Mapping[str, Candidate],
    scorer: Scorer,
    embedder: Embedder,
) -> list[Hit]:
    if ranking.hits and not noted:
        raise UsageError(
            f"{name} ranks texts in memory, without vectors to score. Rerank another system, such "
            "as guided or hybrid."
        )
    vector = routed.vector
    if vector is None:
        vector = embedder.embed_query(routed.query.text)
    scored = [hit for hit in ranking.hits if _is_scored(hit, noted)]
    found = [_with_cosine(noted[hit.passage.chunk_id], vector) for hit in scored]
    if not found:
        return list(ranking.hits)
    base = [hit.score for hit in scored] if name in ON_MIXED_SCALE else mixed(found)
    z = scorer.scores(routed.query.text, vector, found, base)
    best = iter(ordered(found, z))
    return [next(best) if _is_scored(hit, noted) else hit for hit in ranking.hits]


def _is_scored(hit: Hit, noted: Mapping[str, Candidate]) -> bool:
    """Tell a candidate from what a system brought in behind it, which keeps its place."""
    is_referred = any(name.startswith("reference:") for name in hit.lists)
    return hit.passage.chunk_id in noted and not is_referred


def _with_cosine(candidate: Candidate, vector: Vector) -> Candidate:
    if candidate.cosine is not None or candidate.vector is None:
        return candidate
    return replace(candidate, cosine=float(vector @ candidate.vector))
