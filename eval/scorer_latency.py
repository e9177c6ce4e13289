"""How long each stage of a search with the scorer takes, and what a question costs in tokens."""

import statistics
import time
from collections.abc import Mapping, Sequence

import numpy as np

from eval.results import Setting
from eval.scorer_run import Material
from graph.model import Filter, SearchRequest
from graph.ports import Embedder, Store, Topics
from router.blend import Blend
from router.evidence import FEATURES, TopicEvidence, features
from router.fuse import mixed, ordered
from router.retrieve import LIST_LENGTH, Clock

QUESTIONS = 40
SCORED = 50
"""Candidates that are scored, as the target of 5 ms names them."""


def latency(
    material: Material, topics: Topics, store: Store, embedder: Embedder
) -> Mapping[str, Setting]:
    """Return the median milliseconds of each stage over some questions, one after the other.

    "score" is evidence and network for `SCORED` candidates. No stage calls a chat model; the
    embedder reads the question, and nothing else.
    """
    from router.train_blend import BlendNetwork

    asked = material.asked[:QUESTIONS]
    untrained = BlendNetwork(np.zeros((2, len(FEATURES)), np.float32), 5, 32, 0.0).blend()
    laps: dict[str, list[float]] = {}
    for one in asked:
        question = one.question.text
        clock = Clock()
        vector = embedder.embed_query(f"{question} ")  # one that it does not remember
        clock.lap("embed")
        request = SearchRequest(
            Filter(material.collection), LIST_LENGTH, vector, text=question, with_vectors=True
        )
        store.search(request)
        clock.lap("search")
        for stage, spent in clock.timings_ms.items():
            laps.setdefault(stage, []).append(spent)
    score = [_scoring(material, place, topics, untrained) for place in range(len(asked))]
    tokens = [len(embedder.token_offsets(one.question.text)) for one in asked]
    return {
        **{f"{stage} ms": round(statistics.median(found), 2) for stage, found in laps.items()},
        "score ms": round(statistics.median(score), 2),
        "embedder tokens": round(statistics.mean(tokens), 1),
        "LLM tokens": 0,
    }


def _scoring(material: Material, place: int, topics: Topics, blend: Blend) -> float:
    """Return the milliseconds of scoring one question's candidates, the better of two times."""
    one = material.asked[place]
    found, vector = one.example.candidates[:SCORED], one.example.vector
    vectors = np.stack([candidate.vector for candidate in found if candidate.vector is not None])
    theta = topics.theta(vectors, [candidate.passage.text for candidate in found])
    spent: list[float] = []
    for _ in range(2):
        began = time.perf_counter()
        own = topics.theta(vector[None], [one.question.text])[0]
        base: Sequence[float] = mixed(found)
        evidence = TopicEvidence(theta, own, topics.centroids)
        weighed = features(one.question.text, vector, found, base, evidence)
        z = blend.scores(weighed, np.asarray(base, np.float32))
        ordered(found, z.tolist())
        spent.append((time.perf_counter() - began) * 1000)
    return min(spent)
