"""The default system: the question's own words and its likely scopes guide a search.

Vector search and full text over the whole collection in one statement, fused by score; the scopes
that the best candidates come from lift their chunks a little; what the question says for certain
narrows the search, what it says with less certainty lifts; a section that it names comes first; and
what the best passages refer to is brought in behind them. See eval/LOG.md for what each part gains.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from graph.model import Candidate, Holding, Passage, Query, Ranking, Route, SearchRequest
from graph.ports import Embedder, Store
from router.addresses import Address
from router.fuse import mixed, ordered
from router.prior import log_prior
from router.references import EACH, HEAD, interleaved, weighed
from router.retrieve import Clock, Guidance, Routed, check, embed_only, length
from router.route import MIXED_SHARPNESS, shares
from router.understand import understand

PRIOR_WEIGHT = 0.04
"""Of the log probability of a candidate's scope, beside a cosine."""

WISH_WEIGHT = 0.05
"""Of a series, edition, year or scope that the question seems to name, beside a cosine."""

CURRENT_WEIGHT = 0.02
"""Of being in force: editions repeat each other with small changes, and the newest is meant."""

ADDRESS_WEIGHT = 2.0
"""Of standing in a section that the question names: more than any other difference."""


def understood(
    query: Query, *, embedder: Embedder, holdings: Callable[[Query], Sequence[Holding]]
) -> Routed:
    """Understand the question by its embedding and by what it says.

    Args:
        query: The question.
        embedder: The one that embedded the chunks.
        holdings: Tells which series, editions and years the caller may see.
    """
    routed = embed_only(query, embedder=embedder)
    clock = Clock()
    guidance = understand(query.text, holdings(query))
    clock.lap("understand")
    timings_ms = {**routed.timings_ms, **clock.timings_ms}
    return replace(routed, guidance=guidance, timings_ms=timings_ms)


def guided(routed: Routed, k: int, *, store: Store) -> Ranking:
    """Search everything, guided by what the question says and where its candidates come from."""
    check(routed.query, k)
    guidance = routed.guidance or Guidance()
    clock = Clock()
    candidates, missing = _candidates(routed, guidance, k, store)
    clock.lap("search")
    base = mixed(candidates)
    routes = vote_of_candidates(candidates, base)
    hits = ordered(candidates, guided_scores(candidates, base, routes, guidance))
    clock.lap("fuse")
    if k > HEAD and hits and routed.vector is not None:
        names = weighed(hits, routed.query.text)
        if names:
            referred = store.referred(names, routed.vector, routed.query.filter, EACH)
            hits = interleaved(hits, referred, names, k)
        clock.lap("references")
    timings_ms = {**routed.timings_ms, **clock.timings_ms}
    reasons = (*guidance.reasons, *missing)
    return Ranking(routed.query, "guided", tuple(hits[:k]), routes, timings_ms, reasons=reasons)


def vote_of_candidates(
    candidates: Sequence[Candidate], scores: Sequence[float]
) -> tuple[Route, ...]:
    """Let each scope's best candidate vote with its mixed score; needs no labels.

    One vote a scope, or a large scope, and copies of a passage in many editions, would outvote the
    others.
    """
    best: dict[str, float] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        scope = candidate.passage.scope
        best[scope] = max(score, best.get(scope, score))
    return shares(best.items(), MIXED_SHARPNESS)


def guided_scores(
    candidates: Sequence[Candidate],
    base: Sequence[float],
    routes: Sequence[Route],
    guidance: Guidance,
) -> list[float]:
    """Return base + prior of the scope + what the question asks for, candidate by candidate."""
    priors = log_prior(candidates, routes)
    return [
        score
        + PRIOR_WEIGHT * prior
        + WISH_WEIGHT * granted(candidate.passage, guidance)
        + CURRENT_WEIGHT * candidate.passage.is_current
        + ADDRESS_WEIGHT * ("address" in candidate.lists)
        for candidate, score, prior in zip(candidates, base, priors, strict=True)
    ]


def granted(passage: Passage, guidance: Guidance) -> int:
    """Return how many of the question's wishes a passage grants."""
    own = {
        "scope": passage.scope,
        "series": passage.series,
        "edition": passage.edition,
        "year": None if passage.year is None else str(passage.year),
    }
    return sum(own.get(field) == value for field, value in guidance.wishes)


def _candidates(
    routed: Routed, guidance: Guidance, k: int, store: Store
) -> tuple[Sequence[Candidate], list[str]]:
    """Search as narrowly as the question says; where that finds nothing, as the caller says.

    What the question asks for and the collection does not have is told in plain words.
    """
    where = guidance.narrowed(routed.query.filter)
    request = SearchRequest(
        where,
        length(k),
        routed.vector,
        text=routed.query.text,
        addresses=guidance.addresses,
    )
    found = store.search(request)
    asked, missing = ", ".join(guidance.addresses), list[str]()
    for numbers in _coarser(guidance.addresses):
        if _at_address(found):
            break
        found = store.search(replace(request, addresses=numbers))
        if _at_address(found):
            missing.append(f"{asked} was not found: {', '.join(numbers)} above it comes first")
    if asked and not _at_address(found):
        missing.append(f"{asked} was not found: no section has that number or name")
    if not found and where != routed.query.filter:
        found = store.search(replace(request, filter=routed.query.filter))
        missing.append("nothing was found there: everything was searched")
    return found, missing


def _at_address(candidates: Sequence[Candidate]) -> bool:
    return any("address" in candidate.lists for candidate in candidates)


def _coarser(numbers: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the sections above those asked for, one level after the other."""
    levels = [Address(number).coarser for number in numbers]
    deepest = max(map(len, levels), default=0)
    return [tuple(up[n] for up in levels if n < len(up)) for n in range(deepest)]
