"""Chooses, among lines that may be numbered headings, those whose numbers form an outline.

Numbers of headings grow: after 4.1 comes 4.1.1 or 4.2 or 5, hardly ever 3 or 97. The heaviest
growing sequence is kept (a longest increasing subsequence with weights); list items that restart
at 1, figures and years fall out of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Key = tuple[int, ...]
"""A number by its parts: "401.4-2(b)" is (401, 4, 2, 2)."""

_WINDOW = 300
"""How many candidates back a predecessor is looked for."""
_EXACT, _NEAR, _WIDE = 0.5, 0.0, -1.2
_RESTART = 0.3
_FEWEST_UNBROKEN, _UNBROKEN_SHARE = 3, 0.8


@dataclass(frozen=True, slots=True)
class Candidate:
    """One line that may be a heading."""

    key: Key
    segment: int
    """How many headings of a higher kind come before it; numbers may restart in a new one."""
    weight: float
    """How much it looks like a heading; 1 where nothing but the line itself is known."""


def in_order(candidates: Sequence[Candidate], any_gap: bool = False) -> list[int]:
    """Return the indexes of the candidates that form the best outline, ascending.

    Args:
        candidates: In document order.
        any_gap: Whether numbers may jump, as those of "SECTION 109", "SECTION 201" do.
    """
    scores: list[float] = []
    previous: list[int | None] = []
    for index, candidate in enumerate(candidates):
        best, best_at = _first_score(candidate, any_gap), None
        for at in range(index - 1, max(-1, index - 1 - _WINDOW), -1):
            if scores[at] + _EXACT <= best:  # nothing gives more
                continue
            step = _step(candidates[at], candidate, any_gap)
            if step is not None and scores[at] + step > best:
                best, best_at = scores[at] + step, at
        scores.append(best + candidate.weight)
        previous.append(best_at)
    chain = _backtrack(scores, previous)
    return chain if any_gap else _without_strays(candidates, chain)


def unbroken_depths(candidates: Sequence[Candidate]) -> set[int]:
    """Return the lengths of keys at which the candidates' outline has hardly a gap."""
    chain = in_order(candidates)
    steps: dict[int, list[bool]] = {}
    for before, after in pairwise([None, *chain]):
        if after is None:
            continue
        key = candidates[after].key
        value = _EXACT if is_start(key) else _NEAR
        if before is not None:
            value = _step(candidates[before], candidates[after], any_gap=False) or _NEAR
        steps.setdefault(len(key), []).append(value > _NEAR)
    return {
        depth
        for depth, exact in steps.items()
        if len(exact) >= _FEWEST_UNBROKEN and sum(exact) >= len(exact) * _UNBROKEN_SHARE
    }


def _first_score(candidate: Candidate, any_gap: bool) -> float:
    if any_gap or is_start(candidate.key):
        return _RESTART
    return _WIDE / 2


def _step(before: Candidate, after: Candidate, any_gap: bool) -> float | None:
    """Value of putting one heading behind another; None where numbers would not grow."""
    restart = _RESTART if before.segment != after.segment and is_start(after.key) else None
    if after.key <= before.key:
        return restart
    growth = _growth(before.key, after.key)
    if any_gap:
        growth = max(growth, _NEAR)
    return growth if restart is None else max(growth, restart)


def _growth(before: Key, after: Key) -> float:
    same = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before)
    )
    if same == len(before):  # a subsection, the first of which is .0 or .1
        if after[same] > 1:
            return _WIDE
        step, deeper = after[same], after[same + 1 :]
    else:
        step, deeper = after[same] - before[same], after[same + 1 :]
    if step <= 1 and not deeper:
        return _EXACT
    if max(deeper, default=0) > 3:
        return _WIDE
    if step <= 3 or (len(after) > 1 and (step <= 20 or max(deeper, default=9) <= 1)):
        return _NEAR
    return _WIDE


def is_start(key: Key) -> bool:
    """Tell whether an outline may begin with this number."""
    return max(key) <= 1 or (len(key) > 1 and max(key[1:]) <= 1)


def _backtrack(scores: list[float], previous: list[int | None]) -> list[int]:
    at = max(range(len(scores)), key=scores.__getitem__) if scores else None
    chain: list[int] = []
    while at is not None:
        chain.append(at)
        at = previous[at]
    return chain[::-1]


def _without_strays(candidates: Sequence[Candidate], chain: list[int]) -> list[int]:
    """Drop headings that fit neither to the one before nor to the one after."""

    def fits(left: int, right: int) -> bool:
        step = _step(candidates[left], candidates[right], any_gap=False)
        return step is not None and step > _WIDE

    return [
        at
        for i, at in enumerate(chain)
        if (i > 0 and fits(chain[i - 1], at)) or (i + 1 < len(chain) and fits(at, chain[i + 1]))
    ]
