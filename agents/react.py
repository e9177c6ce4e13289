"""ReAct: thoughts, actions and observations as plain text, for models without function calling.

After Yao et al. (2023), with the tools and the six steps of the dilution paper (appendix A5.1).

    begin -> reason -> act -> reason … -> answer -> check
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents import nodes, tool_calling
from agents.chat import complete
from agents.context import Context, Run
from agents.prompts import (
    AGENT_QUESTION,
    REACT_FORM,
    REACT_OBSERVATION,
    REACT_SYSTEM,
)
from agents.state import Input, Output, State
from agents.tool_calling import (
    Update,
    acted,
    after_act,
    after_reason,
    as_json,
    budget_of,
    check_room,
    messages_of,
    needed_chat,
    open_toolbox,
    ranked,
    room_left,
    stepped,
    timed,
)
from agents.tools import Toolbox

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_OBSERVATION = re.compile(r"^[ \t*]*Observation[ \t*\d]*:", re.M | re.I)
_ACTION = re.compile(r"^[ \t*]*Action[ \t*\d]*:[ \t*`]*(\S.*)$", re.M | re.I)
_INPUT = re.compile(r"^[ \t*]*Action[ \t]+Input[ \t*\d]*:[ \t*]*(.*)", re.M | re.I | re.S)
_FINAL = re.compile(r"^[ \t*]*Final[ \t]+Answer[ \t*]*:[ \t*]*(.*)", re.M | re.I | re.S)
_THOUGHT = re.compile(r"^[ \t*]*Thought[ \t*\d]*:", re.M | re.I)
_CALL = re.compile(r"([\w-]+)\s*[\[(](.*)[\])]\s*\Z", re.S)
"""As in the ReAct paper: search[words]."""
_FENCE = re.compile(r"\A```\w*\s*|\s*```\s*\Z")


@dataclass(frozen=True, slots=True)
class Step:
    """What a model wrote in one step."""

    text: str
    """Without thoughts in tags, and without observations that it made up."""
    action: str | None = None
    """Name of a tool."""
    action_input: str = ""
    """As written: JSON, or one value."""
    answer: str | None = None
    """The final answer. Neither this nor an action: the step has not the form that was asked for.
    """


def read_step(text: str) -> Step:
    """Take a step apart. An action comes before an answer: what it brings is not known yet."""
    text = _THINKING.sub("", text).strip()
    if made_up := _OBSERVATION.search(text):
        text = text[: made_up.start()].strip()
    action, final = _ACTION.search(text), _FINAL.search(text)
    if action and not (final and final.start() < action.start()):
        given = _INPUT.search(text, action.end())
        end = final.start() if final else len(text)
        text, value = text[:end].strip(), given.group(1)[: end - given.start(1)] if given else ""
        name = action.group(1).strip(" \t*`")
        call = _CALL.match(name)
        if call and not given:
            return Step(text, call.group(1), call.group(2).strip())
        return Step(text, name, _FENCE.sub("", value.strip()))
    if final:
        return Step(text, answer=final.group(1).strip())
    return Step(text, answer=None if _THOUGHT.search(text) else text)


def read_arguments(written: str, first: str) -> dict[str, object]:
    """Return the arguments of an action.

    Args:
        written: A JSON object, or one value.
        first: The argument that is meant by one value.

    Raises:
        ValueError: What begins as a JSON object is none.
    """
    if written.startswith("{"):
        value, _ = json.JSONDecoder().raw_decode(written)
        return cast("dict[str, object]", value)
    words = written.partition("\n")[0].strip().strip("\"'`").strip()
    return {first: words} if words else {}


def reason(state: State, runtime: Run) -> Update:
    """Let the model think, and name an action or the answer."""
    started = perf_counter()
    context = runtime.context
    messages = messages_of(state)
    if not messages:
        messages = _opening(state, context)
        check_room(context, messages, "")
    reply = complete(needed_chat(context), messages, context.limits)
    step = read_step(reply.text)
    return {
        "messages": as_json([*messages, _said(step.text)]),
        "conclusion": step.answer,
        "budget": stepped(budget_of(state).next_round().asked(reply.tokens), started),
        "timings_ms": timed(state, "reason", started),
    }


def act(state: State, runtime: Run) -> Update:
    """Take the action that the model named, and tell it what is observed."""
    from langchain_core.messages import HumanMessage

    started = perf_counter()
    context = runtime.context
    messages = messages_of(state)
    toolbox = open_toolbox(state, context, room_left(context, messages, ""))
    observation = _observe(toolbox, read_step(str(messages[-1].text)))
    messages.append(HumanMessage(REACT_OBSERVATION.format(observation=observation)))
    room = room_left(context, messages, "")
    return {
        "ranking": ranked(state, toolbox),
        "messages": as_json(messages),
        "budget": acted(toolbox, room, context.limits.steps, started, context),
        "timings_ms": timed(state, "act", started),
    }


def build() -> CompiledStateGraph[State, Context, Input, Output]:
    """Return the machine; run it with `invoke({"question": …}, context=Context(…))`."""
    machine = StateGraph(State, Context, input_schema=Input, output_schema=Output)
    machine.add_node("begin", tool_calling.begin)
    machine.add_node("reason", reason)
    machine.add_node("act", act)
    machine.add_node("answer", tool_calling.answer)
    machine.add_node("check", nodes.check)
    machine.add_edge(START, "begin")
    machine.add_edge("begin", "reason")
    machine.add_conditional_edges("reason", after_reason)
    machine.add_conditional_edges("act", after_act)
    machine.add_edge("answer", "check")
    machine.add_edge("check", END)
    return machine.compile()


def _opening(state: State, context: Context) -> list[BaseMessage]:
    from langchain_core.messages import HumanMessage, SystemMessage

    toolbox = open_toolbox(state, context, 0)
    system = REACT_SYSTEM.format(tools=_described(toolbox), steps=context.limits.steps)
    return [
        SystemMessage(system),
        HumanMessage(AGENT_QUESTION.format(question=state["question"])),
    ]


def _described(toolbox: Toolbox) -> str:
    """Return name, purpose and arguments of each tool, one a line."""
    lines: list[str] = []
    for tool in toolbox.tools.values():
        fields = tool.arguments.model_fields.items()
        takes = ", ".join(
            f'"{name}"' if field.is_required() else f'"{name}" (optional)' for name, field in fields
        )
        lines.append(f"- {tool.name}: {tool.description} Arguments: {takes}.")
    return "\n".join(lines)


def _said(text: str) -> BaseMessage:
    from langchain_core.messages import AIMessage

    return AIMessage(text or "Thought:")  # some servers refuse an empty message


def _observe(toolbox: Toolbox, step: Step) -> str:
    if step.action is None:
        return toolbox.wrong("", REACT_FORM)
    tool = toolbox.tools.get(step.action)
    first = tool.first_argument if tool else "query"
    try:
        arguments = read_arguments(step.action_input, first)
    except ValueError as error:
        return toolbox.wrong(step.action, f"The Action Input is no JSON object: {error}.")
    return toolbox.call(step.action, arguments)
