"""SCOUT-RAG: agents that widen the search by domains for as long as the answer gets better.

Li et al. (2026), arXiv:2602.08400, Algorithm 1; the dilution paper compares with it (appendix A5.2)
and makes each scope a domain, as here. Relevance of the domains (DRAA), partial answers (PAGA),
their synthesis (OASA) and its quality (AQAA); then deeper, broader, both or no further. What
differs: passages are numbered once over the run, replies cite them, and the run has a budget.

Where an agent cannot do its part, the run goes on without: tiers that are malformed twice follow
the similarity of the domains, a quality that is malformed twice ends the refinement. If no domain
seems relevant, everything is searched. Without a chat model the passages of the relevant domains
are quoted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import TypeAdapter

from agents import nodes, scout
from agents import prompts_scout_rag as prompts
from agents.answer import ABSTENTION
from agents.context import Context, Run
from agents.multistep import (
    OVERHEAD,
    Prompt,
    Spending,
    abstains,
    appended,
    conclude,
    dump_hits,
    fence,
    numbers_of,
    within,
)
from agents.nodes import Update
from agents.passages import disarm, fit
from agents.scout import Tier
from agents.scout_state import Assessed, Partial, Quality, ScoutState, Task, Tiers
from agents.sentences import one_line
from agents.state import Input, Output
from graph.model import Hit

NEAREST = 200
"""Passages whose scopes tell how near each domain comes to the question."""
MOST_TASKS = 5
"""Of one round: a tier has five domains in the paper's example."""
FOLLOW_UPS = 3
EVERYTHING = ""
"""Name of the domain that is everything."""


_TIERS, _JUDGED = TypeAdapter(Tiers), TypeAdapter(Quality)
_RELEVANCE = Prompt(prompts.RELEVANCE_SYSTEM, prompts.RELEVANCE_QUESTION)
_PARTIAL = Prompt(prompts.PARTIAL_SYSTEM, prompts.PARTIAL_QUESTION)
_SYNTHESIS = Prompt(prompts.SYNTHESIS_SYSTEM, prompts.SYNTHESIS_QUESTION)
_QUALITY = Prompt(prompts.QUALITY_SYSTEM.format(follow_ups=FOLLOW_UPS), prompts.QUALITY_QUESTION)


def assess_domains(state: ScoutState, runtime: Run) -> Update:
    """Sort the domains into tiers (domain relevance assessment)."""
    spending = Spending(state, runtime, anew=True)
    context = runtime.context
    sizes = {scope.name: scope.chunks for scope in context.graph.list_scopes(context.filter)}
    similarity = _similarity(state["question"], list(sizes), context)
    tiers: dict[str, Tier] = scout.tiers_by_similarity(similarity)
    if context.chat is not None and len(sizes) > 1 and not spending.halts():
        rich = scout.richness(sizes)
        domains = "\n".join(
            f"- {disarm(name)}: similarity {similarity[name]:.2f}, size {rich[name]:.2f}"
            for name in similarity
        )
        judged = spending.ask_json(_RELEVANCE, _TIERS, [domains], question=state["question"])
        if judged is not None:
            tiers = dict[str, Tier].fromkeys(similarity, "POTENTIAL")
            tiers |= {name: tier for name, tier in judged.tiers.items() if name in tiers}
    question = [state["question"]]
    tasks = _tasks(tiers, "HIGH", question) + _tasks(tiers, "MODERATE", question)
    everything = Task(domain=EVERYTHING, question=state["question"])
    return spending.update(
        "relevance",
        tiers=tiers,
        tasks=tasks[:MOST_TASKS] or [everything],
        hits=None,
        partials=None,
        assessed=None,
        candidate="",
    )


def answer_partially(state: ScoutState, runtime: Run) -> Update:
    """Search each domain and answer from it (partial answer generation).

    A domain of tier HIGH is searched widely for the question itself; other searches are narrow.
    """
    spending = Spending(state, runtime)
    known = before = state["hits"]
    partials: list[Partial] = []
    for task in state["tasks"]:
        if partials and spending.halts(searching=True):
            break
        where = within(runtime.context.filter, task["domain"])
        k = runtime.context.k if _is_wide(task, state) else max(runtime.context.k // 2, 1)
        found = spending.search(task["question"], where, k, tool="search")
        numbered = numbers_of(known, found)
        known = appended(known, dump_hits(found))
        partials.append(Partial(**task, text=_partial(task, numbered, spending)))
    return spending.update(
        "partial", hits=known[len(before) :], partials=partials, fresh=len(partials)
    )


def synthesize(state: ScoutState, runtime: Run) -> Update:
    """Put the answer so far and the new partial answers together (overall answer synthesis)."""
    spending = Spending(state, runtime)
    fresh = state["partials"][-state["fresh"] :]
    parts = [(one["domain"] or "everything", one["text"]) for one in fresh]
    if state["candidate"]:
        parts.insert(0, ("the answer so far", state["candidate"]))
    parts = [(name, text) for name, text in parts if not abstains(text)]
    candidate = "\n".join(text for _, text in parts) or ABSTENTION
    if len(parts) > 1:
        blocks = [f"From {disarm(name)}:\n{fence(text)}" for name, text in parts]
        candidate = spending.ask(_SYNTHESIS, blocks, question=state["question"]) or candidate
    return spending.update("synthesis", candidate=candidate)


def assess_quality(state: ScoutState, runtime: Run) -> Update:
    """Judge completeness and breadth, and ask what is missing (answer quality assessment).

    An answer that says nothing has a quality of 0 without being judged. What cannot be judged, for
    want of a model, of a budget or of a reply that can be read, is not refined.
    """
    spending = Spending(state, runtime)
    quality = None
    if runtime.context.chat is not None and abstains(state["candidate"]):
        quality = Quality(completeness=0, breadth=0)
    elif runtime.context.chat is not None and not spending.halts():
        blocks = [fence(state["candidate"])]
        quality = spending.ask_json(_QUALITY, _JUDGED, blocks, question=state["question"])
    value = scout.quality(quality.completeness, quality.breadth) if quality else None
    follow_ups = quality.follow_ups[:FOLLOW_UPS] if quality else []
    return spending.update(
        "quality",
        completeness=quality.completeness if quality else 1.0,
        breadth=quality.breadth if quality else 1.0,
        follow_ups=[one_line(disarm(one)) for one in follow_ups],
        assessed=[Assessed(text=state["candidate"], quality=value)],
    )


def choose_tasks(state: ScoutState, runtime: Run) -> Update:
    """Choose what the next round asks which domains; to ask nothing ends the refinement."""
    spending = Spending(state, runtime)
    *earlier, now = [one["quality"] for one in state["assessed"]]
    before = earlier[-1] if earlier else None
    left = spending.seconds_left
    tasks: list[Task] = []
    if now is not None and not scout.is_done(now, before, left):
        strategy = scout.choose_strategy(state["completeness"], state["breadth"], left)
        if strategy in ("depth", "hybrid"):
            tasks += _tasks(state["tiers"], "HIGH", state["follow_ups"])
        if strategy in ("breadth", "hybrid"):
            tasks += _tasks(state["tiers"], "POTENTIAL", [state["question"]])
    asked = [(one["domain"], one["question"]) for one in state["partials"]]
    new = [task for task in tasks if (task["domain"], task["question"]) not in asked]
    if new and spending.halts(searching=True, rounds=runtime.context.limits.rounds):
        new = []
    elif new:
        spending.next_round()
    return spending.update("choose", tasks=new[:MOST_TASKS])


def go_on(state: ScoutState) -> Literal["answer_partially", "assemble"]:
    """Take a further round, if there is anything to ask."""
    return "answer_partially" if state["tasks"] else "assemble"


def assemble(state: ScoutState, runtime: Run) -> Update:
    """Take the best answer of all rounds, the newest where none was judged.

    Where the budget ended before anything was answered, the passages found are answered from.
    """
    spending = Spending(state, runtime)
    best = max(
        (one for one in state["assessed"] if not abstains(one["text"])),
        key=lambda one: -1.0 if one["quality"] is None else one["quality"],
        default=state["assessed"][-1],
    )["text"]
    stopped = spending.budget.ended is not None
    unanswered = runtime.context.chat is None or (stopped and abstains(best))
    return conclude(state, spending, None if unanswered else best, reasons=_reasons(state))


def build() -> CompiledStateGraph[ScoutState, Context, Input, Output]:
    """Return the machine; run it with `invoke({"question": …}, context=Context(…))`."""
    machine = StateGraph(ScoutState, Context, input_schema=Input, output_schema=Output)
    machine.add_node("assess_domains", assess_domains)
    machine.add_node("answer_partially", answer_partially)
    machine.add_node("synthesize", synthesize)
    machine.add_node("assess_quality", assess_quality)
    machine.add_node("choose_tasks", choose_tasks)
    machine.add_node("assemble", assemble)
    machine.add_node("check", nodes.check)
    machine.add_edge(START, "assess_domains")
    machine.add_edge("assess_domains", "answer_partially")
    machine.add_edge("answer_partially", "synthesize")
    machine.add_edge("synthesize", "assess_quality")
    machine.add_edge("assess_quality", "choose_tasks")
    machine.add_conditional_edges("choose_tasks", go_on)
    machine.add_edge("assemble", "check")
    machine.add_edge("check", END)
    return machine.compile()


def _similarity(question: str, domains: Sequence[str], context: Context) -> dict[str, float]:
    """Return the cosine of each domain's nearest passage, nearest first; 0 without one nearby."""
    vector = context.embedder.embed_query(question)
    nearest = context.graph.nearest_scopes(vector, context.filter, NEAREST)
    similarity = dict.fromkeys(domains, 0.0)
    for domain, score in nearest:
        similarity[domain] = max(similarity.get(domain, 0.0), 2 * score - 1)  # stored mapped
    return dict(sorted(similarity.items(), key=lambda pair: (-pair[1], pair[0])))


def _tasks(tiers: Mapping[str, Tier], tier: Tier, questions: Sequence[str]) -> list[Task]:
    return [
        Task(domain=name, question=question)
        for question in questions
        for name, its in tiers.items()
        if its == tier
    ]


def _is_wide(task: Task, state: ScoutState) -> bool:
    relevant = task["domain"] == EVERYTHING or state["tiers"].get(task["domain"]) == "HIGH"
    return relevant and task["question"] == state["question"]


def _partial(task: Task, found: Mapping[int, Hit], spending: Spending) -> str:
    if not found or spending.context.chat is None or spending.halts():
        return ABSTENTION
    instructions = _PARTIAL.system + _PARTIAL.question
    limits = spending.context.limits
    limits = replace(limits, context_tokens=limits.context_tokens - OVERHEAD)
    fitted = fit(list(found.values()), task["question"], instructions, limits, list(found))
    domain = disarm(task["domain"]) or "everything"
    text = spending.ask(_PARTIAL, [fitted.text], question=task["question"], domain=domain)
    return text or ABSTENTION


def _reasons(state: ScoutState) -> tuple[str, ...]:
    """Return what was thought of the domains, and the quality by rounds."""
    tiers = [
        f"{tier}: {', '.join(names)}"
        for tier in ("HIGH", "MODERATE", "POTENTIAL")
        if (names := [name for name, its in state["tiers"].items() if its == tier])
    ]
    qualities = ", ".join(
        "not judged" if one["quality"] is None else f"{one['quality']:.2f}"
        for one in state["assessed"]
    )
    return (*tiers, f"quality by round: {qualities}")
