"""Prints what `milepost dilution` found."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from rich.markup import escape
from rich.table import Table

from app.cli.output import console
from eval.dilution import Dilution
from eval.growth import Point
from eval.labelled import LabelledDilution
from eval.stats import Correlation

_LEAST_SHOWN = 0.05
_MOST_LEAKS = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """All that one call of the command measured."""

    collection: str
    by: str
    dilution: Dilution
    advice: str
    labelled: LabelledDilution | None = None
    """None without questions."""
    growth: Mapping[str, Sequence[Point]] = field(default_factory=dict[str, Sequence[Point]])
    """Empty where it was not asked for."""


def as_dict(measured: Measured) -> dict[str, object]:
    """Return what `dilution --json` prints."""
    found = measured.dilution
    return {
        "collection": measured.collection,
        "by": measured.by,
        "advice": measured.advice,
        "chunks": found.chunks,
        "neighbours": found.neighbours,
        "delta_hat": {"mean_over_scopes": found.delta_hat, "mean_over_chunks": found.by_chunk},
        "size_effect": asdict(found.size_effect),
        "scopes": [asdict(one) for one in found.scopes],
        "leaks": [asdict(leak) for leak in found.leaks()],
        "labelled": asdict(measured.labelled) if measured.labelled else None,
        "growth": {
            name: [asdict(point) for point in points] for name, points in measured.growth.items()
        },
    }


def print_measured(measured: Measured) -> None:
    """Print the tables, and the advice last."""
    out = console()
    found = measured.dilution
    out.print(_scopes(measured))
    out.print(
        f"Mean over scopes {found.delta_hat:.3f}, over chunks {found.by_chunk:.3f}. "
        f"Size against dilution: {_effect(found.size_effect)}.",
        highlight=False,
    )
    if leaks := found.leaks(_LEAST_SHOWN):
        grid = _grid("asks", "is answered by", "share")
        for leak in leaks[:_MOST_LEAKS]:
            grid.add_row(escape(leak.asking), escape(leak.answering), f"{leak.share:.1%}")
        out.print("\nLeaks", style="bold")
        out.print(grid)
    if measured.labelled is not None:
        _print_labelled(measured.labelled)
    if measured.growth:
        _print_growth(measured.growth)
    out.print()
    out.print(measured.advice, markup=False, highlight=False)


def _scopes(measured: Measured) -> Table:
    labelled = measured.labelled
    deltas = {one.scope: one for one in labelled.scopes} if labelled else {}
    names = ["documents", "chunks", "delta-hat", "possible"]
    grid = _grid(measured.by, *names, *(["questions", "delta"] if labelled else []))
    for one in measured.dilution.scopes:
        row = [f"{one.documents:,}", f"{one.chunks:,}", f"{one.delta_hat:.3f}"]
        row.append("" if one.is_measurable else f">= {one.least:.2f}")
        if labelled:
            delta = deltas.get(one.scope)
            row += [str(delta.questions), f"{delta.delta:.3f}"] if delta else ["0", "-"]
        grid.add_row(escape(one.scope), *row)
    return grid


def _print_labelled(found: LabelledDilution) -> None:
    out = console()
    mean, gain = found.delta, found.gain
    if mean.mean is None or found.precision.mean is None:
        out.print("\nQuestions: n = 0, so there is nothing to measure.")
        return
    change = gain.difference.mean or 0.0
    p = "" if gain.p is None else f", p {'< .001' if gain.p < 0.001 else f'= {gain.p:.3f}'}"
    note = f", {gain.note}" if gain.note else ""
    out.print(
        f"\nQuestions: n = {mean.n}, delta {mean.mean:.3f}. P@{found.k} of vector search is "
        f"{found.precision.mean:.3f}; within the right scope {change:+.3f}{p}{note}.",
        highlight=False,
    )


def _print_growth(growth: Mapping[str, Sequence[Point]]) -> None:
    out = console()
    sizes = [f"{point.documents:,}" for point in next(iter(growth.values()))]
    for what in ("precision", "recall"):
        grid = _grid("documents", *sizes)
        for name, points in growth.items():
            values = [_with_sd(point, what) for point in points]
            grid.add_row(escape(name), *values)
        out.print(f"\nGrowth: {what} at 10 (s.d. over the draws)", style="bold")
        out.print(grid)


def _with_sd(point: Point, what: str) -> str:
    mean, sd = (
        (point.precision, point.precision_sd)
        if what == "precision"
        else (point.recall, point.recall_sd)
    )
    return f"{mean:.3f} ({sd:.3f})" if sd else f"{mean:.3f}"


def _effect(found: Correlation) -> str:
    if found.rho is None or found.p is None:
        return f"no correlation to be had ({found.note})"
    return f"Spearman {found.rho:+.2f}, p = {found.p:.3f}, n = {found.n} scopes"


def _grid(first: str, *others: str) -> Table:
    grid = Table(first, *others, box=None, padding=(0, 1), header_style="bold")
    for column in grid.columns[1:]:
        column.justify = "right"
    return grid
