"""JSON in a chat model's reply, whatever the reply is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from agents.structured import Asked, parse


class Plan(BaseModel):
    steps: list[Asked]


PLAN = TypeAdapter(Plan)


@pytest.mark.parametrize(
    "reply",
    [
        '{"steps": ["one"]}',
        'Sure! {"steps": ["one"]} Anything else?',
        '```json\n{"steps": ["one"]}\n```',
        '<think>{"steps": ["two"]}</think>{"steps": ["one"]}',
        '{"steps": ["one"], "reasoning": "short"}',
    ],
)
def test_the_first_object_behind_the_thoughts_counts(reply: str) -> None:
    assert parse(reply, PLAN) == (Plan(steps=["one"]), None)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no JSON object"),
        ("one, two", "no JSON object"),
        ('<think>{"steps": ["one"]}', "no JSON object"),
        ('{"steps": ["one"', "it is no JSON"),
        ('{"steps": "one"}', "steps: Input should be a valid list"),
        ('{"steps": ["…"]}', "steps.0: String should match"),
        ('{"plan": []}', "steps: Field required"),
        ('{"steps":' * 50_000, "it is no JSON"),
    ],
)
def test_what_is_wrong_is_told_to_the_model(reply: str, problem: str) -> None:
    value, told = parse(reply, PLAN)

    assert value is None
    assert told is not None
    assert problem in told
    assert len(told) <= 300


@given(st.text() | st.text(alphabet='{}[]":,\\ 019eE+-.truefalsnl'))
def test_no_reply_raises(reply: str) -> None:
    value, problem = parse(reply, PLAN)

    assert (value is None) != (problem is None)
