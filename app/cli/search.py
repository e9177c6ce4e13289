"""`milepost search`: ranked passages, and why each is there."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from graph.model import Hit, Passage, Ranking
    from graph.ports import Store


def search(
    question: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    system: options.SystemName = None,
    rerank: options.Rerank = "none",
    k: options.Hits = 10,
    scope: options.Scopes = None,
    series: options.Series = None,
    year: options.Year = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the route, each list's rank and the times.")
    ] = False,
    context: Annotated[
        int,
        typer.Option(help="Show so many passages before and after each as well.", min=0, max=20),
    ] = 0,
    whole_section: Annotated[
        bool, typer.Option("--section", help="Show the whole section around each passage.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Find passages.

    Example: milepost search "who may request a certificate" --scope certificate-policy --explain
    """
    from app import settings, wiring
    from app.cli.output import print_json
    from app.cli.shapes import ranking_as_dict
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
        name = options.reranked(system or app.settings.system, rerank)
        ranking = app.search(Query(question, where), system=name, k=k)
        around = _around(app.store, ranking, context, whole_section=whole_section)
    if json:
        print_json(ranking_as_dict(ranking, around))
    else:
        _print(ranking, around, explain=explain)


def _around(
    store: "Store", ranking: "Ranking", distance: int, *, whole_section: bool
) -> "dict[str, Sequence[Passage]]":
    """Return, by chunk id, the passages to show with each hit; empty where none are asked for."""
    where = ranking.query.filter
    if whole_section:
        return {
            hit.passage.chunk_id: store.section_passages(hit.passage.section_id, where)
            for hit in ranking.hits
        }
    if not distance:
        return {}
    return {
        hit.passage.chunk_id: store.neighbours([hit.passage.chunk_id], where, distance)
        for hit in ranking.hits
    }


def _print(ranking: "Ranking", around: "Mapping[str, Sequence[Passage]]", *, explain: bool) -> None:
    from app.cli.output import console

    out = console()
    if not ranking.hits:
        out.print("Nothing found. Try other words, or fewer filters.")
    for rank, hit in enumerate(ranking.hits, start=1):
        _print_hit(out, rank, hit, around.get(hit.passage.chunk_id, ()), explain=explain)
    if explain:
        _print_explanation(out, ranking)


def _print_hit(
    out: "Console", rank: int, hit: "Hit", around: "Sequence[Passage]", *, explain: bool
) -> None:
    from app.cli.output import where_it_is

    passage = hit.passage
    out.print(f"[bold]{rank:>2}.[/bold] ", end="")
    out.print(where_it_is(passage), markup=False, highlight=False, style="cyan")
    for shown in around or (passage,):
        text = " ".join(shown.text.split())
        is_hit = shown.chunk_id == passage.chunk_id
        cut = text if explain or around else text[:300]
        out.print(cut, markup=False, highlight=False, style=None if is_hit else "dim")
    if explain:
        lists = ", ".join(f"{name} #{entry.rank}" for name, entry in hit.lists.items())
        out.print(f"score {hit.score:.5f} from {lists}", markup=False, style="dim")
    out.print()


def _print_explanation(out: "Console", ranking: "Ranking") -> None:
    routes = ", ".join(f"{route.scope} {route.probability:.0%}" for route in ranking.route)
    times = ", ".join(f"{stage} {ms:.0f} ms" for stage, ms in ranking.timings_ms.items())
    out.print(f"System: {ranking.system}", markup=False)
    out.print(f"Route:  {routes or 'none, searched everything'}", markup=False)
    for reason in ranking.reasons:
        out.print(f"Asked:  {reason}", markup=False)
    out.print(f"Time:   {times}", markup=False)
