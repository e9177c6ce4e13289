"""MASDR-RAG: one reasoning agent that calls a search tool per scope, over a few rounds.

After the dilution paper, section 4 and appendix A3.1: its "agents" are configurations of a search,
and one model with function calling dispatches the question to them.

    begin -> reason -> act -> reason … -> answer -> check
"""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents import nodes, tool_calling
from agents.chat import bind_tools, count_tokens, repeated
from agents.context import Context, Run
from agents.prompts import AGENT_QUESTION, AGENT_SYSTEM
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
from agents.tool_search import EVERYWHERE
from agents.tools import Toolbox

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage, ToolMessage


def reason(state: State, runtime: Run) -> Update:
    """Let the model call tools, or answer; before the first search an answer can cite nothing.

    Models that do not call tools, or whose server cannot tell that they do, answer at once. So the
    question is searched for them, as the paper's agent always searches.
    """
    started = perf_counter()
    context = runtime.context
    messages = messages_of(state)
    tools = _functions(open_toolbox(state, context, 0))
    if not messages:
        messages = _opening(state, context)
        check_room(context, messages, json.dumps(tools))
    model = bind_tools(needed_chat(context), tools)
    reply = repeated(lambda: model.invoke(messages), context.limits)
    budget = budget_of(state).next_round().asked(count_tokens(reply, messages))
    calls = reply.tool_calls or reply.invalid_tool_calls
    if not calls and not budget.calls:
        reply = _search_for(state["question"])
        calls = reply.tool_calls
    return {
        "messages": as_json([*messages, reply]),
        "conclusion": None if calls else str(reply.text),
        "budget": stepped(budget, started),
        "timings_ms": timed(state, "reason", started),
    }


def act(state: State, runtime: Run) -> Update:
    """Run the tools that the model asks for, in its order."""
    started = perf_counter()
    context = runtime.context
    messages = messages_of(state)
    toolbox = open_toolbox(state, context, 0)
    tools = json.dumps(_functions(toolbox))
    toolbox.room = room_left(context, messages, tools)
    messages += _results(toolbox, messages[-1])
    room = room_left(context, messages, tools)
    return {
        "ranking": ranked(state, toolbox),
        "messages": as_json(messages),
        "budget": acted(toolbox, room, context.limits.rounds, started, context),
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

    return [
        SystemMessage(AGENT_SYSTEM.format(rounds=context.limits.rounds)),
        HumanMessage(AGENT_QUESTION.format(question=state["question"])),
    ]


def _search_for(question: str) -> AIMessage:
    from langchain_core.messages import AIMessage

    call = {"name": EVERYWHERE, "args": {"query": question}, "id": "call_0", "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def _functions(toolbox: Toolbox) -> list[dict[str, object]]:
    return [tool.as_function() for tool in toolbox.tools.values()]


def _results(toolbox: Toolbox, reply: BaseMessage) -> list[ToolMessage]:
    """Answer every call of a reply: providers refuse a conversation with one left open."""
    from langchain_core.messages import AIMessage, ToolMessage

    assert isinstance(reply, AIMessage)
    results = [
        ToolMessage(toolbox.call(call["name"], call["args"]), tool_call_id=call["id"] or "")
        for call in reply.tool_calls
    ]
    return results + [
        ToolMessage(
            toolbox.wrong(call["name"] or "", "The arguments are no valid JSON object."),
            tool_call_id=call["id"] or "",
        )
        for call in reply.invalid_tool_calls
    ]
