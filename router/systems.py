"""The systems of the dilution paper (section 4, table 4), each as the paper has it.

They are there to be compared with; `router.guided` is what Milepost uses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.errors import UsageError
from graph.model import Candidate, Filter, Hit, ListRank, Ranking, SearchRequest
from graph.ports import Store
from router.fuse import fuse, mixed, ordered
from router.prior import log_prior
from router.retrieve import Routed, length, search

TOP_SCOPES = 2
"""Scopes that get a list of their own in soft scoping."""

PRIOR_WEIGHT = 0.02
"""Of the log probability of a candidate's scope, beside a cosine."""


def monolithic(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Vector search over everything: the baseline that dilution hurts."""
    request = SearchRequest(routed.query.filter, length(k), routed.vector)
    return _by_rank("monolithic", routed, k, store, request, {"global": 1.0})


def bm25(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Full text over everything, by Neo4j's BM25."""
    request = SearchRequest(routed.query.filter, length(k), text=routed.query.text)
    return _by_rank("bm25", routed, k, store, request, {"fulltext": 1.0})


def hybrid(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Vector search and full text over everything, fused by rank."""
    weights = {"global": 1.0, "fulltext": 1.0}
    request = _both(routed, k)
    return _by_rank("hybrid", routed, k, store, request, weights)


def convex(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Vector search and full text over everything, fused by score."""
    return search(
        "convex",
        routed,
        k,
        lambda candidates: ordered(candidates, mixed(candidates)),
        store=store,
        request=_both(routed, k),
    )


def hard_scoped(
    routed: Routed, k: int, *, store: Store, name: str = "hard_scoped", sure: float = 0.0
) -> Ranking:
    """Vector search in the likeliest scope and nowhere else.

    Args:
        routed: With routes; without any, or below `sure`, everything is searched.
        k: Hits wanted.
        store: Where to search.
        name: Of the system: the regex, TF-IDF, probe, LLM and hybrid routers all search this way.
        sure: Probability from which on the route is followed.
    """
    where = routed.query.filter
    if routed.routes and routed.routes[0].probability >= sure:
        where = _within(where, routed.routes[0].scope)
    request = SearchRequest(where, length(k), routed.vector)
    return _by_rank(name, routed, k, store, request, {"global": 1.0})


def soft_scoped(routed: Routed, k: int, *, store: Store, top: int = TOP_SCOPES) -> Ranking:
    """Search the likeliest scopes beside everything, and fuse the lists with equal weights."""
    scopes = tuple(route.scope for route in routed.routes[:top])
    weights = {"global": 1.0} | {f"scope:{scope}": 1.0 for scope in scopes}
    request = SearchRequest(routed.query.filter, length(k), routed.vector, scopes=scopes)
    return _by_rank("soft_scoped", routed, k, store, request, weights)


def scope_prior(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Global hybrid whose vector list is ordered anew with the router's log probability added.

    Score cosine + `PRIOR_WEIGHT` log P(scope given question), then reciprocal-rank fusion with
    full text: an unlikely scope costs rank, never the answer.
    """

    def order(candidates: Sequence[Candidate]) -> list[Hit]:
        near = [candidate for candidate in candidates if "global" in candidate.lists]
        priors = log_prior(near, routed.routes)
        scores = [(c.cosine or 0.0) + PRIOR_WEIGHT * p for c, p in zip(near, priors, strict=True)]
        places = {
            hit.passage.chunk_id: ListRank(rank, hit.score)
            for rank, hit in enumerate(ordered(near, scores), start=1)
        }
        lists = [
            {**candidate.lists, "global": places[candidate.passage.chunk_id]}
            if "global" in candidate.lists
            else candidate.lists
            for candidate in candidates
        ]
        moved = [replace(one, lists=its) for one, its in zip(candidates, lists, strict=True)]
        return fuse(moved, {"global": 1.0, "fulltext": 1.0})

    return search("scope_prior", routed, k, order, store=store, request=_both(routed, k))


def oracle_scoped(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Vector search in the scopes that the caller names: what a router that never errs would gain.

    Raises:
        UsageError: No scope is named.
    """
    if not routed.query.filter.scopes:
        raise UsageError(
            "oracle_scoped is told the scope of the answer: name it with --scope. Evaluations tell "
            "it the scopes of the gold."
        )
    request = SearchRequest(routed.query.filter, length(k), routed.vector)
    return _by_rank("oracle_scoped", routed, k, store, request, {"global": 1.0})


def _both(routed: Routed, k: int) -> SearchRequest:
    return SearchRequest(routed.query.filter, length(k), routed.vector, text=routed.query.text)


def _within(where: Filter, scope: str) -> Filter:
    """Narrow a filter to one scope, unless the caller excludes that one."""
    return replace(where, scopes=(scope,)) if scope in (where.scopes or (scope,)) else where


def _by_rank(
    name: str,
    routed: Routed,
    k: int,
    store: Store,
    request: SearchRequest,
    weights: Mapping[str, float],
) -> Ranking:
    def order(candidates: Sequence[Candidate]) -> list[Hit]:
        return fuse(candidates, weights)

    return search(name, routed, k, order, store=store, request=request)
