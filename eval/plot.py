"""Draws dilution: size against delta-hat, which scopes leak where, and the growth curve."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, PercentFormatter, StrMethodFormatter

from eval.dilution import Dilution
from eval.growth import Point
from graph.errors import UsageError

Growth = Mapping[str, Sequence[Point]]

_MOST_SCOPES = 25
"""Scopes that are shown by name; more cannot be read."""
_MOST_LABELS = 10
"""Points that bear their scope's name, the most diluted."""
_LONGEST_NAME = 24
"""Characters that are shown, the last: names often begin alike."""


def draw(found: Dilution, growth: Growth, path: Path) -> None:
    """Write a picture; its format is the file's ending (png, svg, pdf).

    Raises:
        UsageError: The format is unknown, or the file cannot be written.
    """
    figure = _figure(found, growth)
    try:
        figure.savefig(path, dpi=150)
    except (ValueError, OSError) as error:
        raise UsageError(
            f"The plot cannot be written to {path} ({error}). Name a .png, .svg or .pdf file in a "
            "folder that exists."
        ) from error


def _figure(found: Dilution, growth: Growth) -> Figure:
    rows = 2 if growth else 1
    figure = Figure(figsize=(13, 6 * rows), layout="constrained")
    axes = [figure.add_subplot(rows, 2, n + 1) for n in range(2 * rows)]
    _draw_sizes(axes[0], found)
    _draw_leaks(axes[1], found)
    if growth:
        _draw_growth(axes[2], growth, "precision at 10", lambda point: point.precision)
        _draw_growth(axes[3], growth, "recall of the gold at 10", lambda point: point.recall)
    return figure


def _draw_sizes(axes: Axes, found: Dilution) -> None:
    axes.set_title("Dilution by size of scope" + _correlation(found))
    axes.scatter([one.chunks for one in found.scopes], [one.delta_hat for one in found.scopes])
    for one in found.scopes[:_MOST_LABELS]:
        place = (one.chunks, one.delta_hat)
        axes.annotate(
            _short(one.scope), place, xytext=(4, 4), textcoords="offset points", fontsize=8
        )
    _count_axis(axes, "chunks of the scope")
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel(f"{found.neighbours} nearest from other scopes (delta-hat)")
    axes.grid(alpha=0.3)


def _correlation(found: Dilution) -> str:
    effect = found.size_effect
    return "" if effect.rho is None else f" (Spearman {effect.rho:+.2f}, n = {effect.n})"


def _draw_leaks(axes: Axes, found: Dilution) -> None:
    shown = [one.scope for one in found.scopes[:_MOST_SCOPES]]
    places = [found.names.index(name) for name in shown]
    shares = np.array(found.shares)[np.ix_(places, places)]
    axes.set_title("Where neighbours come from")
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for row in range(len(shown)):
        for column in range(len(shown)):
            if (share := float(shares[row, column])) >= 0.01:
                colour = "white" if share > 0.5 else "black"
                axes.text(
                    column, row, f"{share:.0%}", ha="center", va="center", color=colour, fontsize=6
                )
    names = [_short(name) for name in shown]
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_xlabel("scope of the neighbours")
    axes.set_ylabel("scope that asks")


def _draw_growth(axes: Axes, growth: Growth, what: str, value: Callable[[Point], float]) -> None:
    axes.set_title(f"In a growing corpus: {what}")
    for name, points in growth.items():
        documents = [point.documents for point in points]
        axes.plot(documents, [value(point) for point in points], marker="o", label=name)
    _count_axis(axes, "documents")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel(what)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def _count_axis(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)


def _short(name: str) -> str:
    short = name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
    return short.replace("$", r"\$")  # which would begin a formula
