"""The commands that need no graph."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from eval.results import write_results
from graph.errors import UsageError
from tests.unit.eval.test_report import Values, results, values

RUNNER = CliRunner()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    write_results(results({"base": values(0, 0.5, 1), "new [bold]": values(1, 1, 1)}), path)
    return path


def test_a_table_shows_systems_as_they_are_named(file: Path) -> None:
    shown = RUNNER.invoke(app, ["eval", "table", str(file)]).stdout

    assert "new [bold]" in shown
    assert "s, dev questions: 3 scored of 3" in " ".join(shown.split())


def test_intervals_are_shown_when_wanted(file: Path) -> None:
    shown = RUNNER.invoke(app, ["eval", "table", str(file), "--intervals"]).stdout

    assert "[.000, 1.000]" in shown


def test_json_holds_no_nan_and_no_markup(file: Path) -> None:
    for command in (["table"], ["significance", "--baseline", "base", "--measures", "P@1"]):
        done = RUNNER.invoke(app, ["eval", command[0], str(file), *command[1:], "--json"])

        json.loads(done.stdout, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize("scores", [{}, values(1)])
def test_too_few_questions_are_said_and_never_nan(tmp_path: Path, scores: Values) -> None:
    path = tmp_path / "few.json"
    write_results(results({"base": scores, "new": scores}), path)

    table = RUNNER.invoke(app, ["eval", "table", str(path)])
    compared = RUNNER.invoke(app, ["eval", "significance", str(path), "--baseline", "base"])

    assert (table.exit_code, compared.exit_code) == (0, 0)
    assert "Nothing to compare" in compared.stdout
    assert "nan" not in (table.stdout + compared.stdout).lower()


def test_wrong_use_is_refused_before_a_graph_is_opened(tmp_path: Path) -> None:
    for arguments in (
        ["eval", "table", str(tmp_path / "missing.json")],
        ["eval", "run", "--set", str(tmp_path / "missing")],
        ["dilution", "--growth"],
    ):
        assert isinstance(RUNNER.invoke(app, arguments).exception, UsageError), arguments
    assert RUNNER.invoke(app, ["eval", "run", "--set", "x", "--split", "train"]).exit_code == 2


def test_help_loads_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "matplotlib", "ir_measures", "pydantic", "eval.metrics")
    code = f"import sys, app.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
