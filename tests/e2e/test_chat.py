"""`milepost chat` on the samples, as a pipe and on from a thread."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, Run

pytestmark = pytest.mark.neo4j

COMMAND = str(Path(sys.executable).with_name("milepost"))
DAYS = "Within how many days of identity verification must a certificate be issued?"


def chat(env: dict[str, str], said: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "chat", *arguments],
        input=said,
        env=env,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_follow_up_asks_for_another_edition_and_the_thread_goes_on(
    samples: Run, cli_env: dict[str, str], tmp_path: Path
) -> None:
    env = cli_env | {"MILEPOST_DATA_DIR": str(tmp_path)}
    done = chat(env, f"{DAYS}\nAnd in version 1.31 of the Common Policy?\n", "--json")
    assert done.returncode == 0, done.stderr
    first, second = (json.loads(line) for line in done.stdout.splitlines())

    assert "within 90 days" in first["answer"]
    assert second["query"].startswith("Within how many days")
    assert "within 30 days" in second["answer"]

    on = chat(env, "Why?\n", "--thread", first["thread"])

    assert on.returncode == 0, on.stderr
    assert "Asked: Why? (" in on.stdout
    assert f"--thread {first['thread']}" in on.stderr


def test_a_thread_that_is_not_there_is_wrong_use(samples: Run, cli_env: dict[str, str]) -> None:
    done = chat(cli_env, "Why?\n", "--thread", "nowhere")

    assert done.returncode == 2
    assert "no thread 'nowhere'" in done.stderr
