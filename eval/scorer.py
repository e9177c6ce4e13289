"""The topic-aware scorer, its parts, and plain baselines on the same candidates.

Every system orders the candidates that one search finds: the 50 nearest chunks and the 50 best by
full text. The baselines are the systems' own orders of these (`router.systems`), so a ranking here
is the one that `milepost search` gives. Trained systems learn from one half of the questions and
are scored on the other, each with several seeds whose scores are averaged question by question.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.collection import Question
from eval.metrics import Relevance, Scores, score
from graph.model import Candidate, Hit
from graph.ports import Topics
from router.fuse import fuse, mixed, ordered
from router.training_data import Example
from router.training_lists import Lists

Floats = NDArray[np.float32]

CUTOFFS = (1, 3, 5)
SEEDS = (0, 1, 2)

BASELINES = ("dense", "bm25", "hybrid", "convex")

NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "compass": {},
    "no_selection": {"selection": "none"},
    "no_abstraction": {"abstraction": False},
    "no_selection_no_abstraction": {"selection": "none", "abstraction": False},
    "bilinear": {"selection": "bilinear"},
    "own_topics": {"guidance": "own"},
    "no_topics": {"guidance": "none"},
    "products": {"selection": "bilinear", "products": True},
}
"""MCompassRAG as the paper has it, and without parts of it; with a selector that asks the question;
with the question's own topics instead of a bank; an MLP on [e_q; e_c] alone; and, bilinear, with
products of question and chunk."""

TRAINED = ("logistic", *NETWORKS, "blend_no_topics", "blend")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its candidates and what is relevant to it."""

    question: Question
    example: Example
    relevance: Relevance


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one system scored."""

    scores: Mapping[str, Scores]
    """By key of the question; the mean over the seeds."""
    milliseconds: float
    """To order the candidates of one question, on average."""


def baseline(name: str, asked: Sequence[Asked]) -> Outcome:
    """Score one of `BASELINES`."""
    orders: Mapping[str, Callable[[Sequence[Candidate]], list[Hit]]] = {
        "dense": lambda found: fuse(_of(found, "global"), {"global": 1.0}),
        "bm25": lambda found: fuse(_of(found, "fulltext"), {"fulltext": 1.0}),
        "hybrid": lambda found: fuse(found, {"global": 1.0, "fulltext": 1.0}),
        "convex": lambda found: ordered(found, mixed(found)),
    }
    began = time.process_time()
    rankings = {
        one.question.key: [hit.passage.chunk_id for hit in orders[name](one.example.candidates)]
        for one in asked
    }
    spent = (time.process_time() - began) * 1000 / max(len(asked), 1)
    relevance = {one.question.key: one.relevance for one in asked}
    return Outcome(score(rankings, relevance, CUTOFFS), spent)


def trained(
    name: str,
    training: Lists,
    test: Lists,
    asked: Sequence[Asked],
    topics: Topics,
    seeds: Sequence[int] = SEEDS,
) -> Outcome:
    """Train one of `TRAINED` with each seed, and score it.

    Args:
        name: Of the system.
        training: Questions of one half.
        test: Those asked, in the same order.
        asked: Questions of the other half.
        topics: Of the collection.
        seeds: One training each.
    """
    relevance = {one.question.key: one.relevance for one in asked}
    runs: list[dict[str, Scores]] = []
    spent = 0.0
    for seed in seeds:
        scorer = _fit(name, training, topics, seed)
        began = time.process_time()
        z = scorer(test)
        spent += (time.process_time() - began) * 1000 / max(len(asked), 1) / len(seeds)
        rankings = {one.question.key: _ranked(one, row) for one, row in zip(asked, z, strict=True)}
        runs.append(score(rankings, relevance, CUTOFFS))
    return Outcome(_averaged(runs), spent)


def first(lists: Lists, count: int) -> Lists:
    """Return lists with the first questions alone, for a learning curve."""
    kept = slice(0, count)
    return replace(
        lists,
        features=lists.features[kept],
        scores=lists.scores[kept],
        grades=lists.grades[kept],
        teacher=lists.teacher[kept],
        present=lists.present[kept],
        relevant=lists.relevant[kept],
        rows=lists.rows[kept],
        questions=lists.questions[kept],
        own=lists.own[kept],
        documents=lists.documents[kept],
    )


def _fit(name: str, lists: Lists, topics: Topics, seed: int) -> Callable[[Lists], Floats]:
    """Train a system, and return what gives z (B, C) of other lists."""
    from router.train_compass import train_blend
    from router.training_loop import TrainSettings

    if name == "logistic":
        return _logistic(lists)
    if name in NETWORKS:
        return _network(NETWORKS[name], lists, topics, seed)
    from router.evidence import FEATURES, WITHOUT_TOPICS

    width = len(FEATURES if name == "blend" else WITHOUT_TOPICS)
    narrow = replace(lists, features=lists.features[:, :, :width])
    blend, _ = train_blend(narrow, TrainSettings(seed=seed))
    return lambda test: np.stack(
        [
            blend.scores(features[:, :width], base)
            for features, base in zip(test.features, test.scores, strict=True)
        ]
    )


def _network(
    changes: Mapping[str, Any], lists: Lists, topics: Topics, seed: int
) -> Callable[[Lists], Floats]:
    import torch

    from router.compass import CompassConfig
    from router.train_compass import (
        COMPASS_SETTINGS,
        NetworkScores,
        bank_of,
        divided,
        train_network,
    )

    settings = replace(COMPASS_SETTINGS, seed=seed)
    k, d = topics.centroids.shape
    base = CompassConfig(dimensions=d, topics=k, strongest=min(10, k))
    config = replace(base, **changes)
    network, _ = train_network(lists, config, topics.centroids, settings)
    bank = bank_of(lists, divided(lists.documents, settings)[0])

    def scores(test: Lists) -> Floats:
        scorer = NetworkScores(network, test, bank)
        places = torch.arange(len(test.rows))
        with torch.inference_mode():
            parts = [scorer(places[at : at + 16])[0] for at in range(0, len(places), 16)]
            return torch.cat(parts).numpy()

    return scores


def _logistic(lists: Lists) -> Callable[[Lists], Floats]:
    """Fit a logistic regression on scores and ranks by cosine and full text alone."""
    from sklearn.linear_model import LogisticRegression

    from router.evidence import WITHOUT_TOPICS

    names = ("cosine", "share", "1 / rank by cosine", "1 / rank by words", "not found by words")
    columns = [WITHOUT_TOPICS.index(name) for name in names]
    x = lists.features[lists.present][:, columns]
    model: Any = LogisticRegression(max_iter=1000)
    fitted = model.fit(x, lists.grades[lists.present] > 0)
    weights = np.asarray(fitted.coef_, np.float32)[0]
    return lambda test: test.features[:, :, columns] @ weights


def _ranked(one: Asked, z: Floats) -> list[str]:
    found = one.example.candidates
    return [hit.passage.chunk_id for hit in ordered(found, z[: len(found)].tolist())]


def _of(found: Sequence[Candidate], name: str) -> list[Candidate]:
    return [candidate for candidate in found if name in candidate.lists]


def _averaged(runs: Sequence[Mapping[str, Scores]]) -> dict[str, Scores]:
    return {
        key: {name: sum(run[key][name] for run in runs) / len(runs) for name in scores}
        for key, scores in runs[0].items()
    }
