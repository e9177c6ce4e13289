"""Machines by name."""

import subprocess
import sys

import pytest

from agents import machines
from app.cli.ask import ask as ask_command
from graph.errors import ConfigurationError, UsageError
from tests.unit.agents.scripted import model

every = pytest.mark.parametrize("name", machines.MACHINES)


@every
def test_every_machine_can_be_built_and_drawn(name: str) -> None:
    drawn = machines.build(name).get_graph().draw_mermaid()

    assert "__start__ -->" in drawn
    assert "--> check;" in drawn
    assert "check --> __end__;" in drawn


@every
def test_every_machine_takes_a_question_and_gives_ranking_and_answer(name: str) -> None:
    machine = machines.build(name)

    assert "question" in machine.get_input_jsonschema()["properties"]
    assert set(machine.get_output_jsonschema()["properties"]) >= {"ranking", "answer"}


def test_the_default_comes_first_and_needs_no_chat_model() -> None:
    assert next(iter(machines.MACHINES)) == machines.DEFAULT
    assert machines.DEFAULT in machines.WITHOUT_CHAT_MODEL


def test_a_machine_is_built_once() -> None:
    assert machines.build("masdr") is machines.build("masdr")


def test_an_unknown_machine_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no machine 'crew'.*soft_scoped, .*masdr"):
        machines.build("crew")


@pytest.mark.parametrize("name", ["masdr", "react", "langchain_react"])
def test_a_machine_with_tools_asks_for_a_chat_model(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}.*MILEPOST_MODEL"):
        machines.check_chat_model(name, None)
    machines.check_chat_model(name, model("So."))


def test_the_help_of_ask_has_a_line_for_each_machine() -> None:
    said = ask_command.__doc__ or ""

    for name, line in machines.MACHINES.items():
        assert f"{name:<17}{line}\n" in said


def test_the_names_are_known_without_loading_any_machine() -> None:
    code = (
        "import sys, agents.machines;"
        "heavy = {'langgraph', 'langchain', 'langchain_core', 'torch'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
