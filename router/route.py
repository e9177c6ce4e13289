"""Routers: which scopes does a question belong to, and how sure is that?

A router returns scopes with probabilities, most likely first, and nothing where it cannot tell.
Those here need no training; `router.learned` has those that do.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from graph.model import Holding, Query, Route, Vector
from graph.ports import Router, Store

NEIGHBOURS = 50
"""Chunks that vote."""

COSINE_SHARPNESS = 40.0
"""A chunk votes with exp(40 cosine). On 618 questions over 15 scopes that names the right scope
first in 92%; votes that all count the same, in 46%, as small scopes are outvoted."""

MIXED_SHARPNESS = 20.0
"""The same for the best mix of cosine and full text (`router.fuse.mixed`) in each scope, which
varies more: 97%."""

UNSURE = 0.5
"""A router that commits to one scope does so from this probability on, and else to none."""

Complete = Callable[[str], str]
"""Sends a prompt to a chat model and returns what it says."""


def shares(votes: Iterable[tuple[str, float]], sharpness: float) -> tuple[Route, ...]:
    """Turn scored votes into probabilities: each scope's share of exp(sharpness x score)."""
    pairs = list(votes)
    if not pairs:
        return ()
    highest = max(score for _, score in pairs)
    weights: defaultdict[str, float] = defaultdict(float)
    for scope, score in pairs:
        weights[scope] += math.exp(sharpness * (score - highest))
    total = sum(weights.values())
    return ranked({scope: weight / total for scope, weight in weights.items()})


def ranked(probabilities: Mapping[str, float]) -> tuple[Route, ...]:
    """Order scopes by probability, equal ones by name."""
    pairs = sorted(probabilities.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Route(scope, probability) for scope, probability in pairs)


def vote(query: Query, vector: Vector, *, store: Store) -> tuple[Route, ...]:
    """Let the nearest chunks vote for their scopes; needs no labels and no training.

    The question's own filter applies, so a scope that the caller may not see gets no vote. An empty
    graph gives no routes.
    """
    nearest = store.nearest_scopes(vector, query.filter, NEIGHBOURS)
    return shares(((scope, 2 * score - 1) for scope, score in nearest), COSINE_SHARPNESS)


def by_patterns(
    query: Query, vector: Vector, *, patterns: Callable[[Query], Mapping[str, re.Pattern[str]]]
) -> tuple[Route, ...]:
    """Match the question against each scope's pattern: R0 of the dilution paper, appendix A6.1.

    The scope of which most is matched wins, and gets probability 1, as a rule does not doubt.
    """
    found = {
        scope: sum(len(match.group()) for match in pattern.finditer(query.text))
        for scope, pattern in patterns(query).items()
    }
    best = max(found.values(), default=0)
    first = [scope for scope, length in sorted(found.items()) if length == best]
    return (Route(first[0], 1.0),) if best > 0 and len(first) == 1 else ()


def name_patterns(holdings: Sequence[Holding]) -> dict[str, re.Pattern[str]]:
    """Make a pattern for each scope from its own name and the names of its series.

    A series that several scopes share tells nothing and is left out.
    """
    scopes_of: defaultdict[str, set[str]] = defaultdict(set)
    for holding in holdings:
        scopes_of[holding.scope].add(holding.scope)
        if holding.series:
            scopes_of[holding.series].add(holding.scope)
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name, scopes in scopes_of.items():
        if len(scopes) == 1:
            names[next(iter(scopes))].append(name)
    return {
        scope: re.compile("|".join(sorted(map(_name_pattern, found))), re.IGNORECASE)
        for scope, found in names.items()
    }


def by_model(
    query: Query,
    vector: Vector,
    *,
    complete: Complete,
    holdings: Callable[[Query], Sequence[Holding]],
) -> tuple[Route, ...]:
    """Let a chat model name the scope, at most two calls: a reply that names none is asked again.

    Raises:
        ModelError: The chat model failed.
    """
    offered = _described(holdings(query))
    if not offered:
        return ()
    lines = "\n".join(f"- {scope}: {series}" for scope, series in offered.items())
    prompt = (
        "Which collection of documents answers the question? Reply with its name alone, exactly as "
        "it is listed, or with NONE if several do or you cannot tell.\n\n"
        f"Collections:\n{lines}\n- NONE\n\nQuestion: {query.text}\nCollection:"
    )
    for _ in range(2):
        named = complete(prompt).strip().partition("\n")[0].strip("\"'`.- ")
        if named.upper() == "NONE":
            return ()
        for scope in offered:
            if named.lower() == scope.lower():
                return (Route(scope, 1.0),)
    return ()


def first_sure(query: Query, vector: Vector, *, routers: Sequence[Router]) -> tuple[Route, ...]:
    """Return what the first of several routers says that can decide."""
    for router in routers:
        if routes := router(query, vector):
            return routes
    return ()


def _name_pattern(name: str) -> str:
    words = [re.escape(word) for word in re.split(r"[\W_]+", name) if word]
    # "WTD" also in "36 WTD 164", "federal-pki-policy" also as "federal PKI policy".
    spaced = r"[\W_]+".join(words)
    return rf"\b{spaced}\b" if words else r"(?!)"


def _described(holdings: Sequence[Holding]) -> dict[str, str]:
    series: defaultdict[str, set[str]] = defaultdict(set)
    for holding in holdings:
        series[holding.scope] |= {holding.series} if holding.series else set()
    return {scope: ", ".join(sorted(names)[:8]) or scope for scope, names in sorted(series.items())}
