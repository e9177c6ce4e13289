"""What scorers are compared on: questions with candidates, arrays of them, and results.

Training and test never share a document: questions are divided by the documents of their gold into
folds (`eval.scorer_folds`), each tested after training on the others. Scored are the questions of
one half of the set, the other half is what choices were made on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from eval import provenance, scorer
from eval.collection import EvaluationSet, Part, part_of
from eval.load import collection_name
from eval.metrics import Scores, ideal, score
from eval.relevance import Judge
from eval.results import WITHOUT_EMBEDDING, Results, Setting, SystemResult, Timing
from eval.scorer import Asked, Outcome
from eval.scorer_folds import Fold, folds_by_document
from graph.errors import UsageError
from graph.model import Candidate, Filter, Vectors
from graph.ports import Embedder, Store, Topics
from ingestion.topic_kmeans import fit_centroids
from ingestion.topic_models import CosineTopics
from router.training_data import Example, Labelled, search_examples
from router.training_lists import Lists, make_lists

TEMPERATURE = 0.05
"""Of theta: a chunk is spread over a handful of topics."""

BEST_ORDER = "best order of the candidates"
"""What any scorer of these candidates could reach."""


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """How scorers are compared."""

    part: Part = "test"
    topics: int = 100
    folds: int = 5
    network_folds: int = 2
    """Of the paper's network, which takes ten times as long to train."""
    seeds: Sequence[int] = scorer.SEEDS


@dataclass(frozen=True, slots=True)
class Material:
    """The questions of a set that have something relevant, with candidates."""

    set: str
    collection: str
    asked: tuple[Asked, ...]
    chunks: int
    options: ScorerOptions

    @property
    def scored(self) -> dict[int, Asked]:
        """Return the questions to score, by their places."""
        kept = {one.key for one in part_of([a.question for a in self.asked], self.options.part)}
        return {n: one for n, one in enumerate(self.asked) if one.question.key in kept}

    def folds(self, count: int) -> list[Fold]:
        """Divide the questions by their documents."""
        gold = [
            frozenset(f"{one.question.set}/{place.doc}" for place in one.question.gold)
            for one in self.asked
        ]
        return folds_by_document(gold, count)


def gather(
    evaluation_set: EvaluationSet, store: Store, embedder: Embedder, options: ScorerOptions
) -> Material:
    """Search for each question that has something relevant; the set must be loaded."""
    collection = collection_name(evaluation_set)
    judge = Judge(evaluation_set, collection, store)
    relevance = judge.judge(evaluation_set.questions, "span", "chunk").relevance
    judged = [question for question in evaluation_set.questions if question.key in relevance]
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
    return Material(evaluation_set.name, collection, tuple(asked), judge.chunks, options)


def kmeans_of(material: Material, k: int) -> Topics:
    """Fit topics on the candidates of a set's questions; nothing is written."""
    found = {
        candidate.passage.chunk_id: candidate.vector
        for one in material.asked
        for candidate in one.example.candidates
    }
    vectors = np.stack([vector for vector in found.values() if vector is not None])
    centroids = fit_centroids(vectors, min(k, len(vectors)), 0, silent)
    name = f"{material.collection}/{k}"
    return CosineTopics("kmeans", name, centroids, ((),) * len(centroids), TEMPERATURE)


def lists_of(material: Material, topics: Topics) -> Lists:
    """Make the arrays, with theta computed from the candidates' vectors.

    Raises:
        UsageError: There are too few questions.
    """
    return lists_of_examples([one.example for one in material.asked], topics)


def lists_of_examples(examples: Sequence[Example], topics: Topics) -> Lists:
    """Make the arrays of examples, as `lists_of` does of a set's questions."""

    def theta_of(found: Sequence[Candidate]) -> Vectors:
        vectors = np.stack([one.vector for one in found if one.vector is not None])
        return topics.theta(vectors, [one.passage.text for one in found])

    return make_lists(examples, topics, theta_of)


def silent(_done: int, _total: int) -> None:
    """Tell nobody how much is done."""


def results_of(
    material: Material, outcomes: Mapping[str, Outcome], settings: Mapping[str, Setting]
) -> Results:
    """Return what was found, with the best order of the candidates and the ceiling beside it.

    Raises:
        UsageError: There is no question to score.
    """
    scored = list(material.scored.values())
    if not scored:
        raise UsageError(f"The set {material.set} has no question to score.")
    relevance = {one.question.key: one.relevance for one in scored}
    found = {key: ideal(one) for key, one in relevance.items()}
    candidates = {
        one.question.key: {c.passage.chunk_id for c in one.example.candidates} for one in scored
    }
    reachable = {key: [id for id in ids if id in candidates[key]] for key, ids in found.items()}
    systems = {name: _result(one) for name, one in outcomes.items()}
    best = Outcome(score(reachable, relevance, scorer.CUTOFFS), 0.0)
    return Results(
        set=material.set,
        part=material.options.part,
        questions=len(scored),
        without_gold=0,
        not_held=0,
        chunks=material.chunks,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=0,
        seed=material.options.seeds[0],
        commit=provenance.commit(),
        settings={
            "level": "span",
            "unit": "chunk",
            "by_document": True,
            "questions": len(material.asked),
            "seeds": ",".join(map(str, material.options.seeds)),
            **settings,
        },
        machine=provenance.machine(),
        packages=provenance.packages(),
        systems={**systems, BEST_ORDER: _result(best)},
        ceiling=score(found, relevance, scorer.CUTOFFS),
    )


def _result(one: Outcome) -> SystemResult:
    spent = round(one.milliseconds, 3)
    timing = Timing(mean=spent, p50=spent, p95=spent)
    scores: dict[str, Scores] = dict(one.scores)
    return SystemResult(scores=scores, timings_ms={WITHOUT_EMBEDDING: timing})
