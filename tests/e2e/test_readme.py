"""What the README shows works, and it leaves no command out."""

import re
import shlex

import pytest

from tests.e2e.conftest import ROOT, Run

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.removeprefix("$ milepost "))
    for line in README.splitlines()
    if line.startswith("$ milepost ")
]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 150


def test_the_readme_names_every_command(samples: Run) -> None:
    shown = samples("--help").stdout
    commands = re.findall(r"^│ (\w+)  ", shown.split("Commands")[1], re.MULTILINE)

    assert len(commands) >= 6
    assert [name for name in commands if f"milepost {name}" not in README] == []


@pytest.mark.neo4j
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_command_of_the_readme_works(samples: Run, command: list[str]) -> None:
    done = samples(*command)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.neo4j
def test_the_demo_prints_what_the_readme_shows(samples: Run) -> None:
    question = re.search(r'milepost ask (".*")', (ROOT / "Makefile").read_text("utf-8"))
    assert question
    shown = README.split("```text")[1].split("```")[0]
    answer = " ".join(shown.split("word for word")[1].split("file:")[0].split())

    printed = " ".join(samples("ask", *shlex.split(question[1])).stdout.split())

    assert answer in printed


def test_make_demo_and_make_test_are_what_the_readme_promises() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^    make (\w+)", README, re.MULTILINE)

    assert {"demo", "test", "check"} <= set(targets)
    assert [name for name in targets if f"\n{name}:" not in makefile] == []
