"""What routers must know of a collection, read from the graph and remembered for a short while."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from re import Pattern
from typing import TypeVar

import numpy as np

from graph.errors import RouterMismatch
from graph.model import Holding, Query, Route, TrainedRouter, Vector
from graph.ports import Store
from router.learned import (
    LinearRouter,
    TfidfRouter,
    centroids,
    fingerprint,
    require_fresh,
    unpack_linear,
    unpack_tfidf,
)
from router.route import name_patterns

SECONDS = 60.0
"""After so long, what was ingested or trained meanwhile is known."""

NOWHERE = LinearRouter((), np.empty((0, 0), np.float32), np.empty(0, np.float32))
"""The router of a collection without scopes."""

_T = TypeVar("_T")


class Facts:
    """Holdings and routers by collection; what a caller may not see is left out of every answer."""

    def __init__(
        self, store: Store, embedder: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Remember nothing yet.

        Args:
            store: The graph.
            embedder: Fingerprint of the embedder that embeds the questions.
            clock: Seconds; for tests.
        """
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._known: dict[tuple[str, ...], tuple[float, object]] = {}

    def holdings(self, query: Query) -> Sequence[Holding]:
        """Return which scopes, series, editions and years the caller may see."""
        where = query.filter
        seen = replace(where, scopes=(), series=None, edition=None, year=None, as_of=None)
        key = ("holdings", where.collection, *sorted(where.audiences), str(where.current_only))
        return self._remember(key, lambda: self._store.holdings(seen))

    def patterns(self, query: Query) -> Mapping[str, Pattern[str]]:
        """Return a pattern for each scope that the caller may see, from its names."""
        where = query.filter
        key = ("patterns", where.collection, *sorted(where.audiences), str(where.current_only))
        found = self._remember(key, lambda: name_patterns(self.holdings(query)))
        allowed = self._allowed(query)
        return {scope: pattern for scope, pattern in found.items() if scope in allowed}

    def centroid(self, query: Query, vector: Vector) -> tuple[Route, ...]:
        """Route by the nearest scope centroid; computed from the chunks, so nothing to train."""
        collection = query.filter.collection
        router = self._remember(("centroid", collection), lambda: self._centroids(collection))
        return self._visible(query, router.routes(vector)) if router.scopes else ()

    def probe(self, query: Query, vector: Vector) -> tuple[Route, ...]:
        """Route by the trained probe on the question's embedding.

        Raises:
            RouterMismatch: It was never trained, or for other scopes or another embedder.
        """
        collection = query.filter.collection
        router: LinearRouter = self._remember(
            ("probe", collection), lambda: unpack_linear(self._trained(collection, "probe").weights)
        )
        return self._visible(query, router.routes(vector))

    def tfidf(self, query: Query, vector: Vector) -> tuple[Route, ...]:
        """Route by the trained words and pairs of words.

        Raises:
            RouterMismatch: It was never trained, or for other scopes or another embedder.
        """
        collection = query.filter.collection
        router: TfidfRouter = self._remember(
            ("tfidf", collection), lambda: unpack_tfidf(self._trained(collection, "tfidf").weights)
        )
        return self._visible(query, router.routes(query.text))

    def _trained(self, collection: str, name: str) -> TrainedRouter:
        found = self._store.read_router(collection, name)
        if found is None:
            raise RouterMismatch(
                f"The router {name!r} was not trained for collection {collection!r}. Run `milepost "
                f"scopes train --collection {collection}`."
            )
        require_fresh(found, fingerprint(self._embedder, self._store.scope_names(collection)))
        return found

    def _centroids(self, collection: str) -> LinearRouter:
        sums: dict[str, Vector] = {}
        for batch in self._store.chunks(collection):
            for scope, vector in zip(batch.scopes, batch.vectors, strict=True):
                sums[scope] = sums[scope] + vector if scope in sums else vector
        if not sums:
            return NOWHERE
        scopes = sorted(sums)
        return centroids(scopes, np.stack([sums[scope] for scope in scopes]))

    def _visible(self, query: Query, routes: Sequence[Route]) -> tuple[Route, ...]:
        allowed = self._allowed(query)
        return tuple(route for route in routes if route.scope in allowed)

    def _allowed(self, query: Query) -> set[str]:
        seen = {holding.scope for holding in self.holdings(query)}
        return seen & set(query.filter.scopes) if query.filter.scopes else seen

    def _remember(self, key: tuple[str, ...], read: Callable[[], _T]) -> _T:
        now = self._clock()
        known = self._known.get(key)
        if known is None or known[0] < now:
            known = (now + SECONDS, read())
            self._known[key] = known
        return known[1]  # pyright: ignore[reportReturnType]  # a key names one kind of value
