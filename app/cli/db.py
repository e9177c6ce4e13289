"""`milepost db`: the Neo4j server that holds the graph."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from graph.server.options import Progress, ServerOptions, ServerStatus

app = typer.Typer(
    help="Start, stop and look after the Neo4j server.\n\n"
    "With NEO4J_URI set, that server is used. Otherwise Milepost runs one: in Docker where an "
    "engine answers, else a local one, whose parts are fetched once. MILEPOST_SERVER=local or "
    "=docker decides it. Only this machine can reach it, with a password made for it.",
    no_args_is_help=True,
)
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@app.command()
def start(json: options.Json = False) -> None:
    """Start the server, if it is not running, and say how it is reached.

    The first time some 190 MB are fetched and prepared, which takes a minute or two.
    """
    from graph.server import locate

    wanted = _options()
    with show_progress() as progress:
        locate.locate(wanted, progress)
    _print(locate.status(wanted), json=json)


@app.command()
def stop(json: options.Json = False) -> None:
    """Stop the server; the graph stays."""
    from graph.server import locate

    with show_progress() as progress:
        stopped = locate.stop(_options(), progress)
    _say({"stopped": stopped}, "Stopped." if stopped else "It was not running.", json=json)


@app.command()
def status(json: options.Json = False) -> None:
    """Show whether the server runs, where, and how to open Neo4j Browser."""
    from graph.server import locate

    _print(locate.status(_options()), json=json)


@app.command()
def reset(yes: Yes = False, json: options.Json = False) -> None:
    """Stop the server and remove the whole graph. What was fetched is kept."""
    from graph.server import locate

    wanted = _options()
    _confirm("Remove the whole graph?", yes=yes, json=json)
    with show_progress() as progress:
        removed = locate.reset(wanted, progress)
    _say({"removed": removed}, "Removed." if removed else "There was no graph.", json=json)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="File to write, such as graph.dump.")],
    yes: Yes = False,
    json: options.Json = False,
) -> None:
    """Write the graph to a file. The server pauses meanwhile.

    Example: milepost db backup graph.dump
    """
    from graph.server import locate

    if file.exists():
        _confirm(f"Replace {file}?", yes=yes, json=json)
    with show_progress() as progress:
        locate.backup(_options(), file, progress)
    size = file.stat().st_size
    _say({"file": str(file), "bytes": size}, f"Wrote {file}, {size / 1e6:.1f} MB.", json=json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that backup wrote.", exists=True)],
    yes: Yes = False,
    json: options.Json = False,
) -> None:
    """Replace the graph by a backup, and start the server."""
    from graph.server import locate

    _confirm(f"Replace the whole graph by {file}?", yes=yes, json=json)
    with show_progress() as progress:
        locate.restore(_options(), file, progress)
    _say({"file": str(file)}, f"Restored from {file}.", json=json)


@contextmanager
def show_progress() -> Generator["Progress"]:
    """Show what is being waited for on standard error: a bar on a terminal, else a line each."""
    from app.cli.output import progress_console

    console = progress_console()
    if not console.is_terminal:
        yield _print_new_messages
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")

        def show(message: str, done: int | None, total: int | None) -> None:
            nonlocal task
            if not done:  # the first of a row with the same message
                bar.console.print(message, markup=False, highlight=False)
                bar.remove_task(task)
                task = bar.add_task("", total=total)
            amount = f"{(done or 0) / 1e6:.0f} of {total / 1e6:.0f} MB" if total else ""
            bar.update(task, completed=done or 0, description=amount)

        yield show


def _print_new_messages(message: str, done: int | None, total: int | None) -> None:
    if not done:  # the first of a row with the same message
        typer.echo(message, err=True)


def _options() -> "ServerOptions":
    from app import settings, wiring

    return wiring.server_options(settings.load())


def _confirm(question: str, *, yes: bool, json: bool) -> None:
    from graph.errors import UsageError

    if yes:
        return
    if json:
        raise UsageError("With --json nobody can be asked: add --yes.")
    if not _somebody_is_here():
        raise UsageError(f"{question} Nobody is here to answer: add --yes.")
    typer.confirm(question, abort=True, err=True)


def _somebody_is_here() -> bool:
    return sys.stdin.isatty()


def _say(value: dict[str, object], sentence: str, *, json: bool) -> None:
    from app.cli.output import print_json

    if json:
        print_json(value)
    else:
        typer.echo(sentence)


def _print(status: "ServerStatus", *, json: bool) -> None:
    from dataclasses import asdict

    from app.cli.output import print_json

    fields = {"server": status.kind, **asdict(status)}
    del fields["kind"]
    fields["password_file"] = str(status.password_file) if status.password_file else None
    if json:
        print_json(fields)
        return
    running = "running" if status.running else "not running: milepost db start"
    typer.echo(f"Neo4j {status.version or ''} ({status.kind}), {running}")
    size = f", {status.data_mb} MB" if status.data_mb is not None else ""
    for name, value in (
        ("Address", status.uri),
        ("Browser", status.browser),
        ("User", f"{status.username}, password in {status.password_file}")
        if status.password_file
        else ("User", status.username),
        ("Graph", f"{status.data}{size}" if status.data else None),
        ("Java", status.java),
        ("Log", status.log),
    ):
        if value:
            typer.echo(f"  {name:<8} {value}")
