"""Retrieval systems: a question in, ranked chunks out.

A system works in two steps that a person can look at: `route` understands the question, `retrieve`
fetches and orders the chunks. `app.wiring` binds the collaborators; evaluation and agents call the
system, or its steps. The systems of the dilution paper are in `router.systems`, the default in
`router.guided`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graph.errors import UsageError
from graph.model import Candidate, Filter, Hit, Query, Ranking, Route, SearchRequest, Vector
from graph.ports import Embedder, Router, Store

MAX_QUESTION = 10_000
"""Characters; a longer text is a document, not a question, and no encoder reads it whole."""

LIST_LENGTH = 50
"""Of each list that is fused; longer where more hits are asked for. On the development halves 50 is
level with 30 or better, and 100 no better than 50."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What the question itself says about where its answer stands.

    Nothing here can widen what a caller may see: that is the filter's part.
    """

    series: str | None = None
    """Said for certain, as are edition and year: only these are searched."""
    edition: str | None = None
    year: int | None = None
    as_of: int | None = None
    current_only: bool = False
    addresses: tuple[str, ...] = ()
    """Numbers of sections that it names."""
    wishes: tuple[tuple[str, str], ...] = ()
    """What it says with less certainty: pairs of "scope", "series", "edition" or "year" and value.
    """
    reasons: tuple[str, ...] = ()
    """What was understood, in plain words."""

    def narrowed(self, where: Filter) -> Filter:
        """Return the caller's filter with what the question says; what the caller set stays."""
        if None not in (self.series, where.series) and self.series != where.series:
            return where  # an edition or year of another series says nothing about this one
        return replace(
            where,
            series=where.series or self.series,
            edition=where.edition or self.edition,
            year=self.year if where.year is None else where.year,
            as_of=self.as_of if where.as_of is None else where.as_of,
            current_only=where.current_only or self.current_only,
        )


@dataclass(frozen=True, slots=True)
class Routed:
    """A question that has been understood, but not yet answered."""

    query: Query
    vector: Vector | None = None
    """Embedding of the question; None for a system that does not need it."""
    routes: tuple[Route, ...] = ()
    guidance: Guidance | None = None
    """None for a system that does not look at what the question says."""
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


class Clock:
    """Wall-clock time by stage."""

    def __init__(self) -> None:
        self.timings_ms: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Book the time since the last call to a stage."""
        now = time.perf_counter()
        spent = self.timings_ms.get(stage, 0.0) + (now - self._last) * 1000
        self.timings_ms[stage] = round(spent, 3)
        self._last = now


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


def as_it_is(query: Query) -> Routed:
    """Take the question as it is: for full text alone."""
    check(query, 1)
    return Routed(query)


def embed_only(query: Query, *, embedder: Embedder) -> Routed:
    """Understand the question by its embedding alone."""
    check(query, 1)
    clock = Clock()
    vector = embedder.embed_query(query.text)
    clock.lap("embed")
    return Routed(query, vector, timings_ms=clock.timings_ms)


def embed_and_route(query: Query, *, embedder: Embedder, router: Router) -> Routed:
    """Understand the question by its embedding and its likely scopes."""
    routed = embed_only(query, embedder=embedder)
    clock = Clock()
    assert routed.vector is not None
    routes = router(query, routed.vector)
    clock.lap("route")
    return replace(routed, routes=routes, timings_ms={**routed.timings_ms, **clock.timings_ms})


def search(
    name: str,
    routed: Routed,
    k: int,
    order: Callable[[Sequence[Candidate]], list[Hit]],
    *,
    store: Store,
    request: SearchRequest,
) -> Ranking:
    """Fetch the lists that a request asks for in one round trip, and order what they found.

    Args:
        name: Of the system.
        routed: The question.
        k: Hits wanted.
        order: Puts candidates in their final order.
        store: Where to search.
        request: Which lists.

    Raises:
        UsageError: k is below 1.
    """
    check(routed.query, k)
    clock = Clock()
    candidates = store.search(request)
    clock.lap("search")
    hits = order(candidates)[:k]
    clock.lap("fuse")
    timings_ms = {**routed.timings_ms, **clock.timings_ms}
    return Ranking(routed.query, name, tuple(hits), routed.routes, timings_ms)


def length(k: int) -> int:
    """Return how long each list is when k hits are wanted."""
    return max(LIST_LENGTH, 2 * k)
