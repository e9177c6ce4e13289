"""SingleCall: searches as masdr's tools do, without a model that chooses; then one synthesis.

Dilution paper, appendix A7.4: it keeps the retrieval of MASDR-RAG and synthesizes once over all
passages, which shows what of the loss is due to answers put together over several rounds. Here
everything is searched, then each likely scope beside the sections and editions that the question
names; the lists are fused by rank.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import perf_counter

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents import nodes
from agents.context import Context, Run
from agents.multistep import HITS, dump_hits
from agents.nodes import Update
from agents.state import RANKING, Input, Json, Output, State
from graph.model import Filter, Hit, ListRank, Query, SearchRequest
from router.fuse import reciprocal_rank
from router.retrieve import Guidance
from router.systems import TOP_SCOPES
from router.understand import understand

EVERYTHING = "everything"
MOST_EDITIONS = 4
"""Editions and years that are looked up, of those that the question names."""


class SingleState(State):
    """The state of SingleCall."""

    in_scopes: dict[str, list[Json]]
    """Hits of each further list, `graph.model.Hit`; by `search_scopes`."""
    looked_up: dict[str, list[Json]]
    """Likewise; by `look_up`."""


def search_scopes(state: SingleState, runtime: Run) -> Update:
    """Search each likely scope; a system that does not route has none."""
    started = perf_counter()
    context = runtime.context
    likely = [route.scope for route in RANKING.validate_python(state["ranking"]).route[:TOP_SCOPES]]
    lists = {
        f"scope {scope}": _search(state, context, replace(context.filter, scopes=(scope,)))
        for scope in likely
        if scope in (context.filter.scopes or (scope,))
    }
    return {"in_scopes": lists, "timings_ms": {"search_scopes": _since(started)}}


def look_up(state: SingleState, runtime: Run) -> Update:
    """Look up the sections and the editions that the question names."""
    started = perf_counter()
    context = runtime.context
    said = understand(state["question"], context.graph.holdings(context.filter))
    lists = {
        name: _search(state, context, where)
        for name, where in _editions(said, context.filter).items()
    }
    if said.addresses:
        lists["sections named"] = _sections(state, context, said)
    return {"looked_up": lists, "timings_ms": {"look_up": _since(started)}}


def fuse(state: SingleState, runtime: Run) -> Update:
    """Bring all lists into one, by rank."""
    started = perf_counter()
    ranking = RANKING.validate_python(state["ranking"])
    further = state["in_scopes"] | state["looked_up"]
    lists = {EVERYTHING: ranking.hits}
    lists |= {name: HITS.validate_python(hits) for name, hits in further.items()}
    searched = tuple(f"searched {name}: {len(hits)} found" for name, hits in lists.items())
    fused = replace(ranking, hits=fused_by_rank(lists), reasons=(*ranking.reasons, *searched))
    return {
        "ranking": RANKING.dump_python(fused, mode="json"),
        "timings_ms": {"fuse_lists": _since(started)},
    }


def fused_by_rank(lists: Mapping[str, Iterable[Hit]]) -> tuple[Hit, ...]:
    """Return each hit once, by the sum of its reciprocal ranks, equal ones by chunk id.

    Args:
        lists: Hits by name of the list, best first.
    """
    ranks: dict[str, dict[str, ListRank]] = {}
    hits: dict[str, Hit] = {}
    for name, found in lists.items():
        for rank, hit in enumerate(found, start=1):
            hits.setdefault(hit.passage.chunk_id, hit)
            ranks.setdefault(hit.passage.chunk_id, {})[name] = ListRank(rank, hit.score)
    fused = [
        Hit(
            hit.passage, ranks[id], sum(reciprocal_rank(entry.rank) for entry in ranks[id].values())
        )
        for id, hit in hits.items()
    ]
    return tuple(sorted(fused, key=lambda hit: (-hit.score, hit.passage.chunk_id)))


def build() -> CompiledStateGraph[SingleState, Context, Input, Output]:
    """Return the machine; run it with `invoke({"question": …}, context=Context(…))`."""
    machine = StateGraph(SingleState, Context, input_schema=Input, output_schema=Output)
    machine.add_node("route", nodes.route)
    machine.add_node("search_everything", nodes.retrieve)
    machine.add_node("search_scopes", search_scopes)
    machine.add_node("look_up", look_up)
    machine.add_node("fuse", fuse)
    machine.add_node("answer", nodes.answer)
    machine.add_node("check", nodes.check)
    machine.add_edge(START, "route")
    machine.add_edge("route", "search_everything")
    machine.add_edge("search_everything", "search_scopes")
    machine.add_edge("search_everything", "look_up")
    machine.add_edge(["search_scopes", "look_up"], "fuse")
    machine.add_edge("fuse", "answer")
    machine.add_edge("answer", "check")
    machine.add_edge("check", END)
    return machine.compile()


def _search(state: State, context: Context, where: Filter) -> list[Json]:
    return dump_hits(context.system(Query(state["question"], where), context.k).hits)


def _editions(said: Guidance, where: Filter) -> dict[str, Filter]:
    """Return a filter for each edition or year named; what the caller set stays as it is."""
    named = [*said.wishes]
    named += [("edition", said.edition)] if said.edition else []
    named += [("year", str(said.year))] if said.year is not None else []
    filters: dict[str, Filter] = {}
    for kind, value in dict.fromkeys(named):
        if kind == "edition" and where.edition is None:
            filters[f"edition {value}"] = replace(where, edition=value)
        elif kind == "year" and where.year is None:
            filters[f"year {value}"] = replace(where, year=int(value))
    return dict(list(filters.items())[:MOST_EDITIONS])


def _sections(state: State, context: Context, said: Guidance) -> list[Json]:
    vector = context.embedder.embed_query(state["question"])
    request = SearchRequest(
        said.narrowed(context.filter),
        context.k,
        vector,
        search_globally=False,
        addresses=said.addresses,
    )
    found = context.graph.search(request)
    listed = [(one.lists["address"], one) for one in found if "address" in one.lists]
    listed.sort(key=lambda pair: pair[0].rank)
    return dump_hits([Hit(one.passage, one.lists, place.score) for place, one in listed])


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)
