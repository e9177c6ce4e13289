"""Retrieval systems: a question in, ranked chunks out.

A system works in two steps that a person can look at: `route` understands the question, `retrieve`
fetches and orders the chunks. `app.wiring` binds the collaborators; evaluation and agents call the
system, or its steps.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from graph.errors import UsageError
from graph.model import Query, Ranking, Route, SearchRequest, Vector
from graph.ports import Embedder, Router, Store
from router.fuse import fuse

MAX_QUESTION = 10_000
"""Characters; a longer text is a document, not a question, and no encoder reads it whole."""

TOP_SCOPES = 2
"""Scopes that get a list of their own, as in the dilution paper, section 4."""

SCOPED_SHARE = 0.25
"""Part of the vector evidence's weight that goes to the scoped lists when the router is certain.
Chosen on the samples' questions (hit@1 .71, against .69 without scopes and .51 at 1.0); see
eval/LOG.md."""


@dataclass(frozen=True, slots=True)
class Routed:
    """A question that has been understood, but not yet answered."""

    query: Query
    vector: Vector | None = None
    """Embedding of the question; None for a system that does not need it."""
    routes: tuple[Route, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class System:
    """A retrieval system by name, `graph.ports.Retriever` when called."""

    name: str
    route: Callable[[Query], Routed]
    retrieve: Callable[[Routed, int], Ranking]

    def __call__(self, query: Query, k: int) -> Ranking:
        """Return at most k hits, best first.

        Raises:
            UsageError: The question is empty or too long, or k is below 1.
        """
        return self.retrieve(self.route(query), k)


def check(query: Query, k: int) -> None:
    """Refuse what cannot be answered, before anything is asked of the graph.

    Raises:
        UsageError: The question holds no letter or digit or is too long, or k is below 1.
    """
    if not any(character.isalnum() for character in query.text):
        raise UsageError('The question is empty. Ask one, such as milepost ask "Who may …?"')
    if len(query.text) > MAX_QUESTION:
        raise UsageError(
            f"The question has {len(query.text):,} characters; {MAX_QUESTION:,} is the limit. "
            "Ask for the point, and ingest the text as a document if it is one."
        )
    if k < 1:
        raise UsageError(f"k is {k}; ask for at least 1 result.")


def embed_only(query: Query, *, embedder: Embedder) -> Routed:
    """Understand the question by its embedding alone."""
    check(query, 1)
    clock = _Clock()
    vector = embedder.embed_query(query.text)
    clock.lap("embed")
    return Routed(query, vector, timings_ms=clock.timings_ms)


def embed_and_route(query: Query, *, embedder: Embedder, router: Router) -> Routed:
    """Understand the question by its embedding and its likely scopes."""
    check(query, 1)
    clock = _Clock()
    vector = embedder.embed_query(query.text)
    clock.lap("embed")
    routes = router(query, vector)
    clock.lap("route")
    return Routed(query, vector, routes, clock.timings_ms)


def monolithic(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Vector search over everything: the baseline that dilution hurts."""
    return _search("monolithic", routed, k, store, weights={"global": 1.0})


def hybrid(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Vector search and full text over everything, fused by rank."""
    return _search("hybrid", routed, k, store, weights={"global": 1.0, "fulltext": 1.0})


def soft_scoped(routed: Routed, k: int, *, store: Store, top: int = TOP_SCOPES) -> Ranking:
    """Search the likely scopes beside everything, each scope weighted by its probability.

    The dilution paper (section 4) gives every list the same weight, so a router that errs outvotes
    the global list. Here the scoped lists take over a share of the global list's weight, as large
    as the router is sure: a wrong route costs rank, never the answer, and a question that belongs
    nowhere is searched globally.
    """
    likely = {f"scope:{route.scope}": route.probability for route in routed.routes[:top]}
    weights = {name: SCOPED_SHARE * probability for name, probability in likely.items()}
    weights |= {"global": 1.0 - sum(weights.values()), "fulltext": 1.0}
    return _search("soft_scoped", routed, k, store, weights=weights)


def _search(
    name: str, routed: Routed, k: int, store: Store, *, weights: Mapping[str, float]
) -> Ranking:
    check(routed.query, k)
    clock = _Clock()
    request = SearchRequest(
        filter=routed.query.filter,
        limit=max(30, 2 * k),
        vector=routed.vector,
        scopes=tuple(name.removeprefix("scope:") for name in weights if name.startswith("scope:")),
        text=routed.query.text if "fulltext" in weights else "",
    )
    candidates = store.search(request)
    clock.lap("search")
    hits = fuse(candidates, weights)[:k]
    clock.lap("fuse")
    timings_ms = {**routed.timings_ms, **clock.timings_ms}
    return Ranking(routed.query, name, tuple(hits), routed.routes, timings_ms)


class _Clock:
    """Wall-clock time by stage."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.timings_ms[stage] = round((now - self._last) * 1000, 3)
        self._last = now
