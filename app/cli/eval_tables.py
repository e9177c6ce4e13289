"""Prints the tables of `milepost eval`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from app.cli.output import console
from eval.report import CEILING, Difference, Line, table
from eval.results import Results
from eval.stats import Estimate

SIGNIFICANT = 0.05


def print_table(
    files: Mapping[Path, Results], measures: Sequence[str] = (), *, intervals: bool = False
) -> None:
    """Print a line for each system, the ceiling last, and what the figures rest on."""
    lines = table(files, measures)
    shown = list(dict.fromkeys(measure for line in lines for measure in line.estimates))
    out = console()
    out.print(_intervals(lines, shown) if intervals else _means(lines, shown))
    for path, results in files.items():
        out.print(f"{path.name}: {_basis(results)}", style="dim", highlight=False)


def table_as_dict(files: Mapping[Path, Results], measures: Sequence[str]) -> dict[str, object]:
    """Return what `eval table --json` prints."""
    return {
        "results": {str(path): _basis(results) for path, results in files.items()},
        "systems": [asdict(line) for line in table(files, measures)],
    }


def print_significance(baseline: str, differences: Sequence[Difference]) -> None:
    """Print each system's difference from the baseline; significant ones are bold, with a star."""
    names = ("measure", "system", "n", "baseline", "change", "95% interval", "p", "Holm", "")
    grid = Table(*names, box=None, padding=(0, 1), header_style="bold")
    for column in grid.columns[2:8]:
        column.justify, column.no_wrap = "right", True
    for one in differences:
        compared = one.comparison
        is_clear = one.corrected_p is not None and one.corrected_p < SIGNIFICANT
        grid.add_row(
            one.measure,
            escape(one.system),
            str(compared.n),
            _number(one.baseline),
            _number(compared.difference.mean, signed=True),
            _interval(compared.difference, signed=True),
            _p(compared.p),
            _p(one.corrected_p),
            "*" if is_clear else "",
            style="bold" if is_clear else "",
        )
    out = console()
    out.print(grid)
    for one in differences:
        if one.comparison.note:
            out.print(f"{one.measure} {one.system}: {one.comparison.note}", style="dim")
    if not differences:
        out.print(
            f"Nothing to compare: no system beside {baseline}, or no question scored by the usual "
            "measures. Name others with --measures."
        )


def _basis(results: Results) -> str:
    scored = results.questions - results.without_gold - results.not_held
    parts = [
        f"{results.set}, {results.part} questions: {scored:,} scored of {results.questions:,}",
        f"{results.without_gold:,} without gold" if results.without_gold else "",
        f"{results.not_held:,} whose gold is not in the graph" if results.not_held else "",
        f"{results.chunks:,} chunks",
        f"level {results.settings.get('level')}, unit {results.settings.get('unit')}",
        f"commit {results.commit[:12]}{'+changes' if '+' in results.commit else ''}",
        f"load {results.machine.get('load_1_min')}",
    ]
    return ", ".join(part for part in parts if part)


def _means(lines: Sequence[Line], measures: Sequence[str]) -> Table:
    grid = Table("system", *measures, "ms p50", box=None, padding=(0, 1), header_style="bold")
    for column in grid.columns[1:]:
        column.justify = "right"
    for line in lines:
        values = [_mean(line.estimates.get(measure)) for measure in measures]
        style = "dim" if line.system == CEILING else ""
        grid.add_row(escape(line.system), *values, _milliseconds(line), style=style)
    return grid


def _intervals(lines: Sequence[Line], measures: Sequence[str]) -> Table:
    grid = Table("measure", "system", "n", "mean", "95% interval", box=None, header_style="bold")
    for column in grid.columns[2:]:
        column.justify = "right"
    for measure in measures:
        for line in (line for line in lines if measure in line.estimates):
            one = line.estimates[measure]
            style = "dim" if line.system == CEILING else ""
            interval = _interval(one)
            grid.add_row(
                measure, escape(line.system), str(one.n), _mean(one), interval, style=style
            )
    return grid


def _mean(found: Estimate | None) -> str:
    if found is None:
        return ""
    return "n = 0" if found.mean is None else _number(found.mean)


def _interval(found: Estimate, *, signed: bool = False) -> str:
    if found.low is None or found.high is None:
        return "-"
    return f"[{_number(found.low, signed=signed)}, {_number(found.high, signed=signed)}]"


def _number(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    return text.replace("0.", ".", 1)


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<.001" if value < 0.001 else _number(value)


def _milliseconds(line: Line) -> str:
    return "" if line.milliseconds is None else f"{line.milliseconds:.0f}"
