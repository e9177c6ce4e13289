"""`milepost scopes train`: routers that learn which scope a question belongs to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from app.wiring import App
    from router.examples import Examples
    from router.train import Report


def train(
    queries: Annotated[
        Path | None,
        typer.Option(help='Labelled questions, {"question", "scope"} a line.'),
    ] = None,
    set_name: Annotated[
        str | None,
        typer.Option("--set", help="Questions of an evaluation set; trains its own collection."),
    ] = None,
    split: Annotated[str, typer.Option(help="Which half of the set: dev, test or all.")] = "dev",
    sets: Annotated[Path, typer.Option(help="Folder with the named sets.")] = Path(
        "../shared/data"
    ),
    collection: options.Collection = "default",
    seed: Annotated[int, typer.Option(help="Seed of folds and samples.", min=0)] = 0,
    json: options.Json = False,
) -> None:
    """Train the routers of tfidf_routed and probe_routed, and keep them in the graph.

    Without questions they learn from the titles of sections and the documents' mean vectors.

    Example: milepost scopes train --queries labelled.jsonl
    """
    from dataclasses import asdict

    from app import settings, wiring
    from app.cli.output import print_json
    from router.examples import from_documents, from_questions, read_questions

    configured = settings.load()
    with wiring.open_app(configured) as app:
        known = app.store.scope_names(collection)
        if set_name is not None:
            collection, labelled = _of_set(set_name, split, sets, configured.cache_dir)
            known = app.store.scope_names(collection)
            examples = from_questions(labelled, known, app.embedder)
        elif queries is not None:
            examples = from_questions(read_questions(queries), known, app.embedder)
        else:
            examples = from_documents(app.store, collection, app.embedder, seed)
        reports = _train(app, collection, examples, seed)
    if json:
        print_json({name: asdict(report) for name, report in reports.items()})
    else:
        _print(collection, reports)


def _of_set(
    name: str, split: str, sets: Path, cache_folder: Path
) -> tuple[str, list[tuple[str, str]]]:
    """Return the set's collection and its questions, each with the scope of most of its gold."""
    from collections import Counter

    from eval.collection import part_of
    from eval.load import collection_name
    from eval.sets import load_set
    from graph.errors import UsageError

    if split not in ("dev", "test", "all"):
        raise UsageError(f"There is no half {split!r}. The halves are dev, test and all.")
    found = load_set(name, sets, cache_folder)
    scopes = {document.key: document.scope for document in found.documents}
    labelled: list[tuple[str, str]] = []
    for question in part_of(found.questions, split):
        counts = Counter(scopes[f"{question.set}/{gold.doc}"] for gold in question.gold)
        if counts:
            labelled.append((question.text, counts.most_common(1)[0][0]))
    return collection_name(found), labelled


def _train(app: "App", collection: str, examples: "Examples", seed: int) -> dict[str, "Report"]:
    import json
    from dataclasses import asdict
    from datetime import UTC, datetime

    from graph.model import TrainedRouter
    from router.learned import fingerprint, pack_linear, pack_tfidf
    from router.train import train_probe, train_tfidf

    mark = fingerprint(app.embedder.fingerprint, app.store.scope_names(collection))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    probe, probe_report = train_probe(examples.vectors, examples.vector_scopes, seed)
    words, words_report = train_tfidf(examples.texts, examples.text_scopes, seed)
    packed = {
        "probe": (pack_linear(probe), probe_report),
        "tfidf": (pack_tfidf(words), words_report),
    }
    for name, (weights, report) in packed.items():
        summary = json.dumps(asdict(report))
        app.store.write_router(TrainedRouter(collection, name, mark, now, summary, weights))
    return {name: report for name, (_, report) in packed.items()}


def _print(collection: str, reports: "dict[str, Report]") -> None:
    from rich.table import Table

    from app.cli.output import console

    table = Table("router", "examples", "scopes", "top 1", "top 2", "temperature", box=None)
    for name, report in reports.items():
        shares = [
            "-" if share is None else f"{share:.3f}"
            for share in (report.accuracy, report.accuracy_top2)
        ]
        sizes = [f"{report.examples:,}", str(report.scopes)]
        table.add_row(name, *sizes, *shares, f"{report.temperature:.2f}")
    console().print(table)
    console().print(
        f"Kept for collection {collection!r}; top 1 and 2 are shares of examples held out. "
        "Use them: milepost search … --system probe_routed",
        highlight=False,
    )
