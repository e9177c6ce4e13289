"""`milepost documents`: what is in the graph, and taking documents out of it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from app.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graph.model import Document, DocumentState
    from graph.ports import Store

app = typer.Typer(help="Documents in the graph.", no_args_is_help=True)

SHORTEST_PREFIX = 4
"""Characters of an id that are enough to name a document."""

WIDE = 120
"""Columns of a terminal that has room for series, year and pages, too."""

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
    for line in _as_lines(found[0]):
        console().print(line, markup=False, highlight=False, soft_wrap=True)


@app.command()
def remove(
    names: Names,
    collection: options.Collection = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: options.Json = False,
) -> None:
    """Take documents out of the graph, with all of their sections and chunks.

    Example: milepost documents remove policies/common.pdf drafts/

    A document that stands for several files with the same bytes stays while one of their names is
    left; its id removes it whatever its names are.
    """
    from app import settings, wiring
    from app.cli.ingest_report import counted
    from app.cli.output import console, print_json

    with wiring.open_store(settings.load()) as store:
        states = list(store.document_states(collection).values())
        dropped = {name for given in names for name in find_names(states, collection, given)}
        left = {
            state.id: tuple(name for name in state.names if name not in dropped)
            for state in states
            if dropped.intersection(state.names)
        }
        ids = sorted(id for id, rest in left.items() if not rest)
        renamed = {id: rest for id, rest in left.items() if rest}
        if not yes:
            _confirm(_question(states, ids, renamed, collection))
        store.rename(renamed)
        removed = store.remove(ids)
        store.finish(collection)
    if json:
        print_json({"removed": removed, "ids": ids, "renamed": sorted(renamed)})
        return
    console().print(f"Removed {counted(removed, 'document')}.")
    for state in states:
        if rest := renamed.get(state.id):
            kept = f"{state.id[:8]} stays as {', '.join(map(_shown, rest))}."
            console().print(kept, markup=False, highlight=False, soft_wrap=True)


def _question(
    states: "Sequence[DocumentState]",
    ids: "Sequence[str]",
    renamed: "Mapping[str, object]",
    collection: str,
) -> str:
    from app.cli.ingest_report import counted

    if not ids:
        return f"Remove one name each of {counted(len(renamed), 'document')}, which stay?"
    if len(ids) == len(states) > 1:
        return f"Remove ALL {counted(len(ids), 'document')} of collection {collection!r}?"
    first = [_shown(state.uri) for state in states if state.id in ids[:3]]
    rest = f" and {len(ids) - len(first):,} more" if len(ids) > len(first) else ""
    what = counted(len(ids), "document")
    return f"Remove {what} from collection {collection!r} ({', '.join(first)}{rest})?"


def _shown(uri: str) -> str:
    from app.cli.ingest_report import shown_path

    return shown_path(uri)


def _confirm(question: str) -> None:
    from graph.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is here to answer: add --yes.")
    typer.confirm(question, abort=True, err=True)


def find_names(states: "Sequence[DocumentState]", collection: str, name: str) -> list[str]:
    """Return the addresses that a name means: of one file, of all below a folder, or of an id."""
    from graph.errors import UsageError
    from ingestion.walk import absolute

    uri = name if "://" in name else absolute(Path(name)).as_uri()
    below = uri.rstrip("/") + "/"
    found = [n for s in states for n in s.names if n == uri or n.startswith(below)]
    found += [n for s in states for n in s.names if s.id == name]
    if not found and len(name) >= SHORTEST_PREFIX:
        found = [n for s in states for n in s.names if s.id.startswith(name)]
    if not found:
        raise UsageError(
            f"There is no document {name!r} in collection {collection!r}: see "
            "`milepost documents list`."
        )
    return found


def _find_one(store: "Store", collection: str, name: str) -> str:
    from graph.errors import UsageError

    states = list(store.document_states(collection).values())
    found = set(find_names(states, collection, name))
    ids = [state.id for state in states if found.intersection(state.names)]
    if len(ids) > 1:
        raise UsageError(f"{name!r} means {len(ids)} documents: give more of the id, or one file.")
    return ids[0]


def _as_dict(document: "Document", chunks: int) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(document), "chunks": chunks}


def _as_lines(properties: "Mapping[str, object]") -> list[str]:
    """Return a line for each property; where the metadata come from is said beside them."""
    sources = dict(
        str(line).split(": ", 1) for line in cast("tuple[str]", properties["metadata_sources"])
    )
    lines: list[str] = []
    for key, value in properties.items():
        if key == "metadata_sources":
            continue
        shown = "" if value is None else str(value)
        if isinstance(value, tuple):
            shown = ", ".join(map(str, cast("tuple[str, ...]", value)))
        source = f"   [{sources[key]}]" if key in sources else ""
        lines.append(f"{key:<12} {shown}{source}")
    return lines


def _print_table(found: "list[tuple[Document, int]]") -> None:
    from rich.markup import escape
    from rich.table import Table

    from app.cli.output import console

    wide = console().width >= WIDE
    table = Table(box=None, pad_edge=False)
    table.add_column("Id", no_wrap=True)
    table.add_column("Scope", max_width=24 if wide else 16, overflow="fold")
    if wide:
        table.add_column("Series", max_width=30, overflow="fold")
    table.add_column("Edition", max_width=20 if wide else 12, overflow="fold")
    for name in ("Year", "Pages", "Chunks") if wide else ("Chunks",):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Title", ratio=1, overflow="fold")
    for document, chunks in found:
        # Where there is no room for a column of years, they stand for editions without a name.
        edition = document.edition or ("" if wide else str(document.year or ""))
        more = [escape(document.series or "")] if wide else []
        numbers = [str(document.year or ""), str(document.pages or "")] if wide else []
        table.add_row(
            document.id[:8],
            escape(document.scope),
            *more,
            escape(edition if document.is_current else f"{edition} (superseded)".strip()),
            *numbers,
            f"{chunks:,}",
            escape(document.title),
        )
    console().print(table)
