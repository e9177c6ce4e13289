"""`milepost db`, with the server's functions replaced: what is printed, asked and returned."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import db
from graph.errors import UsageError
from graph.server import locate
from graph.server.options import Progress, ServerOptions, ServerStatus

RUNNING = ServerStatus(
    kind="local",
    running=True,
    uri="bolt://127.0.0.1:7687",
    browser="http://127.0.0.1:7474/browser/",
    version="2026.08.1",
    password_file=Path("/data/password"),
    data="/data",
    data_mb=12,
    log="/data/console.log",
    pid=42,
)
Run = Callable[..., str]


@pytest.fixture(autouse=True)
def no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MILEPOST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MILEPOST_SERVER", "local")
    monkeypatch.delenv("NEO4J_URI", raising=False)


@pytest.fixture
def removed(monkeypatch: pytest.MonkeyPatch) -> list[ServerOptions]:
    """The servers whose graph was removed."""
    calls: list[ServerOptions] = []

    def reset(options: ServerOptions, progress: Progress) -> bool:
        progress("Removing the graph", None, None)
        calls.append(options)
        return True

    monkeypatch.setattr(locate, "reset", reset)
    return calls


def test_status_tells_a_person_where_browser_and_password_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(locate, "status", lambda options: RUNNING)
    printed = CliRunner().invoke(db.app, ["status"]).stdout

    assert "Neo4j 2026.08.1 (local), running" in printed
    assert "http://127.0.0.1:7474/browser/" in printed
    assert "password in /data/password" in printed


def test_status_tells_a_program_the_same_in_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "status", lambda options: RUNNING)
    found = json.loads(CliRunner().invoke(db.app, ["status", "--json"]).stdout)

    assert found["server"] == "local"
    assert found["running"] is True
    assert found["password_file"] == "/data/password"


def test_reset_asks_and_takes_no_for_an_answer(
    removed: list[ServerOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db, "_somebody_is_here", lambda: True)

    result = CliRunner().invoke(db.app, ["reset"], input="n\n")

    assert result.exit_code == 1
    assert "Remove the whole graph?" in result.stderr
    assert not removed


def test_reset_without_a_terminal_is_wrong_use(removed: list[ServerOptions]) -> None:
    result = CliRunner().invoke(db.app, ["reset"], input="y\n")

    assert isinstance(result.exception, UsageError)
    assert "--yes" in str(result.exception)
    assert not removed


def test_reset_does_not_ask_when_told_so(removed: list[ServerOptions], tmp_path: Path) -> None:
    result = CliRunner().invoke(db.app, ["reset", "--yes", "--json"])

    assert json.loads(result.stdout) == {"removed": True}
    assert [options.data_dir for options in removed] == [tmp_path / "data"]


def test_reset_in_json_without_yes_is_wrong_use(removed: list[ServerOptions]) -> None:
    result = CliRunner().invoke(db.app, ["reset", "--json"])

    assert isinstance(result.exception, UsageError)
    assert not removed


def test_progress_goes_to_standard_error(removed: list[ServerOptions]) -> None:
    result = CliRunner().invoke(db.app, ["reset", "--yes"])

    assert result.stdout == "Removed.\n"
    assert result.stderr == "Removing the graph\n"


def test_a_counted_progress_is_one_line_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with db.show_progress() as progress:
        for done in (0, 50, 100):
            progress("Fetching", done, 100)

    assert capsys.readouterr().err == "Fetching\n"


@pytest.mark.parametrize("command", ["start", "stop", "status", "reset", "backup", "restore"])
def test_every_command_has_help_and_json(command: str) -> None:
    printed = CliRunner().invoke(db.app, [command, "--help"]).stdout

    assert "--json" in printed
