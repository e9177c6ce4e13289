"""Asks every question of every system, and keeps what each scored and how long it took."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from eval import provenance
from eval.collection import EvaluationSet, Part, Question, part_of
from eval.metrics import CUTOFFS, Scores, ideal, score
from eval.relevance import Judge, Judgements, Level, Unit
from eval.results import TOTAL, WITHOUT_EMBEDDING, Results, Setting, SystemResult, Timing
from graph.errors import UsageError
from graph.model import Filter, Query, Ranking
from graph.ports import Retriever

ORACLE = "oracle_scoped"
"""The system that is told the scopes of the gold."""

ROUTE_CUTOFFS = (1, 2)
_CHUNKS_PER_DOCUMENT = 5
"""Chunks asked for each rank that documents are wanted at."""


@dataclass(frozen=True, slots=True)
class Options:
    """How an experiment is made."""

    part: Part = "dev"
    by_document: bool = False
    """Whether halves are made of documents instead of questions."""
    level: Level = "span"
    unit: Unit = "chunk"
    cutoffs: Sequence[int] = CUTOFFS
    limit: int | None = None
    """At most so many questions, drawn with the seed."""
    seed: int = 0
    notes: Mapping[str, Setting] = field(default_factory=dict[str, Setting])
    """What else to keep with the results, such as the embedder."""

    @property
    def depth(self) -> int:
        """How many chunks are asked of each system."""
        return max(self.cutoffs) * (_CHUNKS_PER_DOCUMENT if self.unit == "document" else 1)


@dataclass(slots=True)
class _Answers:
    """What one system answered, by key of the question."""

    rankings: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    routes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    timings: list[Mapping[str, float]] = field(default_factory=list[Mapping[str, float]])


def select(evaluation_set: EvaluationSet, options: Options) -> list[Question]:
    """Return the questions to ask.

    Raises:
        UsageError: There are none.
    """
    questions = part_of(evaluation_set.questions, options.part, by_document=options.by_document)
    if options.limit is not None and options.limit < len(questions):
        drawn = random.Random(options.seed).sample(range(len(questions)), options.limit)
        questions = [questions[place] for place in sorted(drawn)]
    if not questions:
        raise UsageError(
            f"There is no question in {evaluation_set.name}, part {options.part!r}. "
            "Use --split all, or give a set with questions in queries.jsonl."
        )
    return questions


def run(
    systems: Mapping[str, Retriever],
    evaluation_set: EvaluationSet,
    judge: Judge,
    collection: str,
    options: Options,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Results:
    """Run the experiment.

    Args:
        systems: By name.
        evaluation_set: Loaded into the collection.
        judge: Of the same set and collection.
        collection: Where to search.
        options: How.
        progress: Told how many questions are done, of how many.

    Raises:
        UsageError: The set has no question to ask, or a question cannot be asked.
    """
    started, started_at = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    questions = select(evaluation_set, options)
    judged = judge.judge(questions, options.level, options.unit)
    asked = [question for question in questions if question.key in judged.relevance]
    machine = provenance.machine()
    answers = _ask(systems, asked, judged.scopes, collection, options, progress)
    machine["load_1_min_at_end"] = provenance.machine()["load_1_min"]
    ceiling = {key: ideal(found) for key, found in judged.relevance.items()}
    return Results(
        set=evaluation_set.name,
        part=options.part,
        questions=len(questions),
        without_gold=judged.without_gold,
        not_held=judged.not_held,
        chunks=judge.chunks,
        started_at=started_at,
        seconds=round(time.perf_counter() - started, 1),
        seed=options.seed,
        commit=provenance.commit(),
        settings={**_settings(options), "collection": collection, **options.notes},
        machine=machine,
        packages=provenance.packages(),
        systems={name: _result(one, judged, options) for name, one in answers.items()},
        ceiling=score(ceiling, judged.relevance, options.cutoffs),
    )


def _ask(
    systems: Mapping[str, Retriever],
    questions: Sequence[Question],
    scopes: Mapping[str, frozenset[str]],
    collection: str,
    options: Options,
    progress: Callable[[int, int], None],
) -> dict[str, _Answers]:
    """Ask; systems take turns on each question, so that a busy machine slows all of them alike."""
    answers = {name: _Answers() for name in systems}

    def asked(name: str, question: Question) -> Query:
        told = tuple(sorted(scopes[question.key])) if name == ORACLE else ()
        return Query(question.text, Filter(collection=collection, scopes=told))

    for name, system in systems.items():
        if questions:  # once beforehand, so that nobody's times contain what is loaded late
            _timed(name, system, asked(name, questions[0]), options.depth)
    for done, question in enumerate(questions, start=1):
        for name, system in systems.items():
            ranking, timings = _timed(name, system, asked(name, question), options.depth)
            answers[name].rankings[question.key] = [
                hit.passage.chunk_id if options.unit == "chunk" else hit.passage.document_id
                for hit in ranking.hits
            ]
            answers[name].routes[question.key] = [route.scope for route in ranking.route]
            answers[name].timings.append(timings)
        progress(done, len(questions))
    return answers


def _timed(
    name: str, system: Retriever, query: Query, depth: int
) -> tuple[Ranking, Mapping[str, float]]:
    started = time.perf_counter()
    try:
        ranking = system(query, depth)
    except UsageError as error:
        raise UsageError(f"{name} cannot answer {query.text[:60]!r}: {error}") from error
    total = (time.perf_counter() - started) * 1000
    # The embedder may remember a question that another system has asked just before.
    searching = total - ranking.timings_ms.get("embed", 0.0)
    return ranking, {**ranking.timings_ms, TOTAL: total, WITHOUT_EMBEDDING: searching}


def _result(answers: _Answers, judged: Judgements, options: Options) -> SystemResult:
    scores = score(answers.rankings, judged.relevance, options.cutoffs)
    if any(answers.routes.values()):
        for key, one in scores.items():
            one |= _route_scores(answers.routes[key], judged.scopes[key])
    return SystemResult(scores=scores, timings_ms=_timings(answers.timings))


def _route_scores(route: Sequence[str], scopes: frozenset[str]) -> Scores:
    """Tell whether a scope of the gold is among the first routes; undecided is not."""
    return {f"Route@{k}": float(not scopes.isdisjoint(route[:k])) for k in ROUTE_CUTOFFS}


def _timings(timings: Sequence[Mapping[str, float]]) -> dict[str, Timing]:
    stages = dict.fromkeys(stage for one in timings for stage in one)
    found: dict[str, Timing] = {}
    for stage in stages:
        values = [one[stage] for one in timings if stage in one]
        p50, p95 = (float(np.quantile(values, q)) for q in (0.5, 0.95))
        mean = sum(values) / len(values)
        found[stage] = Timing(mean=round(mean, 3), p50=round(p50, 3), p95=round(p95, 3))
    return found


def _settings(options: Options) -> dict[str, Setting]:
    return {
        "level": options.level,
        "unit": options.unit,
        "by_document": options.by_document,
        "cutoffs": ",".join(map(str, options.cutoffs)),
        "depth": options.depth,
        "limit": options.limit,
    }
