"""Tables from results: each system's means with intervals, and differences with significance."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.metrics import means
from eval.results import WITHOUT_EMBEDDING, QuestionScores, Results
from eval.stats import Comparison, Estimate, compare, estimate, holm
from graph.errors import UsageError

CEILING = "ceiling"
TABLE_MEASURES = ("P@1", "P@3", "P@10", "R@10", "IE@3", "PxR@3", "nDCG@10", "Route@1")
COMPARED_MEASURES = ("P@10", "R@10", "IE@3")
"""Few, as each comparison more makes Holm's correction stricter for all."""


@dataclass(frozen=True, slots=True)
class Line:
    """One system in a table."""

    system: str
    """With the name of its file where several files have it."""
    estimates: Mapping[str, Estimate]
    """By measure; without those that the system cannot have, such as Route@1 without a router."""
    milliseconds: float | None
    """Median wait beside embedding the question, which is alike for all; None for the ceiling."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One system against the baseline, by one measure."""

    system: str
    measure: str
    baseline: float | None
    """Mean of the baseline on the same questions; None for none."""
    comparison: Comparison
    corrected_p: float | None
    """Holm's correction over all differences of the table; None where there is no p."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One system's scores, wherever they were read from."""

    scores: Mapping[str, QuestionScores]
    milliseconds: float | None


def table(files: Mapping[Path, Results], measures: Sequence[str] = ()) -> list[Line]:
    """Return a line for each system and one for the ceiling.

    Args:
        files: Results by the file that they were read from; all of one set and level.
        measures: Which; empty means the usual ones and those of routing.

    Raises:
        UsageError: The files do not belong together, or a measure is unknown.
    """
    runs = _runs(files)
    seed = next(iter(files.values())).seed
    known = _known_measures(runs, measures)
    shown = list(measures) or [measure for measure in TABLE_MEASURES if measure in known]
    return [
        Line(name, _estimates(run.scores, shown, seed), run.milliseconds)
        for name, run in runs.items()
    ]


def significance(
    files: Mapping[Path, Results], baseline: str, measures: Sequence[str] = ()
) -> list[Difference]:
    """Compare each system with the baseline, on the questions that both have.

    Raises:
        UsageError: The baseline is not among the results, or a measure is unknown or has no score
            for single questions.
    """
    runs = _runs(files)
    del runs[CEILING]
    if any(measure.startswith("PxR@") for measure in measures):
        raise UsageError("PxR has no value for a single question. Compare IE instead.")
    if baseline not in runs:
        raise UsageError(f"There is no system {baseline!r}. The systems are {', '.join(runs)}.")
    seed = next(iter(files.values())).seed
    of = runs.pop(baseline)
    known = _known_measures(runs, measures)
    shown = list(measures) or [measure for measure in COMPARED_MEASURES if measure in known]
    found = [
        (name, measure, *_paired(of.scores, run.scores, measure, seed))
        for measure in shown
        for name, run in runs.items()
    ]
    corrected = holm([comparison.p for *_, comparison in found])
    return [
        Difference(name, measure, mean, comparison, p)
        for (name, measure, mean, comparison), p in zip(found, corrected, strict=True)
    ]


def _runs(files: Mapping[Path, Results]) -> dict[str, _Run]:
    """Return systems by name, the file's name added where it is needed, and the ceiling."""
    _check_same_kind(files)
    count = [name for results in files.values() for name in results.systems]
    runs: dict[str, _Run] = {}
    for path, results in files.items():
        for name, result in results.systems.items():
            label = name if count.count(name) == 1 else f"{name} ({path.stem})"
            timing = result.timings_ms.get(WITHOUT_EMBEDDING)
            runs[label] = _Run(result.scores, timing.p50 if timing else None)
    ceiling = {key: one for results in files.values() for key, one in results.ceiling.items()}
    return runs | {CEILING: _Run(ceiling, None)}


def _check_same_kind(files: Mapping[Path, Results]) -> None:
    if not files:
        raise UsageError("No results were given. Name files of milepost eval run.")
    first_path, first = next(iter(files.items()))
    for path, results in files.items():
        for what, a, b in (
            ("set", first.set, results.set),
            ("level", first.settings.get("level"), results.settings.get("level")),
            ("unit", first.settings.get("unit"), results.settings.get("unit")),
        ):
            if a != b:
                raise UsageError(
                    f"{first_path} and {path} cannot stand in one table: the {what} is {a!r} in "
                    f"one and {b!r} in the other."
                )


def _known_measures(runs: Mapping[str, _Run], wanted: Sequence[str]) -> list[str]:
    firsts = [dict(scores) for run in runs.values() for scores in [*run.scores.values()][:1]]
    known = list(dict.fromkeys(name for first in firsts for name in means({"": first})))
    for measure in wanted:
        if measure not in known:
            raise UsageError(
                f"There is no measure {measure!r}. There are {', '.join(known) or 'none'}."
            )
    return known


def _estimates(
    scores: Mapping[str, QuestionScores], measures: Sequence[str], seed: int
) -> dict[str, Estimate]:
    found = {measure: _estimate(scores, measure, seed) for measure in measures}
    return {measure: one for measure, one in found.items() if one.n or not scores}


def _estimate(scores: Mapping[str, QuestionScores], measure: str, seed: int) -> Estimate:
    if measure.startswith("PxR@"):
        # A product of two means has no value for a single question, and so no interval here.
        k = measure.removeprefix("PxR@")
        p, r = (_values(scores, f"{name}@{k}") for name in "PR")
        product = statistics.fmean(p) * statistics.fmean(r) if p else None
        return Estimate(len(p), product, None, None)
    return estimate(_values(scores, measure), seed=seed)


def _paired(
    baseline: Mapping[str, QuestionScores],
    other: Mapping[str, QuestionScores],
    measure: str,
    seed: int,
) -> tuple[float | None, Comparison]:
    common = [
        (baseline[key][measure], one[measure])
        for key, one in other.items()
        if measure in one and measure in baseline.get(key, {})
    ]
    first, second = [a for a, _ in common], [b for _, b in common]
    mean = statistics.fmean(first) if first else None
    return mean, compare(first, second, seed=seed)


def _values(scores: Mapping[str, QuestionScores], measure: str) -> list[float]:
    return [one[measure] for one in scores.values() if measure in one]
