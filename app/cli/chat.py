"""`milepost chat`: questions and answers, one after the other, in a conversation that is kept."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.answer import Answered
    from agents.threads import Threads
    from app.wiring import App
    from graph.model import Filter

OWNER = "local"
"""The caller that a server without keys knows: its page shows the same conversations."""


def chat(
    thread: Annotated[
        str | None, typer.Option("--thread", help="Go on with this conversation.")
    ] = None,
    machine: Annotated[
        str | None, typer.Option("--machine", "-m", help="See milepost ask --help.")
    ] = None,
    system: options.SystemName = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-M", help="Chat model as provider:name; extractive needs none."),
    ] = None,
    k: options.Hits = 10,
    scope: options.Scopes = None,
    series: options.Series = None,
    year: options.Year = None,
    as_of: options.AsOf = None,
    all_editions: Annotated[
        bool, typer.Option("--all-editions", help="Superseded editions, too.")
    ] = False,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """Ask one question after the other.

    Example: milepost chat --series "Common Policy"

    A question may lean on those before it ("and in version 1.31?"): what is searched is shown.
    Questions are read a line each, from the terminal or a pipe; an empty line or Ctrl-D ends.
    With --json each answer is one line.
    """
    from agents.threads import new_id, turn_of
    from app import settings, wiring
    from app.threads import open_threads
    from graph.errors import UsageError
    from graph.model import Filter, Query

    where = Filter(
        collection=collection,
        audiences=("public", *(audience or ())),
        scopes=tuple(scope or ()),
        series=series,
        year=year,
        as_of=as_of,
    )
    chosen = settings.load()
    with wiring.open_app(chosen) as app, open_threads(chosen) as threads:
        if thread is not None:
            threads.turns(OWNER, thread, where)  # refused at once if there is none
        id = thread or new_id()
        for question in _questions():
            try:
                query = Query(_stand_alone(app, threads, id, question, where, model), where)
                asked = query if all_editions else app.currently(query)
                answered = app.ask(asked, machine=machine, system=system, model=model, k=k)
            except UsageError as error:
                if not sys.stdin.isatty():
                    raise
                typer.echo(str(error), err=True)  # the next question may be a better one
                continue
            threads.add(OWNER, id, turn_of(question, answered))
            _print(id, question, answered, json=json)
        if not json:
            typer.echo(f"Go on with: milepost chat --thread {id}", err=True)


def _questions() -> "Iterator[str]":
    """Yield the lines that are typed or piped, until an empty one or the end."""
    asks = sys.stdin.isatty()
    while True:
        if asks:
            typer.echo("> ", nl=False, err=True)
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            line = ""
        if not line.strip():
            return
        yield line.strip()


def _stand_alone(
    app: "App", threads: "Threads", id: str, question: str, where: "Filter", model: str | None
) -> str:
    from agents.threads import questions
    from graph.errors import UsageError

    try:
        turns = threads.turns(OWNER, id, where)
    except UsageError:
        turns = []  # nothing was asked yet
    return app.stand_alone(question, questions(turns, where), model)


def _print(id: str, question: str, answered: "Answered", *, json: bool) -> None:
    import json as as_json

    from app.cli.ask import print_answered
    from app.cli.output import console
    from app.cli.shapes import answered_as_dict

    if json:
        shape = {"thread": id, "asked": question, **answered_as_dict(answered)}
        typer.echo(as_json.dumps(shape, ensure_ascii=False))
        return
    searched = answered.ranking.query.text
    if searched != question:
        console().print(f"Asked: {searched}", markup=False, highlight=False, style="dim")
    print_answered(answered)
