"""The steps of the machines: each reads the state and returns what it adds.

Errors are not caught here: a run that cannot search has no answer, and a lost database must not
read as "the documents do not say".
"""

from collections.abc import Mapping
from time import perf_counter

from agents.answer import Answer, Source, Usage
from agents.attribution import attributed
from agents.citations import check as check_citations
from agents.context import Run
from agents.extractive import extract
from agents.passages import evidence
from agents.state import ANSWER, GUIDANCE, RANKING, ROUTE, State
from agents.synthesis import synthesize
from graph.model import Query
from router.retrieve import Routed

Update = Mapping[str, object]
"""Values for some of the state's keys."""


def route(state: State, runtime: Run) -> Update:
    """Tell which scopes the question belongs to."""
    routed = runtime.context.system.route(_query(state, runtime))
    return {
        "route": ROUTE.dump_python(routed.routes, mode="json"),
        "guidance": GUIDANCE.dump_python(routed.guidance, mode="json"),
        "timings_ms": dict(routed.timings_ms),
    }


def retrieve(state: State, runtime: Run) -> Update:
    """Find passages, along the route in the state."""
    context = runtime.context
    query = _query(state, runtime)
    vector = context.embedder.embed_query(query.text)
    routes = ROUTE.validate_python(state["route"])
    routed = Routed(query, vector, routes, GUIDANCE.validate_python(state["guidance"]))
    ranking = context.system.retrieve(routed, context.k)
    return {
        "ranking": RANKING.dump_python(ranking, mode="json"),
        "timings_ms": dict(ranking.timings_ms),
    }


def answer(state: State, runtime: Run) -> Update:
    """Draft an answer from the passages, with the chat model if there is one."""
    started = perf_counter()
    context = runtime.context
    hits = RANKING.validate_python(state["ranking"]).hits
    if context.chat is None:
        draft = extract(state["question"], hits, context.embedder)
    else:
        draft = synthesize(state["question"], hits, context.chat, context.limits)
    return {"draft": draft, "timings_ms": {"answer": _since(started)}}


def check(state: State, runtime: Run) -> Update:
    """Hold the draft's citations against the passages that it was made from; find missing ones."""
    started = perf_counter()
    hits = RANKING.validate_python(state["ranking"]).hits
    draft = state["draft"]
    shown = [hit.passage for hit in hits[: draft["shown"]]]
    sources = [evidence(passage) for passage in shown]
    text = draft["text"] if draft["extractive"] else attributed(draft["text"], sources)
    checked = check_citations(text, sources)
    checked_answer = Answer(
        text=checked.text,
        sources=tuple(Source(n, p, n in checked.cited) for n, p in enumerate(shown, start=1)),
        checks=checked.checks,
        usage=Usage(draft["llm_calls"], draft["tokens"]),
        extractive=draft["extractive"],
        supported=checked.supported,
        passages_left_out=len(hits) - len(shown),
        stopped=draft.get("stopped"),
    )
    return {
        "answer": ANSWER.dump_python(checked_answer, mode="json"),
        "timings_ms": {"check": _since(started)},
    }


def _query(state: State, runtime: Run) -> Query:
    return Query(state["question"], runtime.context.filter)


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)
