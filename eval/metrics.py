"""Retrieval metrics, question by question, from ranked ids and graded relevance.

P, R, nDCG and RR are trec_eval's, through ir-measures: P@k divides by k even where fewer hits came,
and nDCG takes the grade as gain and 1 / log2(rank + 1) as discount. Information efficiency is
IE@k = P@k x R@k (MCompassRAG, section 4.1).

An id that comes twice counts once, at its first place, before the cut at k. A question without
anything relevant has no score: it is left out, and counted by who calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures
from ir_measures import RR, P, R, nDCG

CUTOFFS = (1, 3, 5, 10)

Scores = dict[str, float]
"""By measure, such as "P@3"; each in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """What is relevant to one question; every id with a grade holds at least one gold place."""

    grades: Mapping[str, int]
    """By id, at least 1; what is not in it is not relevant."""
    places: tuple[frozenset[str], ...]
    """For each gold place, the ids that hold it; one that nothing holds is empty."""


def score(
    rankings: Mapping[str, Sequence[str]],
    relevance: Mapping[str, Relevance],
    cutoffs: Sequence[int] = CUTOFFS,
) -> dict[str, Scores]:
    """Score one system on each question that has something relevant.

    Beside P, R, IE and nDCG at each cutoff there are "MRR@k", the reciprocal rank of the first
    relevant hit up to the last cutoff, and "Found@k", the share of the gold places that a hit up
    to k holds: with gold documents, the dilution paper's recall of answer-bearing documents.

    Args:
        rankings: By question, ids with the best first. A question without ranking scores 0.
        relevance: By question.
        cutoffs: Ascending, each at least 1.
    """
    judged = {question: found for question, found in relevance.items() if found.grades}
    ranked = {question: _distinct(rankings.get(question, ())) for question in judged}
    scores = {question: Scores() for question in judged}
    measures = [measure @ k for k in cutoffs for measure in (P, R, nDCG)] + [RR @ cutoffs[-1]]
    names = {measure: str(measure).replace("RR", "MRR") for measure in measures}
    # Ranks as scores: trec_eval sorts by score, and orders equal ones by id.
    runs = {q: {id: -float(rank) for rank, id in enumerate(ids)} for q, ids in ranked.items()}
    grades = {question: dict(found.grades) for question, found in judged.items()}
    for value in ir_measures.iter_calc(measures, grades, runs):
        scores[value.query_id][names[value.measure]] = float(value.value)
    for question, found in judged.items():
        for k in cutoffs:
            one = scores[question]
            one[f"IE@{k}"] = one[f"P@{k}"] * one[f"R@{k}"]
            one[f"Found@{k}"] = _found_share(ranked[question][:k], found.places)
    return scores


def ideal(found: Relevance) -> list[str]:
    """Rank all that is relevant first: the ceiling of every measure.

    The highest grade comes first; of equal grades, one id of each gold place before the second of
    any, so that as many places as possible are found early.
    """
    turns: dict[str, int] = {}
    for place in found.places:
        for turn, id in enumerate(sorted(place)):
            turns[id] = min(turn, turns.get(id, turn))
    return sorted(found.grades, key=lambda id: (-found.grades[id], turns[id], id))


def means(scores: Mapping[str, Scores]) -> Scores:
    """Average each measure over the questions.

    Information efficiency comes twice: "IE@k" is the mean of P x R, and "PxR@k" the product of
    mean P and mean R, which is what papers seem to print. Empty for no questions.
    """
    names = next(iter(scores.values()), Scores())
    averages = {name: sum(one[name] for one in scores.values()) / len(scores) for name in names}
    for name in names:
        if name.startswith("IE@"):
            k = name.removeprefix("IE@")
            averages[f"PxR@{k}"] = averages[f"P@{k}"] * averages[f"R@{k}"]
    return averages


def _distinct(ids: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ids))


def _found_share(ids: Sequence[str], places: Sequence[frozenset[str]]) -> float:
    return sum(not place.isdisjoint(ids) for place in places) / len(places)
