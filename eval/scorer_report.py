"""Tables and a picture of what `milepost eval scorer` found."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.metrics import Scores, means
from eval.results import WITHOUT_EMBEDDING, QuestionScores, Results, SystemResult
from eval.scorer import BASELINES
from eval.scorer_run import BEST_ORDER
from eval.stats import compare
from graph.errors import UsageError

MEASURES = ("IE@1", "IE@3", "IE@5", "P@3", "R@3", "nDCG@5")
CHOSEN = "IE@3"
_POINT = re.compile(r"(?P<system>.+), (?P<axis>[nK]) = (?P<value>\d+)")


def markdown(found: Mapping[str, Results]) -> str:
    """Return one table for each part of each set, under its name."""
    return "\n\n".join(f"## {name}\n\n{_table(results)}" for name, results in found.items()) + "\n"


def _table(results: Results) -> str:
    known = [name for name in results.systems if name in BASELINES]
    best = max(known, key=lambda name: _mean(results.systems[name], CHOSEN))
    names = ("", *MEASURES, f"{CHOSEN} over {best}", "p", "of the gap", "ms")
    lines = [_row(names), _row(["---"] * len(names))]
    lines += [_row(_cells(name, results, best)) for name in results.systems]
    top = _ceiling(results)
    lines.append(_row(["ceiling", *(f"{top[measure]:.3f}" for measure in MEASURES)]))
    settings = ", ".join(f"{name}: {value}" for name, value in results.settings.items())
    basis = f"{results.questions} questions, {results.chunks:,} chunks; {settings}; "
    load = results.machine.get("load_1_min")
    return "\n".join(lines) + f"\n\n{basis}commit {results.commit[:12]}, load {load}"


def _cells(name: str, results: Results, best: str) -> list[str]:
    one, base = results.systems[name], results.systems[best]
    shown = [name, *(f"{_mean(one, measure):.3f}" for measure in MEASURES)]
    if name in BASELINES or name == BEST_ORDER:
        return [*shown, "", "", "", f"{one.timings_ms[WITHOUT_EMBEDDING].mean:.2f}"]
    before, after = _mean(base, CHOSEN), _mean(one, CHOSEN)
    gap = _ceiling(results)[CHOSEN] - before
    keys = list(results.ceiling)
    p = compare(*([r.scores[key][CHOSEN] for key in keys] for r in (base, one))).p
    return [
        *shown,
        f"{after / before - 1:+.1%}" if before else "",
        "" if p is None else f"{p:.3f}" if p >= 0.001 else "< .001",
        f"{(after - before) / gap:.0%}" if gap > 0 else "",
        f"{one.timings_ms[WITHOUT_EMBEDDING].mean:.2f}",
    ]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _mean(one: SystemResult, measure: str) -> float:
    return _means(one.scores)[measure]


def _ceiling(results: Results) -> Scores:
    return _means(results.ceiling)


def _means(scores: Mapping[str, QuestionScores]) -> Scores:
    return means({key: dict(one) for key, one in scores.items()})


def curves(found: Mapping[str, Results], axis: str) -> dict[str, list[tuple[int, float]]]:
    """Return points of IE@3 by set and system.

    Args:
        found: Results by name.
        axis: "n" for questions trained on, "K" for topics.
    """
    lines: dict[str, list[tuple[int, float]]] = {}
    for results in found.values():
        for name, one in results.systems.items():
            point = _POINT.fullmatch(name)
            if point and point["axis"] == axis:
                line = lines.setdefault(f"{results.set}: {point['system']}", [])
                line.append((int(point["value"]), _mean(one, CHOSEN)))
    return lines


def draw(found: Mapping[str, Results], path: Path) -> None:
    """Draw the gain by set, and IE by questions and by topics.

    Raises:
        UsageError: The picture cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    gains, learning, topics = figure.subplots(1, 3)
    compared = [one for name, one in found.items() if name.startswith("compare")]
    shown = (*BASELINES, "blend")
    width = 0.8 / len(shown)
    for place, name in enumerate(shown):
        at = [n + place * width for n in range(len(compared))]
        heights = [_mean(one.systems[name], CHOSEN) / _ceiling(one)[CHOSEN] for one in compared]
        gains.bar(at, heights, width, label=name)
    gains.set_xticks(range(len(compared)), [one.set for one in compared], rotation=30, ha="right")
    gains.set_ylabel(f"{CHOSEN}, share of the ceiling")
    gains.set_ylim(0, 1.25)
    gains.legend(fontsize=7, loc="upper left", ncols=3)
    gains.set_visible(bool(compared))
    for axes, axis, label in ((learning, "n", "questions trained on"), (topics, "K", "topics, K")):
        for name, points in curves(found, axis).items():
            axes.plot(*zip(*sorted(points), strict=True), "o-", label=name)
        axes.set_xscale("log")
        values = sorted({int(x) for line in axes.lines for x in line.get_xdata()})
        axes.set_xticks(values, [f"{value:,}" for value in values], rotation=45, fontsize=7)
        axes.minorticks_off()
        axes.set_xlabel(label)
        axes.set_ylabel(CHOSEN)
        axes.grid(alpha=0.3)
        axes.set_visible(bool(axes.lines))
        if axes.lines:
            axes.legend(fontsize=7)
    try:
        figure.savefig(path, dpi=110)
    except (ValueError, OSError) as error:
        raise UsageError(f"The plot cannot be written to {path} ({error}).") from error
