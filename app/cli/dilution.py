"""`milepost dilution`: how often the nearest passages come from the wrong source."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import options
from app.cli.counting import counting
from app.cli.eval import DEFAULT_SETS, Seed, SetsFolder, load_into_graph

if TYPE_CHECKING:
    from app.cli.dilution_tables import Measured
    from app.wiring import App
    from eval.collection import EvaluationSet
    from eval.corpus import Corpus

Collection = Annotated[
    str | None,
    typer.Option(
        "--collection", "-C", help="The collection to measure: default, or that of --set."
    ),
]
By = Annotated[Literal["scope", "series"], typer.Option(help="What the documents are divided by.")]
Sample = Annotated[
    int, typer.Option(help="Of a larger scope only so many chunks ask for neighbours.", min=1)
]
SetName = Annotated[
    str | None,
    typer.Option("--set", help="Measure an evaluation set, with its questions; see milepost eval."),
]
Grow = Annotated[
    bool, typer.Option("--growth", help="With --set: grow the corpus around fixed gold documents.")
]
Questions = Annotated[int, typer.Option(help="Questions of the growth experiment.", min=1)]
Plot = Annotated[Path | None, typer.Option(help="Draw to this file: .png, .svg or .pdf.")]


@dataclass(frozen=True, slots=True)
class _Options:
    collection: str | None
    by: Literal["scope", "series"]
    sample: int
    seed: int
    growth_questions: int
    """0 for no growth experiment."""


def dilution(
    collection: Collection = None,
    by: By = "scope",
    sample: Sample = 1_000,
    set_name: SetName = None,
    growth: Grow = False,
    questions: Questions = 100,
    sets: SetsFolder = DEFAULT_SETS,
    plot: Plot = None,
    seed: Seed = 0,
    json: options.Json = False,
) -> None:
    """Measure how diluted a collection is, and say whether scoping would help.

    Example: milepost dilution --collection default --plot dilution.png

    Needs no questions: each chunk asks for its 10 nearest, and what is of another scope counts.
    """
    from app import settings, wiring
    from app.cli.dilution_tables import as_dict, print_measured
    from app.cli.output import print_json
    from eval.sets import load_set
    from graph.errors import UsageError

    if growth and set_name is None:
        raise UsageError("--growth needs questions with known answers. Name a set with --set.")
    configured = settings.load()
    asked = load_set(set_name, sets, configured.cache_dir) if set_name else None
    chosen = _Options(collection, by, sample, seed, questions if growth else 0)
    with wiring.open_app(configured, migrate=asked is not None, bulk=True) as opened:
        found = _measure(opened, asked, chosen)
    if plot is not None:
        from eval.plot import draw

        draw(found.dilution, found.growth, plot)
    if json:
        print_json(as_dict(found))
    else:
        print_measured(found)


def _measure(opened: "App", asked: "EvaluationSet | None", chosen: _Options) -> "Measured":
    from app.cli.dilution_tables import Measured
    from eval import dilution
    from eval.advice import advice
    from eval.corpus import read_corpus
    from eval.load import collection_name

    collection = chosen.collection or "default"
    if asked is not None:
        collection = chosen.collection or collection_name(asked)
        load_into_graph(opened, asked, collection)
    corpus = read_corpus(opened.store, collection, chosen.by)
    with counting("Measuring") as count:
        found = dilution.measure(corpus, sample=chosen.sample, seed=chosen.seed, progress=count)
    measured = Measured(collection, chosen.by, found, advice(found))
    if asked is None or not asked.questions:
        return measured
    return _with_questions(measured, opened, corpus, asked, chosen)


def _with_questions(
    measured: "Measured",
    opened: "App",
    corpus: "Corpus",
    asked_set: "EvaluationSet",
    chosen: _Options,
) -> "Measured":
    """Measure dilution by the set's questions and, if wanted, in a growing corpus."""
    import random

    from eval import labelled
    from eval.asked import ask
    from eval.growth import Plan, grow
    from eval.relevance import Judge

    judge = Judge(asked_set, measured.collection, opened.store)
    judged = judge.judge(asked_set.questions, "document", "chunk")
    asked = ask(corpus, asked_set.questions, judged.relevance, opened.embedder)
    measured = replace(measured, labelled=labelled.measure(corpus, asked, seed=chosen.seed))
    if not chosen.growth_questions or not asked:
        return measured
    count_drawn = min(chosen.growth_questions, len(asked))
    drawn = random.Random(chosen.seed).sample(asked, count_drawn)
    with counting("Growing") as count:
        return replace(measured, growth=grow(corpus, drawn, Plan(seed=chosen.seed), progress=count))
