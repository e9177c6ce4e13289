"""Runs the comparison of scorers on one set, trained on its other half or on other sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from eval import provenance, scorer
from eval.collection import EvaluationSet, Part, part_of
from eval.load import collection_name
from eval.metrics import Scores, ideal, means, score
from eval.relevance import Judge
from eval.results import WITHOUT_EMBEDDING, Results, SystemResult, Timing
from eval.scorer import Asked, Outcome
from graph.errors import UsageError
from graph.model import Candidate, Filter, Vectors
from graph.ports import Embedder, Store, Topics
from ingestion.topic_kmeans import fit_centroids
from ingestion.topic_models import CosineTopics
from router.training_data import Labelled, instructive, search_examples
from router.training_lists import Lists, make_lists

TEMPERATURE = 0.05
"""Of theta: a chunk is spread over a handful of topics."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """How scorers are compared."""

    part: Part = "test"
    by_document: bool = True
    topics: int = 100
    systems: Sequence[str] = (*scorer.BASELINES, *scorer.TRAINED)
    seeds: Sequence[int] = scorer.SEEDS


@dataclass(frozen=True, slots=True)
class Material:
    """One half of a set's questions, with candidates."""

    collection: str
    asked: tuple[Asked, ...]
    chunks: int


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a curve."""

    value: int
    """How many training questions, or topics."""
    ie: float
    """IE@3, mean of P x R."""


def gather(
    evaluation_set: EvaluationSet,
    part: Part,
    store: Store,
    embedder: Embedder,
    *,
    by_document: bool,
) -> Material:
    """Search for each question of one half that has something relevant; the set must be loaded."""
    collection = collection_name(evaluation_set)
    judge = Judge(evaluation_set, collection, store)
    questions = part_of(evaluation_set.questions, part, by_document=by_document)
    relevance = judge.judge(questions, "span", "chunk").relevance
    judged = [question for question in questions if question.key in relevance]
    labelled = [
        Labelled(
            question.text,
            min(f"{question.set}/{gold.doc}" for gold in question.gold),
            "gold",
            relevance[question.key].grades,
        )
        for question in judged
    ]
    examples = search_examples(labelled, Filter(collection), store, embedder, with_topics=False)
    asked = [
        Asked(question, example, relevance[question.key])
        for question, example in zip(judged, examples, strict=True)
        if example.candidates
    ]
    return Material(collection, tuple(asked), judge.chunks)


def run(
    name: str, training: Sequence[Material], test: Material, store: Store, options: ScorerOptions
) -> Results:
    """Score every system on the test questions.

    Args:
        name: Of the set.
        training: Questions to train on, of this set or of others.
        test: Questions to score.
        store: Where the chunks of the test collection are.
        options: Which systems, and how.

    Raises:
        UsageError: There is no question to score.
    """
    if not test.asked:
        raise UsageError(f"The set {name} has no question to score in part {options.part!r}.")
    topics = find_topics(store, test.collection, options.topics)
    lists = lists_of(test, topics)
    learned = join_training(training, topics)
    outcomes: dict[str, Outcome] = {}
    for system in options.systems:
        if system in scorer.BASELINES:
            outcomes[system] = scorer.baseline(system, test.asked)
        else:
            outcomes[system] = scorer.trained(
                system, learned, lists, test.asked, topics, options.seeds
            )
    relevance = {one.question.key: one.relevance for one in test.asked}
    ceiling = {key: ideal(found) for key, found in relevance.items()}
    return Results(
        set=name,
        part=options.part,
        questions=len(test.asked),
        without_gold=0,
        not_held=0,
        chunks=test.chunks,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0,
        seed=options.seeds[0],
        commit=provenance.commit(),
        settings={
            "level": "span",
            "unit": "chunk",
            "by_document": options.by_document,
            "topics": options.topics,
            "training_questions": len(learned.documents),
            "seeds": ",".join(map(str, options.seeds)),
        },
        machine=provenance.machine(),
        packages=provenance.packages(),
        systems={system: _result(one) for system, one in outcomes.items()},
        ceiling=score(ceiling, relevance, scorer.CUTOFFS),
    )


def learning_curve(
    training: Sequence[Material], test: Material, topics: Topics, seeds: Sequence[int]
) -> list[Point]:
    """Train the blend on ever more questions, drawn at random."""
    learned, lists = join_training(training, topics), lists_of(test, topics)
    points: list[Point] = []
    count = len(learned.documents)
    while count >= 40:
        found = scorer.trained(
            "blend", scorer.first(learned, count), lists, test.asked, topics, seeds
        )
        points.append(Point(count, means(found.scores)["IE@3"]))
        count //= 2
    return points[::-1]


def topics_curve(
    training: Sequence[Material],
    test: Material,
    store: Store,
    sizes: Sequence[int],
    options: ScorerOptions,
) -> dict[str, list[Point]]:
    """Train the blend and the network for several K."""
    curves: dict[str, list[Point]] = {}
    for k in sizes:
        topics = find_topics(store, test.collection, k)
        learned, lists = join_training(training, topics), lists_of(test, topics)
        for system in options.systems:
            found = scorer.trained(system, learned, lists, test.asked, topics, options.seeds)
            curves.setdefault(system, []).append(Point(k, means(found.scores)["IE@3"]))
    return curves


def find_topics(store: Store, collection: str, k: int) -> Topics:
    """Fit topics on all chunks of a collection; nothing is written."""
    vectors = np.concatenate([batch.vectors for batch in store.chunks(collection)])
    centroids = fit_centroids(vectors, min(k, len(vectors)), 0, lambda done, total: None)
    return CosineTopics("kmeans", f"{collection}/{k}", centroids, ((),) * k, TEMPERATURE)


def lists_of(material: Material, topics: Topics) -> Lists:
    """Make the arrays, with theta computed from the candidates' vectors."""

    def theta_of(found: Sequence[Candidate]) -> Vectors:
        vectors = np.stack([one.vector for one in found if one.vector is not None])
        return topics.theta(vectors, [one.passage.text for one in found])

    return make_lists([one.example for one in material.asked], topics, theta_of)


def join_training(training: Sequence[Material], topics: Topics) -> Lists:
    """Join the training questions of several sets; shuffled, so that a first part is a sample."""
    asked = [one for material in training for one in material.asked]
    kept = {id(example) for example in instructive(one.example for one in asked)}
    taught = [one for one in asked if id(one.example) in kept]
    order: list[int] = np.random.default_rng(0).permutation(len(taught)).tolist()
    return lists_of(Material("", tuple(taught[place] for place in order), 0), topics)


def draw(curves: dict[str, list[Point]], label: str, path: Path) -> None:
    """Draw curves of IE@3.

    Raises:
        UsageError: The picture cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, points in curves.items():
        axes.plot([one.value for one in points], [one.ie for one in points], "o-", label=name)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel("IE@3 (mean of P x R)")
    axes.legend()
    axes.grid(alpha=0.3)
    try:
        figure.savefig(path, dpi=120)
    except (ValueError, OSError) as error:
        raise UsageError(f"The plot cannot be written to {path} ({error}).") from error


def _result(one: Outcome) -> SystemResult:
    spent = round(one.milliseconds, 3)
    timing = Timing(mean=spent, p50=spent, p95=spent)
    scores: dict[str, Scores] = dict(one.scores)
    return SystemResult(scores=scores, timings_ms={WITHOUT_EMBEDDING: timing})
