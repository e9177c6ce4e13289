"""How text ReAct reads what a model wrote; what it shares with the others is in test_masdr."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import react
from agents.answering import ask
from agents.context import Limits
from agents.react import Step, read_arguments, read_step
from tests.unit.agents.scripted import QUESTION, ToolModel, action, context, model, texts

ANSWER = "They are kept for three years [Source 1]."
FINAL = f"Thought: done\nFinal Answer: {ANSWER}"


def run(chat: ToolModel, **given: Any) -> Any:
    return ask(react.build(), QUESTION, context(chat, **given))


@pytest.mark.parametrize(
    ("text", "tool", "given"),
    [
        ('Thought: t\nAction: search\nAction Input: {"query": "a"}', "search", '{"query": "a"}'),
        ('Action: search\nAction Input:\n{"query":\n "a"}', "search", '{"query":\n "a"}'),
        ('**Action:** `search`\n**Action Input:** {"query": "a"}', "search", '{"query": "a"}'),
        ("Action 1: search\nAction Input 1: audit logs", "search", "audit logs"),
        ('Action: search\nAction Input: ```json\n{"query": "a"}\n```', "search", '{"query": "a"}'),
        ("Thought: t\nAction: search[audit logs]", "search", "audit logs"),
        ('Action: search({"query": "a"})', "search", '{"query": "a"}'),
        ("action: search\naction input: a", "search", "a"),
        ("<think>Action: wrong</think>\nAction: search\nAction Input: a", "search", "a"),
        ("Action: get_section", "get_section", ""),
    ],
)
def test_an_action_is_read_in_the_forms_that_models_give_it(
    text: str, tool: str, given: str
) -> None:
    step = read_step(text)

    assert (step.action, step.action_input, step.answer) == (tool, given, None)


def test_an_observation_that_the_model_made_up_is_not_kept() -> None:
    step = read_step(f"{action('search', 'logs')}\nObservation: 9 years.\nFinal Answer: 9 years.")

    assert (step.action, step.action_input, step.answer) == ("search", "logs", None)
    assert "9 years" not in step.text


def test_an_answer_behind_an_action_does_not_count_yet() -> None:
    step = read_step('Action: search\nAction Input: {"query": "a"}\nFinal Answer: 9 years.')

    assert (step.action, step.action_input) == ("search", '{"query": "a"}')
    assert step.answer is None
    assert "9 years" not in step.text


def test_a_final_answer_is_read_with_all_its_lines() -> None:
    step = read_step("Thought: done\n**Final Answer:** One [Source 1].\n- Two [Source 2].")

    assert step.answer == "One [Source 1].\n- Two [Source 2]."


def test_a_text_without_any_form_is_the_answer() -> None:
    assert read_step(ANSWER) == Step(ANSWER, answer=ANSWER)


def test_a_thought_alone_is_no_answer() -> None:
    step = read_step("Thought: I should search for logs.")

    assert (step.action, step.answer) == (None, None)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    step = read_step(text)

    assert not (step.action is not None and step.answer is not None)


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"query": "a", "scope": "b"} and more', {"query": "a", "scope": "b"}),
        ("audit logs", {"query": "audit logs"}),
        ('"audit logs"', {"query": "audit logs"}),
        ("audit logs\nmore", {"query": "audit logs"}),
        ("", {}),
    ],
)
def test_arguments_are_json_or_one_value(written: str, arguments: dict[str, object]) -> None:
    assert read_arguments(written, "query") == arguments


def test_one_value_is_the_tools_first_argument() -> None:
    chat = model(action("search_policy", "audit logs"), action("get_section", "5.4"), FINAL)
    run(chat)

    assert "Name a section and its document" in chat.told[0]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (action("search", '{"query": '), "no JSON object"),
        (action("browse_web", '{"url": "x"}'), "There is no tool 'browse_web'"),
        (action("search", '{"words": "x"}'), "query: Field required"),
        ("Thought: I need to look at this.", "neither an action nor a final answer"),
    ],
)
def test_what_is_wrong_with_a_step_is_observed_and_the_model_goes_on(step: str, told: str) -> None:
    chat = model(step, action("search_policy", "audit logs"), FINAL)
    answered = run(chat)

    assert told in chat.asked[1][-1].text
    assert answered.answer.supported


def test_the_model_needs_no_function_calling() -> None:
    chat = model(action("search_policy", "audit logs"), FINAL)
    run(chat)

    assert chat.offered == []
    assert {message.type for message in chat.asked[-1]} == {"system", "human", "ai"}


def test_the_tools_are_described_in_words() -> None:
    chat = model(FINAL)
    run(chat, limits=Limits(steps=4))
    system = chat.asked[0][0].text

    assert '- search: Search in all documents. Arguments: "query", "scope" (optional).' in system
    assert "search_hr" not in system
    assert 'Action Input: {"query": "words to look for"}' in system
    assert "You have 4 steps" in system


def test_an_observation_shows_passages_under_their_numbers() -> None:
    chat = model(action("search_rail_tracks", "rails"), FINAL)
    answered = run(chat)

    assert chat.told[0].startswith("Observation: [Source 1] rails, section Rails, page 1\n| Rails")
    assert len(texts(answered.ranking.hits)) == 1
