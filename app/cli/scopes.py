"""`milepost scopes`: the parts of a collection, listed, found and set."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options, scopes_train

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graph.model import ChunkBatch, Document
    from graph.ports import Store
    from ingestion.discover import Discovery, DocumentMeans

app = typer.Typer(help="Scopes: the parts that questions are routed to.", no_args_is_help=True)
app.command("train")(scopes_train.train)

LONGEST_NAME = 100
"""Characters of a scope's name that a table has room for."""

WHOLE_NAME = 36
"""Characters of a name that stay in one line, however narrow the terminal."""

SHOWN_TERMS = 5

ScopeName = Annotated[str, typer.Argument(help="The scope; one that is not there yet is made.")]
Names = Annotated[
    list[str],
    typer.Argument(help="Ids or their beginnings, files, addresses, or folders with all in them."),
]
Number = Annotated[
    int | None,
    typer.Option("-k", help="How many scopes; by default as many as part best.", min=1),
]
Seed = Annotated[int, typer.Option(help="Seed of k-means.", min=0, max=2**32 - 1)]
Apply = Annotated[bool, typer.Option("--apply", help="Move the documents to these scopes.")]


@app.command("list")
def list_(
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """List the scopes with their documents and chunks.

    Example: milepost scopes list
    """
    from dataclasses import asdict

    from app import settings, wiring
    from app.cli.output import console, print_json
    from graph.model import Filter

    where = Filter(collection=collection, audiences=("public", *(audience or ())))
    with wiring.open_store(settings.load()) as store:
        found = store.list_scopes(where)
    if json:
        print_json([asdict(scope) for scope in found])
        return
    if not found:
        console().print(f"No documents in collection {collection!r}. Add some: milepost ingest.")
        return
    rows = [(scope.name, f"{scope.documents:,}", f"{scope.chunks:,}") for scope in found]
    _print_table(("Scope", "Documents", "Chunks"), rows)


@app.command()
def discover(
    k: Number = None,
    seed: Seed = 42,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    apply: Apply = False,
    json: options.Json = False,
) -> None:
    """Find scopes: groups of documents whose passages mean similar things.

    Example: milepost scopes discover --apply

    Nothing changes without --apply. With it, documents keep their new scope when they are ingested
    again, unless a scope map gives another.

    Only documents that you may see are grouped, and the names of scopes are made of their words.
    """
    from app import settings, wiring
    from app.cli.output import print_json
    from graph.errors import UsageError
    from graph.model import Filter
    from ingestion.discover import discover as find_scopes

    where = Filter(collection=collection, audiences=("public", *(audience or ())))
    with wiring.open_store(settings.load()) as store:
        documents = [document for document, _ in store.list_documents(where)]
        if not documents:
            raise UsageError(
                f"Collection {collection!r} holds no document that you may see. Ingest some with "
                "`milepost ingest FOLDER`, or check --collection and --audience."
            )
        found = find_scopes(_means(store, collection, documents), k, seed)
        stale = list[str]()
        if apply:
            stale = _move(store, collection, found.assignment)[1]
    if json:
        print_json(_as_dict(found, documents, applied=apply))
    else:
        _print(found, documents, k, applied=apply)
    for line in stale:
        _say_aside(line)


@app.command("set")
def set_(
    scope: ScopeName,
    names: Names,
    collection: options.Collection = "default",
    json: options.Json = False,
) -> None:
    """Move documents to a scope.

    Example: milepost scopes set certificate-policy policies/common.pdf

    They keep it when they are ingested again, unless a scope map gives another.
    """
    from app import settings, wiring
    from app.cli.documents import find_names
    from app.cli.ingest_report import counted
    from app.cli.output import print_json

    name = _checked(scope)
    with wiring.open_store(settings.load()) as store:
        states = list(store.document_states(collection).values())
        meant = {found for given in names for found in find_names(states, collection, given)}
        ids = sorted(state.id for state in states if meant.intersection(state.names))
        is_new = name not in store.scope_names(collection)
        moved, stale = _move(store, collection, dict.fromkeys(ids, name))
    for line in stale:
        _say_aside(line)
    if json:
        print_json({"scope": name, "new": is_new, "moved": moved, "ids": ids})
        return
    new = ", which is new" if is_new else ""
    message = f"Moved {counted(moved, 'document')} to scope {name!r}{new}."
    _say(message)


def _move(store: "Store", collection: str, scopes: "Mapping[str, str]") -> tuple[int, list[str]]:
    """Move documents; return how many, and what the routers that were trained make of it."""
    from router.learned import TRAINED

    before = store.scope_names(collection)
    moved = store.set_scopes(collection, scopes)
    store.finish(collection)
    trained = [name for name in TRAINED if store.read_router(collection, name)]
    if not moved or not trained:
        return moved, []
    now = (
        "learned where documents were before"
        if store.scope_names(collection) == before
        else "know other scopes, and are refused until they are trained again"
    )
    return moved, [f"The routers trained earlier {now}: milepost scopes train"]


def _checked(scope: str) -> str:
    from graph.errors import UsageError

    name = scope.strip()
    if not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise UsageError(
            f"{scope!r} cannot name a scope: give a word or a few, {LONGEST_NAME} characters at "
            "most, in one line."
        )
    return name


def _means(store: "Store", collection: str, documents: "Sequence[Document]") -> "DocumentMeans":
    from collections import Counter

    from ingestion.discover import DocumentMeans, mean_vectors

    documents = sorted(documents, key=lambda document: document.id)
    ids = tuple(document.id for document in documents)
    chunks: Counter[str] = Counter()

    def counted() -> "Iterator[ChunkBatch]":
        for batch in store.chunks(collection):
            chunks.update(chunk.document_id for chunk in batch.chunks)
            yield batch

    means = mean_vectors(counted(), ids)
    return DocumentMeans(
        ids=ids,
        labels=tuple(document.scope for document in documents),
        chunks=tuple(chunks[id] for id in ids),
        means=means,
        texts=_texts(store, collection, frozenset(ids)),
    )


def _texts(store: "Store", collection: str, ids: frozenset[str]) -> "Iterator[tuple[str, str]]":
    for batch in store.chunks(collection, with_vectors=False):
        for chunk in batch.chunks:
            if chunk.document_id in ids:
                yield chunk.document_id, chunk.text


def _as_dict(
    found: "Discovery", documents: "Sequence[Document]", *, applied: bool
) -> dict[str, object]:
    from dataclasses import asdict

    return {
        **asdict(found),
        "k": len(found.scopes),
        "applied": applied,
        "moves": [
            {"id": document.id, "from": document.scope, "to": scope}
            for document, scope in _moves(found, documents)
        ],
    }


def _moves(found: "Discovery", documents: "Sequence[Document]") -> "list[tuple[Document, str]]":
    """Return the documents whose scope is another one now, each with it."""
    assignment = found.assignment
    return [
        (document, assignment[document.id])
        for document in documents
        if assignment.get(document.id, document.scope) != document.scope
    ]


def _print(
    found: "Discovery", documents: "Sequence[Document]", k: int | None, *, applied: bool
) -> None:
    titles = {document.id: document.title for document in documents}
    rows = [
        (
            scope.name,
            f"{len(scope.documents):,}",
            f"{scope.chunks:,}",
            ", ".join(scope.terms[:SHOWN_TERMS]),
            titles[scope.example],
        )
        for scope in found.scopes
    ]
    _print_table(("Scope", "Documents", "Chunks", "Terms", "Example"), rows)
    for line in (
        *_how_many(found, k),
        *_against_present(found, documents),
        _what_happens(found, documents, applied=applied),
    ):
        _say(line)


def _how_many(found: "Discovery", k: int | None) -> "Iterator[str]":
    from app.cli.ingest_report import counted

    n = len(found.scopes)
    if found.tried:
        tried = ", ".join(f"{one.k}: {one.silhouette:.3f}" for one in found.tried)
        yield f"{counted(n, 'scope')}, the number of the highest silhouette ({tried})."
    elif k is not None and n < k:
        yield f"{counted(n, 'scope')} instead of {k}: no more documents differ from each other."
    if found.left_out:
        left = counted(len(found.left_out), "document")
        yield f"{left} left out, as the passages' vectors cancel out: no scope is near."


def _against_present(found: "Discovery", documents: "Sequence[Document]") -> "Iterator[str]":
    present = len({document.scope for document in documents})
    if present > 1:
        yield (
            f"Against the {present} scopes at present: purity {found.purity:.3f} by chunks, "
            f"{found.document_purity:.3f} by documents, NMI {found.nmi:.3f}."
        )


def _what_happens(found: "Discovery", documents: "Sequence[Document]", *, applied: bool) -> str:
    from app.cli.ingest_report import counted

    moves = _moves(found, documents)
    what = f"{counted(len(moves), 'document')} of {len(documents):,}"
    where = counted(len({scope for _, scope in moves}), "scope")
    if applied:
        return f"Moved {what} to {where}. Train routers for them: milepost scopes train"
    if not moves:
        return "These are the scopes at present: --apply would move nothing."
    return f"Nothing is changed. With --apply, {what} would move to {where}."


def _print_table(names: "Sequence[str]", rows: "Sequence[Sequence[str]]") -> None:
    from rich.markup import escape
    from rich.table import Table

    from app.cli.output import console

    table = Table(box=None, pad_edge=False)
    longest = max((len(row[0]) for row in rows), default=0)
    table.add_column(names[0], min_width=min(longest, WHOLE_NAME), overflow="fold")
    for name in names[1:]:
        number = name in ("Documents", "Chunks")
        table.add_column(
            name, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    for row in rows:
        table.add_row(*map(escape, row))
    console().print(table)


def _say_aside(line: str) -> None:
    typer.echo(line, err=True)


def _say(line: str) -> None:
    from app.cli.output import console

    console().print(line, markup=False, highlight=False, soft_wrap=True)
