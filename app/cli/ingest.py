"""`milepost ingest`: documents into the graph, and a report of every file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli import options

if TYPE_CHECKING:
    from app.settings import Settings
    from graph.model import IngestRun
    from ingestion.classify import Classifier
    from ingestion.pipeline import Engine, IngestOptions


WAIT_SECONDS = 600
"""How long a run waits for a Neo4j that went away."""


def _path(given: str) -> Path:
    """Refuse an empty path: it would be the current folder, and mostly is a variable unset."""
    if not given.strip():
        raise typer.BadParameter('the path is empty; for the current folder give "."')
    return Path(given)


Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Files and folders with PDF, Word, HTML, Markdown, XML or text.",
        parser=_path,
        metavar="PATH...",
    ),
]
AudienceGiven = Annotated[
    str | None,
    typer.Option(
        "--audience",
        help="Who may see files to which the scope map gives none. By default a file keeps the "
        "audience that it has in the graph, and a new one is public.",
    ),
]
MapFile = Annotated[
    Path | None,
    typer.Option("--scope-map", help="Scopes of files; by default scopes.yaml in each folder."),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", help="Write the report to this file, .json or .html."),
]
Prune = Annotated[
    bool, typer.Option("--prune", help="Remove documents of the folders whose files are gone.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if a file was refused.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="List every file, not refused only.")
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Stay, and ingest again whenever a file changes.")
]
Classify = Annotated[
    bool,
    typer.Option(
        "--classify",
        help="Where the rules are unsure of scope, series or year, ask the chat model that is set: "
        "names and beginnings of documents are sent to its server.",
    ),
]
EngineName = Annotated[
    Literal["local", "ray"],
    typer.Option("--engine", help="Read and embed here, or on the Ray cluster of RAY_ADDRESS."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Files read at the same time.", min=1)]
Seconds = Annotated[
    float, typer.Option("--seconds-per-file", help="A file that takes longer is refused.", min=1)
]
Megabytes = Annotated[int, typer.Option("--max-mb", help="A larger file is refused.", min=1)]


def ingest(
    paths: Paths,
    collection: options.Collection = "default",
    audience: AudienceGiven = None,
    scope_map: MapFile = None,
    report: ReportFile = None,
    prune: Prune = False,
    strict: Strict = False,
    json: options.Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    watch: Watch = False,
    classify: Classify = False,
    engine: EngineName = "local",
    jobs: Jobs = 1,
    seconds_per_file: Seconds = 120.0,
    max_mb: Megabytes = 500,
) -> None:
    """Bring documents into the graph; files that it has already are left as they are.

    Example: milepost ingest policies/ manuals/handbook.pdf --report report.json

    A file that cannot be read is refused with its reason, and the others go on.

    The same bytes under several names are one document. A document whose file is gone is named,
    and with --prune removed; a folder that cannot be read wholly, or is empty, prunes nothing.

    A file's scope is the first folder below the one given, unless a scope map says otherwise.

    When Neo4j goes away, the run waits ten minutes for it, and goes on. After Ctrl-C or a crash the
    same command goes on where it ended.
    """
    from ingestion.parsed import ReadLimits
    from ingestion.pipeline import IngestOptions

    limits = ReadLimits(seconds=seconds_per_file, file_bytes=max_mb * 1_000_000)
    chosen = IngestOptions(collection, audience, scope_map, limits, jobs, prune=prune)
    ingest_them = partial(_run, paths, chosen, report, engine, classify=classify, quiet=quiet)
    run = ingest_them()
    _show(run, report, json=json, verbose=verbose)
    if watch:
        for _ in _changes(paths):
            run = ingest_them()
            _show(run, report, json=json, verbose=verbose)
    _exit_by(run, strict=strict)


def _changes(paths: list[Path]) -> Iterator[object]:
    """Yield whenever files change and have come to rest; Ctrl-C ends it."""
    import watchfiles

    _say("Watching for changes; Ctrl-C ends it.")
    return watchfiles.watch(*paths, debounce=2_000)


def _show(run: "IngestRun", report: Path | None, *, json: bool, verbose: bool) -> None:
    from app.cli.ingest_report import print_report
    from app.cli.output import print_json
    from ingestion.report import run_as_dict, write_report

    if report is not None:
        write_report(run, report)
    if json:
        print_json(run_as_dict(run))
    else:
        print_report(run, verbose=verbose)


def _run(
    paths: list[Path],
    chosen: "IngestOptions",
    report: Path | None,
    engine: Literal["local", "ray"],
    *,
    classify: bool,
    quiet: bool,
) -> "IngestRun":
    from dataclasses import replace

    from app import settings, wiring
    from app.cli.ingest_progress import showing
    from app.cli.output import progress_console
    from graph.errors import StoreUnavailable
    from graph.patience import Patience
    from ingestion import pipeline
    from ingestion.report import check_report
    from ingestion.vector_cache import open_cache
    from ingestion.walk import check_paths

    check_paths(paths)  # before anything is started
    if report is not None:
        check_report(report)
    found = settings.load()
    classifier = _classifier(found) if classify else None
    with (
        wiring.open_app(
            found, migrate=True, bulk=True, retry_seconds=5, patience=Patience(WAIT_SECONDS, _say)
        ) as app,
        open_cache(app.settings.cache_dir, app.embedder, _say) as cache,
        showing(progress_console(), quiet=quiet) as progress,
    ):
        try:
            return pipeline.ingest(
                paths,
                store=app.store,
                embedder=app.embedder,
                cache=cache,
                options=replace(
                    chosen, engine=_engine(engine, app.settings), classifier=classifier
                ),
                progress=progress,
            )
        except KeyboardInterrupt:
            _say("Interrupted. Whole documents are in the graph; the same command goes on.")
            raise
        except StoreUnavailable:
            _say("Neo4j went away. Whole documents are in the graph; the same command goes on.")
            raise


def _engine(name: Literal["local", "ray"], settings: "Settings") -> "Engine":
    from functools import partial

    from ingestion.embed import load_embedder
    from ingestion.ray_engine import read_on_ray
    from ingestion.read_ahead import read_ahead

    if name == "local":
        return read_ahead
    load = partial(load_embedder, settings.embedder, settings.cache_dir, _say, bulk=True)
    return partial(read_on_ray, address=settings.ray_address, load=load)


def _classifier(settings: "Settings") -> "Classifier":
    """Return what asks the chat model that is set.

    Raises:
        ConfigurationError: None is set, or it cannot be set up.
    """
    from agents.chat import ROUTING_TEMPERATURE
    from app.systems import chat_model, completer
    from graph.errors import ConfigurationError
    from ingestion.classify import Classifier

    # Set up now rather than in the middle of a run.
    if chat_model(settings.model, settings, temperature=ROUTING_TEMPERATURE) is None:
        raise ConfigurationError(
            "--classify needs a chat model, and none is set. Set MILEPOST_MODEL, such as "
            "openai:gpt-5-mini, or leave --classify out."
        )
    kept = settings.cache_dir / "classified.jsonl"
    return Classifier(completer(settings, answer_tokens=200), settings.model, kept)


def _say(message: str) -> None:
    typer.secho(message, fg="yellow", err=True)


def _exit_by(run: "IngestRun", *, strict: bool) -> None:
    from graph.errors import UsageError
    from ingestion.report import totals

    found = totals(run.outcomes)
    if found.refused == found.files and not found.removed:
        raise UsageError(
            f"No file could be read ({found.files:,} refused): the reasons are in the report."
        )
    if strict and found.refused:
        raise typer.Exit(1)
