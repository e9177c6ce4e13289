"""The command line `milepost`: arguments in, one line per error, exit codes.

Heavy imports stand inside the commands, so that `--help` answers at once.
"""

import logging
import sys
from typing import Annotated

import typer

from app.cli import (
    ask,
    chat,
    compare,
    crawl,
    db,
    dilution,
    documents,
    eval_scorer,
    ingest,
    keys,
    mcp,
    schema,
    scopes,
    search,
    serve,
    topics,
    train,
)
from app.cli import eval as evaluation
from graph.errors import MilepostError

app = typer.Typer(
    name="milepost",
    help="Answers from public agencies' documents, with citations that can be checked.\n\n"
    "Begin with: milepost db start, milepost ingest FOLDER, milepost ask QUESTION.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ingest")(ingest.ingest)
app.command("crawl")(crawl.crawl)
app.command("search")(search.search)
app.command("ask")(ask.ask)
app.command("chat")(chat.chat)
app.command("compare")(compare.compare)
app.command("dilution")(dilution.dilution)
app.command("train")(train.train)
app.command("serve")(serve.serve)
app.command("mcp")(mcp.mcp)
app.add_typer(documents.app, name="documents")
app.add_typer(scopes.app, name="scopes")
app.add_typer(topics.app, name="topics")
app.add_typer(keys.app, name="keys")
evaluation.app.command("scorer")(eval_scorer.scorer)
app.add_typer(evaluation.app, name="eval")
app.add_typer(db.app, name="db")
app.add_typer(schema.app, name="schema")


def _version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"milepost {version('milepost')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; exit code 2 for wrong use, 1 for failure, 130 for Ctrl-C."""
    # The driver reports each retry in several lines; what fails in the end is one line of ours.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    try:
        app()
    except MilepostError as error:
        typer.secho(f"milepost: {error}", fg="red", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("milepost: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; Python would complain again at exit.
        sys.stdout = None
        sys.exit(0)
    except OSError as error:
        # No right to write, no space left: the machine's trouble, not a fault to trace.
        where = f" ({error.filename})" if error.filename else ""
        typer.secho(
            f"milepost: {error.strerror or error}{where}. Free space or give the right to write; "
            "MILEPOST_CACHE_DIR and MILEPOST_DATA_DIR choose other folders.",
            fg="red",
            err=True,
        )
        sys.stdout = None
        sys.exit(1)
