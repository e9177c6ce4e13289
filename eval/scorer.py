"""The topic-aware scorer, its parts, and plain baselines on the same candidates.

Every system orders the candidates that one search finds: the 50 nearest chunks and the 50 best by
full text. The baselines are the systems' own orders of these (`router.systems`), so a ranking here
is the one that `milepost search` gives. Trained systems are scored on questions whose documents
they have not seen, each with several seeds whose scores are averaged question by question.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.collection import Question
from eval.metrics import Relevance, Scores, score
from eval.scorer_folds import Fold, instructive_places, picked
from graph.model import Candidate, Hit
from graph.ports import Topics
from router.fuse import fuse, mixed, ordered
from router.training_data import Example
from router.training_lists import Lists

Floats = NDArray[np.float32]

CUTOFFS = (1, 3, 5)
SEEDS = (0, 1, 2)

BASELINES = ("dense", "bm25", "hybrid", "convex")

LATE = 20
"""Candidates that late interaction orders anew, the best by the mix."""

NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "compass": {},
    "mean_pooling": {"pooling": "mean"},
    "no_selection": {"selection": "none"},
    "no_abstraction": {"abstraction": False},
    "no_selection_no_abstraction": {"selection": "none", "abstraction": False},
    "bilinear": {"selection": "bilinear"},
    "own_topics": {"guidance": "own"},
    "no_topics": {"guidance": "none"},
    "products": {"products": True},
    "products, bilinear": {"products": True, "selection": "bilinear"},
    "products, no_selection": {"products": True, "selection": "none"},
    "products, no_abstraction": {"products": True, "abstraction": False},
    "products, own_topics": {"products": True, "guidance": "own"},
    "products, no_topics": {"products": True, "guidance": "none"},
}
"""MCompassRAG as the authors' code has it; with the mean of eq. 7; without parts of it; with a
selector that asks the question; with the question's own topics instead of a bank; an MLP on
[e_q; e_c] alone; and the same with products of question and chunk, without which it cannot rank."""

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
    lists: Lists,
    folds: Sequence[Fold],
    asked: Mapping[int, Asked],
    topics: Topics,
    seeds: Sequence[int] = SEEDS,
) -> Outcome:
    """Train one of `TRAINED` with each seed for each fold, and score it.

    Args:
        name: Of the system.
        lists: Of all questions.
        folds: Which are trained on, and which are tested then.
        asked: Those that are scored, by their places in the lists; each is tested in some fold.
        topics: Of the collection.
        seeds: One training each.
    """
    relevance = {one.question.key: one.relevance for one in asked.values()}
    runs: list[dict[str, Scores]] = []
    spent = 0.0
    for seed in seeds:
        rankings: dict[str, list[str]] = {}
        for training, tested in folds:
            places = np.array([place for place in tested.tolist() if place in asked], np.int64)
            if not len(places):
                continue
            scorer = _fit(name, picked(lists, instructive_places(lists, training)), topics, seed)
            test = picked(lists, places)
            began = time.process_time()
            z = scorer(test)
            spent += time.process_time() - began
            for place, row in zip(places.tolist(), z, strict=True):
                rankings[asked[place].question.key] = _ranked(asked[place], row)
        runs.append(score(rankings, relevance, CUTOFFS))
    return Outcome(_averaged(runs), spent * 1000 / max(len(asked), 1) / len(seeds))


def late_interaction(
    asked: Sequence[Asked], scores_of: Callable[[str, Sequence[str]], Floats]
) -> Outcome:
    """Score what a cross-encoder would do with this embedder: MaxSim of the best by the mix.

    Token vectors of a passage are remembered by who computes them, so the time is of the
    comparison alone from the second question on that has the passage.

    Args:
        asked: The questions.
        scores_of: Scores passages for a question.
    """
    rankings: dict[str, list[str]] = {}
    began = time.process_time()
    for one in asked:
        best = ordered(one.example.candidates, mixed(one.example.candidates))
        texts = [f"{hit.passage.heading}\n{hit.passage.text}" for hit in best[:LATE]]
        order: list[int] = np.argsort(-scores_of(one.question.text, texts), kind="stable").tolist()
        again = [best[place] for place in order]
        rankings[one.question.key] = [hit.passage.chunk_id for hit in (*again, *best[LATE:])]
    spent = (time.process_time() - began) * 1000 / max(len(asked), 1)
    relevance = {one.question.key: one.relevance for one in asked}
    return Outcome(score(rankings, relevance, CUTOFFS), spent)


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
    heads = next(heads for heads in (4, 2, 1) if k % heads == 0)
    base = CompassConfig(dimensions=d, topics=k, strongest=min(10, k), heads=heads)
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
