"""`milepost ask`: an answer from the documents, each claim with its source."""

import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from agents.answer import Answer, Answered
    from graph.model import Ranking


def ask(
    question: Annotated[str, typer.Argument(help="The question, in plain words.")],
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            "-m",
            help="How the answer is made: one of the names above.",
        ),
    ] = None,
    system: options.SystemName = None,
    rerank: options.Rerank = "none",
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-M", help="Chat model as provider:name; extractive quotes and needs none."
        ),
    ] = None,
    k: options.Hits = 10,
    scope: options.Scopes = None,
    series: options.Series = None,
    year: options.Year = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    all_editions: Annotated[
        bool,
        typer.Option(
            "--all-editions",
            help="Superseded editions, too. By default only current ones answer, unless --year, "
            "--as-of or the question (version 2.4) names an edition.",
        ),
    ] = False,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """Answer a question, with sources.

    Example: milepost ask "How long must audit logs be kept?" --series "Common Policy"

    Ways to make the answer, for --machine; those with tools need a chat model:

    \b
    soft_scoped      one search along the likeliest scopes, then one call
    single_call      a search in every scope, then one call that reads it all
    masdr            an agent with tools, a search per scope, 5 rounds
    react            the same tools by plain text: any model, 6 steps
    langchain_react  LangChain's own agent with the same tools
    ma_rag           planner, step definer, extractor, answerer: step by step
    scout_rag        widens the search by scopes while the answer gets better
    """  # noqa: D301 (\b is click's mark for lines that stay as they are)
    from app import settings, wiring
    from app.cli.output import print_json
    from app.cli.shapes import answered_as_dict
    from graph.model import Filter, Query

    where = Filter(
        collection=collection,
        audiences=("public", *(audience or ())),
        scopes=tuple(scope or ()),
        series=series,
        year=year,
        as_of=as_of,
        current_only=current,
    )
    with wiring.open_app(settings.load()) as app:
        query = Query(question, where)
        asked = query if current or all_editions else app.currently(query)
        name = options.reranked(system or app.settings.system, rerank)
        answered = app.ask(asked, machine=machine, system=name, model=model, k=k)
    if json:
        print_json(answered_as_dict(answered))
    else:
        print_answered(answered)


def print_answered(answered: "Answered") -> None:
    """Print an answer with its sources, and what the checks found."""
    from app.cli.output import console

    out = console()
    text = _wrapped(answered.answer.text, out.width)
    out.print(text, markup=False, highlight=False, soft_wrap=True)
    out.print()
    _print_sources(out, answered.answer)
    _print_checks(out, answered.answer)
    _print_search(out, answered.ranking)


def _wrapped(text: str, width: int) -> str:
    """Break lines at spaces, but not within a citation; the items of a list are indented."""
    lines: list[str] = []
    for line in text.splitlines():
        whole = re.sub(r"\[Source (\d+)\]", "[Source\0\\1]", line)
        indent = "  " if line.startswith("- ") else ""
        lines += textwrap.wrap(
            whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines).replace("\0", " ")


def _print_sources(out: "Console", answer: "Answer") -> None:
    from app.cli.output import where_it_is

    cited = [source for source in answer.sources if source.cited]
    for source in cited:
        place = f"[Source {source.n}] {where_it_is(source.passage)}"
        out.print(place, markup=False, highlight=False, style="cyan")
        out.print(f"    {source.passage.uri}", markup=False, highlight=False, soft_wrap=True)
    if cited:
        out.print()


def _print_checks(out: "Console", answer: "Answer") -> None:
    """Say what the checks found; nothing if they found nothing."""
    checks = answer.checks
    findings = [
        (checks.uncited_claims, "statements without a source"),
        (checks.marked_claims, "statements with a figure that is not in the source"),
        (checks.removed_citations, "removed citations of sources that do not exist"),
        (answer.passages_left_out, "passages that did not fit into the model's context"),
    ]
    for number, what in findings:
        if number:
            out.print(f"Check: {what}: {number}", markup=False, highlight=False, style="yellow")
    if answer.stopped:
        said = f"Check: the search ended at its limit of {answer.stopped}"
        out.print(said, markup=False, highlight=False, style="yellow")


def _print_search(out: "Console", ranking: "Ranking") -> None:
    scopes = Counter(hit.passage.scope for hit in ranking.hits).most_common()
    found = ", ".join(f"{scope} ({n})" for scope, n in scopes) or "nowhere"
    routes = [route for route in ranking.route[:3] if route.probability >= 0.005]
    likely = ", ".join(f"{route.scope} ({route.probability:.0%})" for route in routes)
    seconds = sum(ranking.timings_ms.values()) / 1000
    told = f" Most likely scopes: {likely}." if likely else ""
    found = f"{len(ranking.hits)} passages from {found}.{told} {seconds:.2f} s."
    out.print(found, markup=False, highlight=False, style="dim")
