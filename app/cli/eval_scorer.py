"""`milepost eval scorer`: what the trained scorer gains, part by part."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options
from app.cli.eval import DEFAULT_SETS, ByDocument, SetName, SetsFolder

if TYPE_CHECKING:
    from app.wiring import App
    from eval.collection import EvaluationSet
    from eval.scorer_run import Material, ScorerOptions


def scorer(
    set_name: SetName,
    train: Annotated[
        str, typer.Option(help="Sets to train on, joined by commas; by default the same set.")
    ] = "",
    systems: Annotated[
        str, typer.Option(help="Systems joined by commas; by default all of them.")
    ] = "",
    by_document: ByDocument = False,
    topics: Annotated[int, typer.Option(help="How many topics, K.", min=2)] = 100,
    seeds: Annotated[int, typer.Option(help="How many trainings of each system.", min=1)] = 3,
    curve: Annotated[
        Path | None, typer.Option(help="Draw IE by the number of training questions here.")
    ] = None,
    sets: SetsFolder = DEFAULT_SETS,
    out: Annotated[Path | None, typer.Option(help="Write the results here.")] = None,
    json: options.Json = False,
) -> None:
    """Train scorers on the dev half, score them on the test half, beside what needs no training.

    Example: milepost eval scorer --set composite --by-document
    """
    from app import settings, wiring
    from app.cli.eval import default_file, load_into_graph
    from app.cli.eval_tables import print_table
    from app.cli.output import print_json, progress_console
    from eval import scorer as compared
    from eval.results import write_results
    from eval.scorer_run import (
        ScorerOptions,
        draw,
        find_topics,
        gather,
        learning_curve,
        run,
    )
    from eval.sets import load_set

    configured = settings.load()
    named = [name.strip() for name in systems.split(",") if name.strip()]
    _check(named)
    chosen = ScorerOptions(
        by_document=by_document,
        topics=topics,
        systems=named or (*compared.BASELINES, *compared.TRAINED),
        seeds=tuple(range(seeds)),
    )
    tested = load_set(set_name, sets, configured.cache_dir)
    taught = [load_set(one, sets, configured.cache_dir) for one in (train or set_name).split(",")]
    with wiring.open_app(configured, migrate=True) as opened:
        for one in {one.name: one for one in (tested, *taught)}.values():
            load_into_graph(opened, one, f"eval-{one.name}")
        test = gather(tested, "test", opened.store, opened.embedder, by_document=by_document)
        training = _training(opened, taught, chosen)
        results = run(tested.name, training, test, opened.store, chosen)
        if curve is not None:
            found = find_topics(opened.store, test.collection, topics)
            points = learning_curve(training, test, found, chosen.seeds)
            draw({tested.name: points}, "training questions", curve)
    path = out or default_file(configured.cache_dir, results)
    write_results(results, path)
    progress_console().print(f"Results: {path}", highlight=False, soft_wrap=True)
    if json:
        print_json(results.model_dump(mode="json"))
    else:
        print_table({path: results}, MEASURES)


MEASURES = ("IE@1", "IE@3", "IE@5", "PxR@3", "P@3", "R@3", "nDCG@5")


def _training(
    opened: "App", taught: "list[EvaluationSet]", chosen: "ScorerOptions"
) -> "list[Material]":
    from eval.scorer_run import gather

    return [
        gather(one, "dev", opened.store, opened.embedder, by_document=chosen.by_document)
        for one in taught
    ]


def _check(systems: list[str]) -> None:
    from eval.scorer import BASELINES, TRAINED
    from graph.errors import UsageError

    known = (*BASELINES, *TRAINED)
    for name in systems:
        if name not in known:
            raise UsageError(f"There is no system {name!r} here. They are: {', '.join(known)}.")
