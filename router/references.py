"""References: what the best passages name, such as "RCW 82.04.050", "36 WTD 164" or "12 CFR 1003".

A determination names the statutes that it rests on; a question that finds the one asks for the
others, too, though they share few of its words and are drowned by the longer series.
"""

import re
from collections.abc import Mapping, Sequence

from graph.fold import fold
from graph.model import Candidate, Hit

HEAD = 3
"""First places that references never take."""

PASSAGES = 5
"""Best passages whose references are followed."""

EACH = 2
"""Chunks of each document referred to."""

FOLLOWED = 12
"""References at most, those named most often and by the best passages first."""

# Volume, series, page, as in "36 WTD 164"; or series and number, as in "RCW 82.04.050".
_REFERENCE = re.compile(
    r"\b\d{1,3} (?!(?:OF|TO|OR|AND|BY|IN|AT|ON|FROM|AM|PM) )[A-Z]{2,6} \d{1,5}(?:\.\d{1,5})?\b"
    r"|\b[A-Z]{2,6} \d{1,5}[A-Z]?(?:[.\-]\d{1,5}[A-Z]?)+\b"
)


def references(text: str) -> list[str]:
    """Return what a text refers to, each once, in order, with single spaces and plain dashes.

    A designation is an acronym with a number of two parts or more, or between two numbers. A bare
    number or "Section 5" is none: what it means depends on where it stands.
    """
    flat = " ".join(fold(text).replace("§", " ").split())
    return list(dict.fromkeys(match.group() for match in _REFERENCE.finditer(flat)))


def weighed(hits: Sequence[Hit], question: str) -> list[str]:
    """Return what the best passages and the question refer to, the weightiest first.

    A reference of the passage at rank r weighs 1 / r, one of the question 2. What a passage's own
    heading names is no reference.
    """
    weights = dict.fromkeys(references(question), 2.0)
    for rank, hit in enumerate(hits[:PASSAGES], start=1):
        own = set(references(hit.passage.heading))
        for name in references(hit.passage.text):
            if name not in own:
                weights[name] = weights.get(name, 0.0) + 1 / rank
    ranked = sorted(weights, key=lambda name: (-weights[name], name))
    return ranked[:FOLLOWED]


def interleaved(
    hits: Sequence[Hit], referred: Sequence[Candidate], names: Sequence[str], k: int
) -> list[Hit]:
    """Place what was referred to behind the first hits, in turn with the others.

    The first `HEAD` places stay as they are. Of the references, the best chunk of each comes before
    the second of any.

    Args:
        hits: Best first.
        referred: Found by `graph.ports.Store.referred`.
        names: The references, weightiest first.
        k: Hits wanted.
    """
    places = {f"reference:{name}": place for place, name in enumerate(names)}
    order = sorted(referred, key=lambda candidate: _turn(candidate, places))
    shown = {hit.passage.chunk_id for hit in hits[:HEAD]}
    merged, main = list(hits[:HEAD]), list(hits[HEAD:])
    waiting = [candidate for candidate in order if candidate.passage.chunk_id not in shown]
    while len(merged) < k and (main or waiting):
        if waiting:
            candidate = waiting.pop(0)
            score = merged[-1].score if merged else 0.0
            merged.append(Hit(candidate.passage, candidate.lists, score))
            main = [hit for hit in main if hit.passage.chunk_id != candidate.passage.chunk_id]
        if main and len(merged) < k:
            merged.append(main.pop(0))
    return merged


def _turn(candidate: Candidate, places: Mapping[str, int]) -> tuple[int, int, str]:
    rank, place = min(
        (entry.rank, places.get(name, len(places))) for name, entry in candidate.lists.items()
    )
    return rank, place, candidate.passage.chunk_id
