"""`milepost documents`: what is in the graph, and taking documents out of it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from graph.model import Document
    from graph.ports import Store

app = typer.Typer(help="Documents in the graph.", no_args_is_help=True)

SHORTEST_PREFIX = 4
"""Characters of an id that are enough to name a document."""

Name = Annotated[
    str, typer.Argument(help="Its id or the beginning of it, its file, or its address.")
]
Names = Annotated[
    list[str],
    typer.Argument(help="Ids or their beginnings, files, addresses, or folders with all in them."),
]


@app.command("list")
def list_(
    collection: options.Collection = "default",
    scope: options.Scopes = None,
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """List documents by scope, series and edition.

    Example: milepost documents list --scope certificate-policy
    """
    from app import settings, wiring
    from app.cli.output import console, print_json
    from graph.model import Filter

    held = ("public", *(audience or ()))
    where = Filter(collection=collection, audiences=held, scopes=tuple(scope or ()))
    with wiring.open_store(settings.load()) as store:
        found = store.list_documents(where)
    if json:
        print_json([_as_dict(document, chunks) for document, chunks in found])
    elif not found:
        console().print(f"No documents in collection {collection!r}. Add some: milepost ingest.")
    else:
        _print_table(found)


@app.command()
def show(
    name: Name,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """Show all that is known of one document.

    Example: milepost documents show policies/common.pdf
    """
    from app import settings, wiring
    from app.cli.output import console, print_json
    from graph.errors import UsageError
    from graph.model import Filter

    where = Filter(collection=collection, audiences=("public", *(audience or ())))
    with wiring.open_store(settings.load()) as store:
        id = _find_one(store, collection, name)
        found = [_as_dict(*entry) for entry in store.list_documents(where) if entry[0].id == id]
    if not found:
        raise UsageError(f"{name} is for another audience: name one that you hold by --audience.")
    if json:
        print_json(found[0])
        return
    for key, value in found[0].items():
        shown = "" if value is None else value
        console().print(f"{key:<12} {shown}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def remove(
    names: Names,
    collection: options.Collection = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: options.Json = False,
) -> None:
    """Take documents out of the graph, with all of their sections and chunks.

    Example: milepost documents remove policies/common.pdf drafts/
    """
    from app import settings, wiring
    from app.cli.ingest_report import counted
    from app.cli.output import console, print_json

    with wiring.open_store(settings.load()) as store:
        ids = sorted({id for name in names for id in _find(store, collection, name)})
        if not yes:
            _confirm(f"Remove {counted(len(ids), 'document')} from collection {collection!r}?")
        removed = store.remove(ids)
        store.finish(collection)
    if json:
        print_json({"removed": removed, "ids": ids})
    else:
        console().print(f"Removed {counted(removed, 'document')}.")


def _confirm(question: str) -> None:
    from graph.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is here to answer: add --yes.")
    typer.confirm(question, abort=True, err=True)


def _find(store: "Store", collection: str, name: str) -> list[str]:
    """Return the ids that a name means: one document, or all below a folder."""
    from graph.errors import UsageError
    from ingestion.walk import absolute

    states = list(store.document_states(collection).values())
    uri = name if "://" in name else absolute(Path(name)).as_uri()
    below = uri.rstrip("/") + "/"
    ids = [s.id for s in states if s.uri == uri or s.uri.startswith(below) or s.id == name]
    if not ids and len(name) >= SHORTEST_PREFIX:
        ids = [state.id for state in states if state.id.startswith(name)]
    if not ids:
        raise UsageError(
            f"There is no document {name!r} in collection {collection!r}: see "
            "`milepost documents list`."
        )
    return ids


def _find_one(store: "Store", collection: str, name: str) -> str:
    from graph.errors import UsageError

    ids = _find(store, collection, name)
    if len(ids) > 1:
        raise UsageError(f"{name!r} means {len(ids)} documents: give more of the id, or one file.")
    return ids[0]


def _as_dict(document: "Document", chunks: int) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(document), "chunks": chunks}


def _print_table(found: "list[tuple[Document, int]]") -> None:
    from rich.markup import escape
    from rich.table import Table

    from app.cli.output import console

    table = Table(box=None, pad_edge=False)
    for name in ("Id", "Scope", "Series", "Edition", "Year", "Pages", "Chunks", "Title"):
        right = name in ("Year", "Pages", "Chunks")
        table.add_column(name, justify="right" if right else "left", no_wrap=name == "Id")
    for document, chunks in found:
        edition = document.edition or ""
        table.add_row(
            document.id[:8],
            escape(document.scope),
            escape(document.series or ""),
            escape(edition if document.is_current else f"{edition} (superseded)".strip()),
            str(document.year or ""),
            str(document.pages or ""),
            f"{chunks:,}",
            escape(document.title),
        )
    console().print(table)
