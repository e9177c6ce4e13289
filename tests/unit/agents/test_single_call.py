"""SingleCall on a collection in memory, with a scripted chat model."""

from dataclasses import replace
from functools import partial

import pytest

from agents import single_call
from agents.answer import Answered
from agents.answering import ask
from agents.context import Context
from agents.single_call import fused_by_rank
from graph.errors import StoreUnavailable
from graph.model import Filter, Query
from router import retrieve, systems
from router.retrieve import System
from router.route import vote
from tests.fakes import MemoryStore
from tests.graphs import make_document
from tests.unit.agents.casting import Agents, context
from tests.unit.agents.made import hits

OLD = "Audit logs shall be kept for two years by each authority."
NEW = "Audit logs shall be kept for three years by each authority."
NOISE = [f"Audit logs are mentioned in newsletter {n} of the agency." for n in range(6)]
QUESTION = "How long shall audit logs be kept by each authority?"
ANSWER = "You answer questions"


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore()
    of_series = {"scope": "policy", "series": "Common Policy"}
    made.write(
        [
            make_document("policy1", OLD, edition="1.0", year=2010, **of_series),
            make_document("policy2", NEW, edition="2.0", year=2021, **of_series),
            make_document("news", *NOISE, scope="news"),
        ]
    )
    made.finish("default")
    return made


def routed(store: MemoryStore, chat: Agents | None = None, **properties: object) -> Context:
    """A context whose system tells the likely scopes."""
    made = context(store, chat, **properties)
    system = System(
        "routed",
        partial(
            retrieve.embed_and_route, embedder=made.embedder, router=partial(vote, store=store)
        ),
        partial(systems.monolithic, store=store),
    )
    return replace(made, system=system)


def run(given: Context, question: str = QUESTION) -> Answered:
    return ask(single_call.build(), question, given)


def texts(answered: Answered) -> list[str]:
    return [hit.passage.text for hit in answered.ranking.hits]


def test_the_machine_can_be_drawn() -> None:
    drawn = single_call.build().get_graph().draw_mermaid()

    for edge in ("__start__ --> route", "route --> search_everything",
                 "search_everything --> search_scopes", "search_everything --> look_up",
                 "search_scopes --> fuse", "look_up --> fuse", "fuse --> answer",
                 "answer --> check", "check --> __end__"):  # fmt: skip
        assert edge in drawn


def test_all_passages_are_read_in_one_call(store: MemoryStore) -> None:
    chat = Agents(script={ANSWER: ["For three years [Source 1]."]}, asked=[])
    found = run(routed(store, chat, k=4))

    assert found.answer.usage.llm_calls == 1
    (asked,) = chat.calls(ANSWER)
    for text in texts(found):
        assert f"| {text}" in asked


def test_each_likely_scope_is_searched_beside_everything(store: MemoryStore) -> None:
    found = run(routed(store, k=1), "Which newsletter of the agency mentions audit logs?")

    assert {hit.passage.scope for hit in found.ranking.hits} == {"news", "policy"}
    assert found.ranking.reasons == (
        "searched everything: 1 found",
        "searched scope news: 1 found",
        "searched scope policy: 1 found",
    )


def test_both_editions_that_a_question_compares_are_looked_up(store: MemoryStore) -> None:
    asked = "What changed about audit logs between edition 1.0 and edition 2.0 of Common Policy?"
    found = run(routed(store, k=1), asked)

    assert set(texts(found)) >= {OLD, NEW}
    assert "searched edition 1.0: 1 found" in found.ranking.reasons


def test_a_section_that_is_named_is_looked_up(store: MemoryStore) -> None:
    store.write([make_document("guide", "Unlike words here.", "Nothing alike there.")])
    found = run(routed(store, k=1), "What does section 2 say?")

    assert "Nothing alike there." in texts(found)


def test_a_look_up_does_not_widen_what_the_caller_may_see(store: MemoryStore) -> None:
    asked = "What changed between edition 1.0 and edition 2.0 of Common Policy?"
    found = run(routed(store, k=5, filter=Filter(scopes=("policy",), edition="2.0")), asked)

    assert texts(found) == [NEW]


def test_without_routes_everything_is_searched(store: MemoryStore) -> None:
    found = run(context(store))

    assert found.ranking.reasons[0].startswith("searched everything")
    assert found.answer.supported


def test_without_a_chat_model_the_answer_is_quoted(store: MemoryStore) -> None:
    answer = run(routed(store)).answer

    assert answer.extractive
    assert answer.supported


def test_lists_are_fused_by_reciprocal_rank() -> None:
    a, b, c = hits("a", "b", "c")
    fused = fused_by_rank({"everything": [a, b], "scope policy": [b, c]})

    assert [hit.passage.text for hit in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert [entry.rank for entry in fused[0].lists.values()] == [2, 1]


def test_the_same_question_gives_the_same_ranking(store: MemoryStore) -> None:
    first, second = run(routed(store)), run(routed(store))

    assert first.ranking.hits == second.ranking.hits
    assert first.ranking.query == Query(QUESTION)


def test_a_lost_store_is_raised(store: MemoryStore) -> None:
    class Lost(MemoryStore):
        def holdings(self, where: Filter) -> None:  # type: ignore[override]
            raise StoreUnavailable("The graph cannot be reached. Start it.")

    with pytest.raises(StoreUnavailable):
        run(replace(routed(store), store=Lost()))
