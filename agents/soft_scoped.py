"""The default machine: route -> retrieve -> answer -> check, with a single synthesis."""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agents import nodes
from agents.context import Context
from agents.state import Input, Output, State


def build() -> CompiledStateGraph[State, Context, Input, Output]:
    """Return the machine; run it with `invoke({"question": …}, context=Context(…))`."""
    machine = StateGraph(State, Context, input_schema=Input, output_schema=Output)
    machine.add_node("route", nodes.route)
    machine.add_node("retrieve", nodes.retrieve)
    machine.add_node("answer", nodes.answer)
    machine.add_node("check", nodes.check)
    machine.add_edge(START, "route")
    machine.add_edge("route", "retrieve")
    machine.add_edge("retrieve", "answer")
    machine.add_edge("answer", "check")
    machine.add_edge("check", END)
    return machine.compile()
