"""MA-RAG: a plan, and for each of its steps search, extraction and answer, each by its own agent.

Nguyen et al. (2025), arXiv:2505.20096, section 3.1; the dilution paper compares with it (appendix
A5.2). As there, every search goes over everything, and the extractor reads one passage a call. What
differs: passages are numbered once over the run, replies cite them, and the run has a budget.

Where an agent cannot do its part, the run goes on without: a plan that is malformed twice is the
question itself, a search that is malformed twice is the step as planned. Without a chat model the
question is the plan, and the answer is quoted.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

from agents import nodes
from agents import prompts_ma_rag as prompts
from agents.answer import ABSTENTION
from agents.context import Context, Run
from agents.multistep import (
    HITS,
    Prompt,
    Several,
    Spending,
    abstains,
    conclude,
    dump_hits,
    extended,
    fence,
    numbers_of,
)
from agents.nodes import Update
from agents.passages import disarm, show
from agents.sentences import one_line
from agents.state import Input, Output
from agents.structured import Asked

PASSAGES = 5
"""Passages that the extractor reads a step, one call each. With them a plan of three steps makes 23
calls; the dilution paper counts 22 to 26."""


class Note(TypedDict):
    """What helps in one passage."""

    source: int
    text: str


class Step(TypedDict):
    """A step that has been taken."""

    step: str
    search: str
    notes: list[Note]
    answer: str


class MaState(Several):
    """The state of MA-RAG."""

    plan: list[str]
    """Added by `plan_steps`."""
    search: str
    """Of the current step; by `define_step`."""
    found: list[int]
    """Numbers of the passages that it found; by `find`."""
    notes: list[Note]
    """By `extract_notes`."""
    steps: Annotated[list[Step], extended]
    """The steps taken; `answer_step` adds one."""


class Plan(BaseModel):
    """What the planner replies."""

    steps: list[Asked] = Field(min_length=1)


class Search(BaseModel):
    """What the step definer replies."""

    search: Asked


_PLAN, _SEARCH = TypeAdapter(Plan), TypeAdapter(Search)
_EXTRACT = Prompt(prompts.EXTRACT_SYSTEM, prompts.EXTRACT_QUESTION)


def plan_steps(state: MaState, runtime: Run) -> Update:
    """Take the question apart into steps (planner)."""
    spending = Spending(state, runtime, anew=True)
    plan = None
    if runtime.context.chat is not None and not spending.halts():
        most = runtime.context.limits.rounds
        prompt = Prompt(prompts.PLAN_SYSTEM.format(steps=most), prompts.PLAN_QUESTION)
        plan = spending.ask_json(prompt, _PLAN, (), question=state["question"])
    steps = [one_line(step) for step in plan.steps] if plan else [state["question"]]
    steps = steps[: runtime.context.limits.rounds]
    return spending.update("plan", plan=steps, steps=None, hits=None)


def define_step(state: MaState, runtime: Run) -> Update:
    """Write the search of the next step (step definer)."""
    spending = Spending(state, runtime)
    step = _next_step(state)
    defined = None
    if runtime.context.chat is not None and not spending.halts():
        defined = spending.ask_json(
            Prompt(prompts.STEP_SYSTEM, prompts.STEP_QUESTION),
            _SEARCH,
            _history(state["steps"]),
            question=state["question"],
            plan=fence("\n".join(state["plan"])),
            step=step,
        )
    return spending.update("define", search=one_line(disarm(defined.search)) if defined else step)


def find(state: MaState, runtime: Run) -> Update:
    """Search everything that the caller may see (retrieval tool)."""
    spending = Spending(state, runtime)
    context = runtime.context
    hits = spending.search(state["search"], context.filter, context.k, tool="search")
    found = list(numbers_of(state["hits"], hits))
    return spending.update("search", hits=dump_hits(hits), found=found)


def extract_notes(state: MaState, runtime: Run) -> Update:
    """Take from each passage what helps, one call a passage (extractor)."""
    spending = Spending(state, runtime)
    hits = HITS.validate_python(state["hits"])
    notes: list[Note] = []
    for number in state["found"][:PASSAGES] if runtime.context.chat is not None else []:
        if spending.halts():
            break
        passage = show(number, hits[number - 1].passage)
        text = spending.ask(_EXTRACT, [passage], question=state["search"])
        if text and not text.upper().startswith(prompts.NOTHING):
            notes.append(Note(source=number, text=disarm(text)))
    return spending.update("extract", notes=notes)


def answer_step(state: MaState, runtime: Run) -> Update:
    """Answer the step from its notes (question answering agent)."""
    spending = Spending(state, runtime)
    notes = state["notes"]
    answer = ABSTENTION
    if notes and not spending.halts():
        prompt = Prompt(prompts.ANSWER_STEP_SYSTEM, prompts.ANSWER_STEP_QUESTION)
        blocks = [f"[Source {note['source']}]\n{fence(note['text'])}" for note in notes]
        answer = spending.ask(prompt, blocks, question=state["search"]) or ABSTENTION
    elif notes:
        answer = "\n".join(f"{note['text']} [Source {note['source']}]" for note in notes)
    step = Step(step=_next_step(state), search=state["search"], notes=notes, answer=answer)
    if len(state["plan"]) > len(state["steps"]) + 1:
        spending.halts(searching=True)
    return spending.update("answer_step", steps=[step])


def go_on(state: MaState) -> Literal["define_step", "assemble"]:
    """Take the next step, unless the plan or the budget has ended."""
    ended = len(state["plan"]) == len(state["steps"]) or state["budget"]["ended"]
    return "assemble" if ended else "define_step"


def assemble(state: MaState, runtime: Run) -> Update:
    """Put the steps' answers together; a plan of one step has its answer already.

    Where the budget ended before anything was answered, the passages found are answered from.
    """
    spending = Spending(state, runtime)
    stopped = spending.budget.ended is not None
    answers = [step["answer"] for step in state["steps"] if not abstains(step["answer"])]
    if runtime.context.chat is None or (stopped and not answers):
        text = None
    elif not answers:
        text = ABSTENTION
    elif len(state["plan"]) == 1 and not stopped:
        text = answers[0]
    else:
        prompt = Prompt(prompts.CONCLUDE_SYSTEM, prompts.CONCLUDE_QUESTION)
        text = spending.ask(prompt, _history(state["steps"]), question=state["question"])
    reasons = tuple(f"step {n}: {step['search']}" for n, step in enumerate(state["steps"], 1))
    return conclude(state, spending, text, reasons=reasons)


def build() -> CompiledStateGraph[MaState, Context, Input, Output]:
    """Return the machine; run it with `invoke({"question": …}, context=Context(…))`."""
    machine = StateGraph(MaState, Context, input_schema=Input, output_schema=Output)
    for node in (plan_steps, define_step, find, extract_notes, answer_step, assemble):
        machine.add_node(node.__name__, node)
    machine.add_node("check", nodes.check)
    machine.add_edge(START, "plan_steps")
    machine.add_edge("plan_steps", "define_step")
    machine.add_edge("define_step", "find")
    machine.add_edge("find", "extract_notes")
    machine.add_edge("extract_notes", "answer_step")
    machine.add_conditional_edges("answer_step", go_on)
    machine.add_edge("assemble", "check")
    machine.add_edge("check", END)
    return machine.compile()


def _next_step(state: MaState) -> str:
    return state["plan"][len(state["steps"])]


def _history(steps: Sequence[Step]) -> list[str]:
    return [
        f"Step {n}: {step['search']}\n{fence(step['answer'])}" for n, step in enumerate(steps, 1)
    ]
