"""`milepost eval`: retrieval systems measured on sets of questions with known answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import options
from app.cli.counting import counting

if TYPE_CHECKING:
    from app.wiring import App
    from eval.collection import EvaluationSet
    from eval.experiment import Options
    from eval.load import LoadReport
    from eval.results import Results

app = typer.Typer(
    help="Measure retrieval systems on questions with known answers.", no_args_is_help=True
)

SetName = Annotated[
    str,
    typer.Option(
        "--set",
        help="A folder with documents.jsonl and queries.jsonl, a named set, several joined "
        'by "+", or composite.',
    ),
]
SetsFolder = Annotated[Path, typer.Option("--sets", help="Folder with the named sets.")]
COMPARED = ("guided", "convex", "hybrid", "monolithic", "bm25")
"""Systems that need neither training nor a chat model."""
DEFAULT_SETS = Path("../shared/data")
Systems = Annotated[
    str, typer.Option("--systems", help="Names joined by commas; see milepost search --help.")
]
Split = Annotated[
    Literal["dev", "test", "all"],
    typer.Option(help="Which half of the questions; all for both."),
]
ByDocument = Annotated[
    bool,
    typer.Option("--by-document", help="Halve the documents instead, and the questions by them."),
]
Level = Annotated[
    Literal["span", "passage", "document"],
    typer.Option(help="How exact; span is as exact as the gold."),
]
Unit = Annotated[Literal["chunk", "document"], typer.Option(help="What is ranked.")]
Limit = Annotated[int | None, typer.Option(help="Ask only so many questions.", min=1)]
Seed = Annotated[int, typer.Option(help="Seed of whatever is drawn.", min=0)]
Conversation = Annotated[
    Literal["typed", "alone", "whole"],
    typer.Option(
        help="How a question with others before it is asked: as typed, rewritten by rules to stand "
        "alone, or behind all of them."
    ),
]
Out = Annotated[Path | None, typer.Option(help="Write the results here; else to the cache folder.")]
Files = Annotated[list[Path], typer.Argument(help="Files that milepost eval run wrote.")]
Measures = Annotated[
    str, typer.Option(help="Measures joined by commas, such as P@10,R@10; empty: the usual ones.")
]
Intervals = Annotated[bool, typer.Option("--intervals", help="Show 95% bootstrap intervals.")]


@app.command()
def run(
    set_name: SetName,
    systems: Systems = "",
    rerank: options.Rerank = "none",
    split: Split = "dev",
    level: Level = "span",
    unit: Unit = "chunk",
    by_document: ByDocument = False,
    conversation: Conversation = "typed",
    limit: Limit = None,
    seed: Seed = 0,
    sets: SetsFolder = DEFAULT_SETS,
    out: Out = None,
    json: options.Json = False,
) -> None:
    """Load a set into the graph, ask its questions of each system, and keep the scores.

    Example: milepost eval run --set xquad --systems monolithic,hybrid,guided
    """
    from app import settings, wiring
    from app.cli.eval_tables import print_table
    from app.cli.output import print_json, progress_console
    from eval.conversations import asked_as
    from eval.experiment import Options
    from eval.results import write_results
    from eval.sets import load_set

    chosen = Options(
        part=split,
        by_document=by_document,
        level=level,
        unit=unit,
        limit=limit,
        seed=seed,
        notes={"conversation": conversation},
    )
    configured = settings.load()
    evaluation_set = asked_as(load_set(set_name, sets, configured.cache_dir), conversation)
    with wiring.open_app(configured, migrate=True, bulk=True) as opened:
        named = [options.reranked(name, rerank) for name in names(systems) or COMPARED]
        results = _run(opened, evaluation_set, named, chosen)
    path = out or default_file(configured.cache_dir, results)
    write_results(results, path)
    progress_console().print(f"Results: {path}", highlight=False, soft_wrap=True)
    if json:
        print_json(results.model_dump(mode="json"))
    else:
        print_table({path: results})


@app.command()
def table(
    files: Files, measures: Measures = "", intervals: Intervals = False, json: options.Json = False
) -> None:
    """Print each system's means, and the ceiling: what a ranking with all gold first gets.

    Example: milepost eval table run1.json run2.json --measures P@10,R@10
    """
    from app.cli.eval_tables import print_table, table_as_dict
    from app.cli.output import print_json
    from eval.results import read_results

    found = {path: read_results(path) for path in files}
    if json:
        print_json(table_as_dict(found, names(measures)))
    else:
        print_table(found, names(measures), intervals=intervals)


@app.command()
def significance(
    files: Files,
    baseline: Annotated[str, typer.Option(help="The system that the others are compared with.")],
    measures: Measures = "",
    json: options.Json = False,
) -> None:
    """Compare systems question by question: permutation test, interval, Holm's correction.

    Example: milepost eval significance run.json --baseline hybrid
    """
    from dataclasses import asdict

    from app.cli.eval_tables import print_significance
    from app.cli.output import print_json
    from eval.report import significance
    from eval.results import read_results

    found = {path: read_results(path) for path in files}
    differences = significance(found, baseline, names(measures))
    if json:
        print_json({"baseline": baseline, "differences": [asdict(one) for one in differences]})
    else:
        print_significance(baseline, differences)


@app.command()
def answerable(
    set_name: SetName,
    split: Split = "dev",
    conversation: Conversation = "alone",
    limit: Limit = None,
    seed: Seed = 0,
    sets: SetsFolder = DEFAULT_SETS,
    json: options.Json = False,
) -> None:
    """Tell how often an answer says that the documents do not say.

    Example: milepost eval answerable --set mtrag_un --split test

    Asked are questions with gold and questions without, which nothing in the set answers.
    """
    from dataclasses import asdict

    from app import settings, wiring
    from app.cli.output import console, print_json
    from eval.conversations import answerable as measure
    from eval.conversations import asked_as
    from eval.experiment import Options, select
    from eval.load import collection_name
    from eval.sets import load_set
    from graph.model import Filter, Query

    configured = settings.load()
    evaluation_set = asked_as(load_set(set_name, sets, configured.cache_dir), conversation)
    questions = select(evaluation_set, Options(part=split, limit=limit, seed=seed))
    where = Filter(collection=collection_name(evaluation_set))
    with wiring.open_app(configured, migrate=True, bulk=True) as opened:
        load_into_graph(opened, evaluation_set, where.collection)

        def is_supported(text: str) -> bool:
            return opened.ask(Query(text, where)).answer.supported

        with counting("Asking") as count:
            found = measure(questions, is_supported, seed=seed, progress=count)
    if json:
        print_json(asdict(found))
        return
    for name, share in (("unanswerable", found.unanswerable), ("answerable", found.answerable)):
        mean, low, high = (_share(value) for value in (share.mean, share.low, share.high))
        said = f"{mean} say that the documents do not say ({low} to {high}, {share.n} questions)"
        console().print(f"{name:<13} {said}", highlight=False, soft_wrap=True)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def load_into_graph(
    opened: "App", evaluation_set: "EvaluationSet", collection: str
) -> "LoadReport":
    """Bring a set into the graph, with a bar, and say what was refused."""
    from eval.load import Loader, load
    from ingestion.vector_cache import open_cache

    with (
        open_cache(opened.settings.cache_dir, opened.embedder, say) as cache,
        counting(f"Loading {evaluation_set.name}") as count,
    ):
        report = load(
            evaluation_set, collection, Loader(opened.store, opened.embedder, cache), count
        )
    for outcome in report.refused:
        say(f"Not read: {outcome.uri}: {outcome.reason}")
    return report


def names(joined: str) -> list[str]:
    """Split what is joined by commas."""
    return [name.strip() for name in joined.split(",") if name.strip()]


def say(message: str) -> None:
    """Print a line to standard error."""
    typer.secho(message, fg="yellow", err=True)


def default_file(cache_folder: Path, results: "Results") -> Path:
    """Return where results go that nobody named a file for."""
    stamp = "".join(c for c in results.started_at if c.isdigit())[:14]
    name = "".join(c if c.isalnum() or c in "-_+" else "-" for c in results.set)
    return cache_folder / "eval" / f"{name}-{results.part}-{stamp}.json"


def _run(
    opened: "App", evaluation_set: "EvaluationSet", systems: list[str], chosen: "Options"
) -> "Results":
    from dataclasses import replace

    from eval import experiment
    from eval.load import collection_name
    from eval.relevance import Judge

    chosen_systems = {name: opened.system(name) for name in systems}
    experiment.select(evaluation_set, chosen)  # refuses a set without questions before the work
    collection = collection_name(evaluation_set)
    report = load_into_graph(opened, evaluation_set, collection)
    notes = {
        **chosen.notes,
        "embedder": opened.embedder.name,
        "embedder_fingerprint": opened.embedder.fingerprint,
        "documents_refused": len(report.refused),
    }
    judge = Judge(evaluation_set, collection, opened.store)
    with counting("Asking") as count:
        return experiment.run(
            chosen_systems, evaluation_set, judge, collection, replace(chosen, notes=notes), count
        )
