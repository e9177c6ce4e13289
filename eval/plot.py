"""Draws dilution: size against delta-hat, which scopes leak where, and the growth curve."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from eval.dilution import Dilution
from eval.growth import Point
from graph.errors import UsageError

Growth = Mapping[str, Sequence[Point]]

_MOST_SCOPES = 25
"""Scopes that are shown by name; more cannot be read."""
_LONGEST_NAME = 24


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
    panels = 3 if growth else 2
    figure = Figure(figsize=(6.5 * panels, 5.5), layout="constrained")
    axes = [figure.add_subplot(1, panels, n + 1) for n in range(panels)]
    _draw_sizes(axes[0], found)
    _draw_leaks(axes[1], found)
    if growth:
        _draw_growth(axes[2], growth)
    return figure


def _draw_sizes(axes: Axes, found: Dilution) -> None:
    axes.set_title("Dilution by size of scope" + _correlation(found))
    axes.scatter([one.chunks for one in found.scopes], [one.delta_hat for one in found.scopes])
    for one in found.scopes[:_MOST_SCOPES]:
        place = (one.chunks, one.delta_hat)
        axes.annotate(
            _short(one.scope), place, xytext=(4, 4), textcoords="offset points", fontsize=8
        )
    axes.set_xscale("log")
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("chunks of the scope")
    axes.set_ylabel(f"share of the {found.neighbours} nearest from other scopes")
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


def _draw_growth(axes: Axes, growth: Growth) -> None:
    axes.set_title("The same questions in a growing corpus")
    for name, points in growth.items():
        documents = [point.documents for point in points]
        (line,) = axes.plot(documents, [p.precision for p in points], marker="o", label=name)
        axes.plot(
            documents, [p.recall for p in points], linestyle=":", color=line.get_color(), alpha=0.7
        )
    axes.set_xscale("log")
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("documents")
    axes.set_ylabel("precision (lines) and recall of the gold (dotted) at 10")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def _short(name: str) -> str:
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return short.replace("$", r"\$")  # which would begin a formula
