"""`milepost train`: the scorer that puts the candidates of a search in a better order."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import options
from app.cli.counting import counting
from app.cli.eval import DEFAULT_SETS as SETS
from app.cli.eval import ByDocument, SetsFolder, Split

if TYPE_CHECKING:
    from app.wiring import App
    from graph.model import Filter
    from graph.ports import Topics
    from router.training_data import Labelled
    from router.training_lists import Lists
    from router.training_loop import Trained

TEACHERS = ("headings", "gold", "llm")


@dataclass(frozen=True, slots=True)
class _Source:
    """Where training questions come from."""

    teachers: list[str]
    set_name: str | None
    split: Literal["dev", "test", "all"]
    by_document: bool
    sets: Path
    data: Path | None
    queries: Path
    """Where the questions of the teacher llm are kept, so that it can go on."""
    yes: bool
    chunks: int
    seed: int


def train(
    teacher: Annotated[
        list[str] | None,
        typer.Option(help="Who labels: headings (default, needs nothing), gold, llm; repeatable."),
    ] = None,
    set_name: Annotated[
        str | None,
        typer.Option("--set", help="Evaluation set with gold; trains for its own collection."),
    ] = None,
    split: Split = "dev",
    by_document: ByDocument = False,
    sets: SetsFolder = SETS,
    data: Annotated[
        Path | None, typer.Option(help="Training data that --save wrote, instead of a teacher.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the training data here as well, as JSON lines.")
    ] = None,
    network: Annotated[
        Literal["blend", "compass", "bilinear", "own", "plain"],
        typer.Option(help="blend weighs evidence; the others are MCompassRAG's network, in parts."),
    ] = "blend",
    topics: Annotated[
        bool, typer.Option("--topics/--no-topics", help="Whether the blend weighs topics.")
    ] = True,
    set_options: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", help="A setting, such as epochs=60; may be repeated."),
    ] = None,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the scorer here; else where --rerank topics looks.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write the loss curve here, as PNG.")] = None,
    chunks: Annotated[int, typer.Option(help="Passages that llm makes questions of.", min=1)] = 200,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before llm begins.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn.", min=0)] = 0,
    json: options.Json = False,
) -> None:
    """Train the scorer of --rerank topics.

    Example: milepost train
    """
    from app import settings, wiring
    from app.cli.output import print_json, progress_console
    from app.cli.train_run import fit, report_as_dict, settings_of
    from app.systems import scorer_file
    from graph.errors import UsageError
    from graph.model import Filter
    from ingestion.topic_models import load_topics
    from router.training_data import write_labelled

    configured = settings.load()
    chosen = settings_of(network, set_options or [], seed)
    where = Filter(collection, ("public", *(audience or ())))
    queries = configured.cache_dir / "teacher" / f"{collection}.jsonl"
    named = teacher or (["gold"] if set_name else ["headings"])
    if unknown := set(named) - set(TEACHERS):
        raise UsageError(f"There is no teacher {min(unknown)!r}. They are {', '.join(TEACHERS)}.")
    source = _Source(named, set_name, split, by_document, sets, data, queries, yes, chunks, seed)
    with wiring.open_app(configured) as app:
        labelled, where = _labelled(app, where, source)
        if save:
            write_labelled(labelled, save)
        known = load_topics(app.store, where.collection, app.embedder.fingerprint)
        used = known if topics or network != "blend" else None
        lists = _searched(app, labelled, where, used)
        with counting("Training") as count:
            made = fit(network, lists, used, chosen, app.embedder.fingerprint, count)
    path = out or scorer_file(configured, where.collection)
    made.save(path)
    curve = plot or path.with_suffix(".png")
    made.draw(curve)
    if json:
        print_json({"scorer": str(path), "plot": str(curve), **report_as_dict(made.trained)})
    else:
        _print(made.trained)
        progress_console().print(f"Scorer: {path}\nLoss curve: {curve}", soft_wrap=True)


def _labelled(app: "App", where: "Filter", source: _Source) -> "tuple[list[Labelled], Filter]":
    from dataclasses import replace

    from app.cli.train_teachers import gold_of_set, questions_of_model
    from eval.load import collection_name
    from eval.sets import load_set
    from graph.errors import UsageError
    from router.teach_headings import headings
    from router.training_data import read_labelled

    found: list[Labelled] = []
    evaluation_set = None
    if source.set_name is not None:
        evaluation_set = load_set(source.set_name, source.sets, app.settings.cache_dir)
        where = replace(where, collection=collection_name(evaluation_set))
    if source.data is not None:
        return read_labelled(source.data), where
    for teacher in source.teachers:
        if teacher == "headings":
            found += headings(app.store, where.collection, seed=source.seed)
        elif teacher == "llm":
            found += questions_of_model(
                app, where, source.queries, chunks=source.chunks, seed=source.seed, yes=source.yes
            )
        elif evaluation_set is None:
            raise UsageError("The teacher gold has the labels of a set: name one with --set.")
        else:
            found += gold_of_set(app, evaluation_set, source.split, by_document=source.by_document)
    return found, where


def _searched(
    app: "App", labelled: "list[Labelled]", where: "Filter", topics: "Topics | None"
) -> "Lists":
    from router.rerank import theta_of
    from router.training_data import instructive, search_examples
    from router.training_lists import make_lists

    with counting("Searching") as count:
        examples = search_examples(
            labelled,
            where,
            app.store,
            app.embedder,
            with_topics=topics is not None,
            progress=count,
        )
    mark = topics.fingerprint if topics else ""
    return make_lists(instructive(examples), topics, lambda found: theta_of(found, mark))


def _print(trained: "Trained") -> None:
    from app.cli.output import console

    gain = trained.after / trained.before - 1 if trained.before else 0.0
    console().print(
        f"{trained.questions:,} questions trained on. IE@3 on {trained.held_out_questions:,}, each "
        f"held out with its document: {trained.before:.3f} before, {trained.after:.3f} after "
        f"({gain:+.1%}), in epoch {trained.best + 1} of {len(trained.epochs)}.",
        highlight=False,
    )
    if trained.best < 0:
        console().print(
            "Training gained nothing on the documents held out, so the scorer keeps the order as "
            "it is. More questions help, above all labelled ones.",
            highlight=False,
        )
