"""LangChain's own agent with the tools of `agents.masdr`, as a system to compare with.

    begin -> agent -> answer -> check

What happens within `agent` is LangChain's: its loop, its handling of arguments that do not fit.
Ours are the tools, the prompt, the limits, and how a failing chat model is called again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents import nodes, tool_calling
from agents.budget import Budget
from agents.chat import bind_tools, count_tokens, repeated
from agents.context import Context, Run
from agents.prompts import AGENT_QUESTION, AGENT_SYSTEM
from agents.state import Input, Output, State
from agents.tool_calling import (
    Update,
    as_json,
    check_room,
    needed_chat,
    open_toolbox,
    ranked,
    room_left,
    stepped,
    timed,
)
from agents.tools import LEAST_ROOM, Toolbox

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import ModelRequest, ModelResponse
    from langchain_core.messages import BaseMessage, SystemMessage
    from langchain_core.tools import BaseTool
    from langgraph.runtime import Runtime


def agent(state: State, runtime: Run) -> Update:
    """Run LangChain's agent to its end, or to a limit."""
    from langchain.agents import (  # heavy
        create_agent,  # pyright: ignore[reportUnknownVariableType]  # a checkpointer of any kind
    )
    from langchain_core.messages import HumanMessage, SystemMessage

    started = perf_counter()
    context = runtime.context
    toolbox = open_toolbox(state, context, 0)
    bind_tools(needed_chat(context), _functions(toolbox))  # says what to do where it cannot
    system = SystemMessage(AGENT_SYSTEM.format(rounds=context.limits.rounds))
    question = HumanMessage(AGENT_QUESTION.format(question=state["question"]))
    check_room(context, [system, question], json.dumps(_functions(toolbox)))
    loop = create_agent(
        needed_chat(context),
        _as_langchain(toolbox),
        system_prompt=system,
        middleware=_limited(toolbox, context, system, started),
    )
    result = loop.invoke(
        {"messages": [question]},
        # One tool at a time, so that sources are numbered in the order of the calls. The limits
        # end the loop; LangGraph's own count of its steps must not end it before.
        {"max_concurrency": 1, "recursion_limit": 10 * (context.limits.rounds + 2)},
    )
    messages = cast("list[BaseMessage]", result["messages"])
    last = messages[-1]
    concluded = last.type == "ai" and not getattr(last, "tool_calls", None)
    return {
        "ranking": ranked(state, toolbox),
        "messages": as_json(messages),
        "conclusion": str(last.text) if concluded else None,
        "budget": stepped(toolbox.budget, started),
        "timings_ms": timed(state, "agent", started),
    }


def build() -> CompiledStateGraph[State, Context, Input, Output]:
    """Return the machine; run it with `invoke({"question": …}, context=Context(…))`."""
    machine = StateGraph(State, Context, input_schema=Input, output_schema=Output)
    machine.add_node("begin", tool_calling.begin)
    machine.add_node("agent", agent)
    machine.add_node("answer", tool_calling.answer)
    machine.add_node("check", nodes.check)
    machine.add_edge(START, "begin")
    machine.add_edge("begin", "agent")
    machine.add_edge("agent", "answer")
    machine.add_edge("answer", "check")
    machine.add_edge("check", END)
    return machine.compile()


def _as_langchain(toolbox: Toolbox) -> list[BaseTool]:
    from langchain_core.tools import StructuredTool

    def calling(name: str) -> Callable[..., str]:
        def call(**arguments: object) -> str:
            return toolbox.call(name, arguments)

        return call

    return [
        StructuredTool.from_function(
            calling(tool.name),
            name=tool.name,
            description=tool.description,
            args_schema=tool.arguments,
            infer_schema=False,
        )
        for tool in toolbox.tools.values()
    ]


def _functions(toolbox: Toolbox) -> list[dict[str, Any]]:
    return [tool.as_function() for tool in toolbox.tools.values()]


def _limited(
    toolbox: Toolbox, context: Context, system: SystemMessage, started: float
) -> list[AgentMiddleware[Any, Any]]:
    """Return what ends the loop at a limit, and counts what the model costs."""
    from langchain.agents.middleware import before_model, wrap_model_call

    tools = json.dumps(_functions(toolbox))

    @before_model(can_jump_to=["end"])
    def stop_at_limit(state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        messages = cast("list[BaseMessage]", state["messages"])
        toolbox.room = room_left(context, [system, *messages], tools)
        if toolbox.room < LEAST_ROOM:
            toolbox.budget = toolbox.budget.filled()
        spent = toolbox.budget.took(perf_counter() - started)
        ended = spent.over(context.limits, context.limits.rounds)
        toolbox.budget = replace(toolbox.budget, ended=ended)
        return {"jump_to": "end"} if ended else None

    @wrap_model_call
    def count(
        request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        response = repeated(lambda: handler(request), context.limits)
        toolbox.budget = _counted(toolbox.budget, request, response)
        return response

    return [stop_at_limit, count]


def _counted(budget: Budget, request: ModelRequest[Any], response: ModelResponse[Any]) -> Budget:
    from langchain_core.messages import AIMessage

    asked = cast("list[BaseMessage]", request.messages)
    if request.system_message is not None:
        asked = [request.system_message, *asked]
    replies = [reply for reply in response.result if isinstance(reply, AIMessage)]
    tokens = sum(count_tokens(reply, asked) for reply in replies)
    return budget.next_round().asked(tokens)
