"""The command line before anything is set up."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import milepost

ENV = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


def test_help_needs_no_heavy_library() -> None:
    program = (
        "import sys; from app import cli\n"
        "heavy = {'torch', 'sentence_transformers', 'transformers', 'onnxruntime', 'langgraph', "
        "'langchain', 'neo4j', 'numpy', 'bs4', 'lxml'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stdout.strip() == "[]", done.stderr


def test_help_names_every_command(tmp_path: Path) -> None:
    done = milepost("--help", env=ENV, cwd=tmp_path)

    assert done.returncode == 0
    for command in ("db", "schema", "ingest", "documents", "search", "ask"):
        assert f" {command} " in done.stdout


@pytest.mark.parametrize(
    ("env", "code", "message"),
    [
        ({"MILEPOST_SERVER": "local"}, 1, "milepost db start"),
        ({"NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "x"}, 1, "does not answer"),
        ({"NEO4J_URI": "nonsense", "NEO4J_PASSWORD": "x"}, 1, "NEO4J_URI"),
        ({"NEO4J_URI": "http://127.0.0.1:7474", "NEO4J_PASSWORD": "x"}, 1, "bolt://"),
        ({"MILEPOST_SERVR": "local"}, 2, "MILEPOST_SERVR"),
        ({"MILEPOST_BOLT_PORT": "many"}, 2, "MILEPOST_BOLT_PORT"),
    ],
)
def test_a_wrong_setting_or_no_server_gets_one_line(
    tmp_path: Path, env: dict[str, str], code: int, message: str
) -> None:
    folders = {
        "MILEPOST_DATA_DIR": str(tmp_path / "data"),
        "MILEPOST_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = milepost("search", "a question", env=ENV | folders | env, cwd=tmp_path)

    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
