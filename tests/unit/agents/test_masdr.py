"""The agent with function calling, with a scripted chat model and the store in memory."""

import json
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from agents import langchain_react, masdr, react
from agents.answer import ABSTENTION, Answered
from agents.answering import ask
from agents.context import Context, Limits
from agents.passages import estimate_tokens
from agents.tools import REPEATED
from graph.errors import ConfigurationError, ModelError, StoreUnavailable, UsageError
from graph.model import Filter, Ranking
from router.retrieve import Routed
from tests.fakes import MemoryStore
from tests.unit.agents.compared import edition, store_of
from tests.unit.agents.scripted import (
    ATTACK,
    KEYS,
    LOGS,
    OLD_LOGS,
    QUESTION,
    RAILS,
    SECRET,
    Script,
    ToolModel,
    WithoutTools,
    action,
    calls,
    context,
    model,
    search,
    texts,
)

ANSWER = "They are kept for three years [Source 1]."
CURRENT = Filter(current_only=True)
NATIVE = [masdr, langchain_react]
ALL = [masdr, langchain_react, react]
names = pytest.mark.parametrize("machine", ALL, ids=lambda one: one.__name__.split(".")[-1])
native = pytest.mark.parametrize("machine", NATIVE, ids=lambda one: one.__name__.split(".")[-1])


def run(
    machine: Any, chat: ToolModel | None, *, given_store: MemoryStore | None = None, **given: Any
) -> Answered:
    made = replace(context(chat, given_store), **{"filter": CURRENT, **given})
    return ask(machine.build(), QUESTION, made)


def asks(machine: Any, tool: str, **arguments: Any) -> Script:
    """One call of a tool, in the form that the machine's model gives it."""
    if machine is react:
        return action(tool, json.dumps(arguments))
    return calls((tool, arguments))


def says(machine: Any, text: str) -> Script:
    return f"Thought: done\nFinal Answer: {text}" if machine is react else text


@names
def test_it_searches_then_answers_and_the_answer_is_checked(machine: Any) -> None:
    chat = model(asks(machine, "search_policy", query="audit logs"), says(machine, ANSWER))
    answered = run(machine, chat)

    assert answered.answer.text == ANSWER
    assert texts(answered.ranking.hits) == [LOGS, KEYS]
    assert [source.cited for source in answered.answer.sources] == [True, False]
    assert answered.ranking.system == "hybrid"
    assert answered.answer.stopped is None


@names
def test_sources_keep_their_numbers_over_the_rounds(machine: Any) -> None:
    chat = model(
        asks(machine, "search_rail_tracks", query="rails"),
        asks(machine, "search", query="audit logs kept"),
        says(machine, "Three years [Source 2]. Rails twice a week [Source 1]."),
    )
    answer = run(machine, chat).answer

    assert [source.n for source in answer.sources if source.cited] == [1, 2]
    assert [source.passage.text for source in answer.sources][:2] == [RAILS, LOGS]
    assert answer.checks.unfounded_figures == ()


@names
def test_what_the_model_gets_wrong_is_seen(machine: Any) -> None:
    said = "They are kept for five years [Source 1]. By whom is open [Source 8]."
    chat = model(asks(machine, "search_policy", query="audit logs"), says(machine, said))
    answer = run(machine, chat).answer

    assert "[not in the source: five years]" in answer.text
    assert answer.checks.removed_citations == 1


def test_for_a_model_that_answers_at_once_the_question_is_searched_first() -> None:
    chat = model(ANSWER)
    answered = run(masdr, chat)

    assert answered.answer.text == ANSWER
    assert LOGS in texts(answered.ranking.hits)
    assert any(LOGS in told for told in chat.told)
    assert answered.answer.usage.llm_calls == 2


@pytest.mark.parametrize("machine", [langchain_react, react])
def test_a_model_that_never_calls_a_tool_has_nothing_to_cite(machine: Any) -> None:
    answered = run(machine, model(says(machine, ANSWER)))

    assert answered.answer.text == ABSTENTION
    assert not answered.answer.supported
    assert answered.answer.checks.removed_citations == 1
    assert answered.answer.usage.llm_calls == 1


@names
def test_an_answer_without_support_is_not_said(machine: Any) -> None:
    chat = model(asks(machine, "search", query="audit logs"), says(machine, "Three years, surely."))

    assert run(machine, chat).answer.text == ABSTENTION


def forever(machine: Any, limit: int) -> Callable[[list[BaseMessage]], AIMessage]:
    """A model that asks for something else every time, and answers only where it has no tools."""
    asked: list[int] = []

    def reply(messages: list[BaseMessage]) -> AIMessage:
        if "Passages:" in messages[-1].text:
            return AIMessage(ANSWER)
        asked.append(1)
        assert len(asked) <= limit
        script = asks(machine, "search_policy", query=f"audit logs {len(asked)}")
        return AIMessage(script) if isinstance(script, str) else script  # type: ignore[return-value]

    return reply


@names
@pytest.mark.parametrize(
    ("limits", "rounds", "stopped"),
    [
        (Limits(rounds=3, steps=3), 3, "3 rounds"),
        (Limits(tool_calls=2), 2, "2 tool calls"),
        (Limits(run_tokens=10), 1, "10 tokens"),
        (Limits(run_seconds=0), 1, "0 seconds"),
    ],
)
def test_each_limit_ends_in_an_answer_from_what_was_found(
    machine: Any, limits: Limits, rounds: int, stopped: str
) -> None:
    if machine is langchain_react and limits.run_seconds == 0:
        limits = replace(limits, run_seconds=1e-9)
        stopped, rounds = "1e-09 seconds", 0
    chat = model(forever(machine, rounds))
    answer = run(machine, chat, limits=limits).answer

    assert answer.stopped == stopped
    assert answer.usage.llm_calls == rounds + (1 if rounds else 0)
    assert answer.text == (ANSWER if rounds else ABSTENTION)


@names
def test_the_same_call_again_and_again_ends_in_an_answer(machine: Any) -> None:
    def reply(messages: list[BaseMessage]) -> AIMessage:
        if "Passages:" in messages[-1].text:
            return AIMessage(ANSWER)
        script = asks(machine, "search_policy", query="audit logs")
        return AIMessage(script) if isinstance(script, str) else script  # type: ignore[return-value]

    chat = model(reply)
    answer = run(machine, chat).answer

    assert answer.stopped == "2 repeated tool calls"
    assert answer.text == ANSWER
    assert any(REPEATED in message.text for message in chat.asked[-2])


@names
def test_a_context_that_is_full_ends_in_an_answer(machine: Any) -> None:
    long = " ".join([LOGS] * 60)
    store = store_of(
        *(edition(str(n), (None, "T", f"{n} {long}"), scope=f"s{n}") for n in range(3))
    )
    limits = Limits(context_tokens=4_000, answer_tokens=500, rounds=9, steps=9)

    def reply(messages: list[BaseMessage]) -> AIMessage:
        if "Passages:" in messages[-1].text:
            return AIMessage(ANSWER)
        n = sum(message.type == "ai" for message in messages)
        script = asks(machine, "search", query=f"audit logs {n}", scope=f"s{n % 3}")
        return AIMessage(script) if isinstance(script, str) else script  # type: ignore[return-value]

    chat = model(reply)
    answer = run(machine, chat, given_store=store, limits=limits, filter=Filter()).answer

    assert answer.stopped == "4,000 tokens of the model's context"
    assert answer.text == ANSWER
    sent = [sum(estimate_tokens(m.text) for m in messages) for messages in chat.asked]
    assert max(sent) <= 3_500


@names
def test_a_question_that_leaves_no_room_for_passages_is_refused(machine: Any) -> None:
    limits = Limits(context_tokens=1_500, answer_tokens=500)
    with pytest.raises(UsageError, match="no room for passages"):
        run(machine, model(ANSWER), limits=limits)


@names
def test_a_limit_that_ends_a_search_without_finds_does_not_ask_once_more(machine: Any) -> None:
    chat = model(asks(machine, "search", query="audit logs"))
    answer = run(machine, chat, limits=Limits(rounds=1, steps=1), **lost(None))

    assert answer.answer.text == ABSTENTION
    assert answer.answer.usage.llm_calls == 1


def lost(error: Exception | None) -> dict[str, Any]:
    """A system that fails, or finds nothing."""

    def retrieve(routed: Routed, k: int) -> Ranking:
        if error is not None:
            raise error
        return Ranking(routed.query, "hybrid", ())

    return {"system": replace(context(None).system, retrieve=retrieve)}


@names
@pytest.mark.parametrize("error", [StoreUnavailable("Start it."), ModelError("Load it.")])
def test_a_lost_graph_is_raised_and_not_told_to_the_model(machine: Any, error: Exception) -> None:
    chat = model(asks(machine, "search", query="audit logs"), says(machine, ANSWER))
    with pytest.raises(type(error)):
        run(machine, chat, **lost(error))

    assert len(chat.asked) == 1


@names
def test_a_chat_model_that_fails_for_good_is_told_in_our_words(machine: Any) -> None:
    def fail(messages: list[BaseMessage]) -> AIMessage:
        raise RuntimeError("<html>secret</html>")

    with pytest.raises(ModelError, match="The chat model failed") as raised:
        run(machine, model(fail))

    assert "secret" not in str(raised.value)


@names
def test_a_chat_model_that_fails_for_a_moment_is_asked_again(machine: Any) -> None:
    class TimeoutFailure(Exception):
        pass

    def fail(messages: list[BaseMessage]) -> AIMessage:
        raise TimeoutFailure

    chat = model(fail, asks(machine, "search", query="audit logs"), says(machine, ANSWER))
    answer = run(machine, chat, limits=Limits(pause_seconds=0)).answer

    assert len(chat.asked) == 3
    assert answer.usage.llm_calls == 2


@names
def test_a_scope_that_the_caller_may_not_see_is_an_error_to_the_model(machine: Any) -> None:
    chat = model(
        asks(machine, "search_hr", query="audit logs of salaries"),
        asks(machine, "search", query="audit logs of salaries", scope="hr"),
        says(machine, "Ninety years [Source 1]."),
    )
    answered = run(machine, chat, filter=Filter())

    assert answered.ranking.hits == ()
    assert answered.answer.text == ABSTENTION
    heard = "\n".join(message.text for message in chat.asked[-1])
    assert SECRET not in heard
    assert "There is no scope 'hr'" in heard


@names
def test_the_callers_filter_binds_every_round(machine: Any) -> None:
    chat = model(
        asks(machine, "search", query="audit logs two years"),
        asks(machine, "get_section", section="5.4", document="Policy", edition="1.0"),
        says(machine, ANSWER),
    )
    answered = run(machine, chat)

    assert OLD_LOGS not in texts(answered.ranking.hits)
    assert answered.ranking.query.filter == CURRENT


@names
def test_a_passage_gives_no_instructions(machine: Any) -> None:
    chat = model(asks(machine, "search_notes", query="logs of the tracks"), says(machine, ANSWER))
    answered = run(machine, chat, filter=Filter())
    (told,) = chat.told

    assert texts(answered.ranking.hits) == [ATTACK]
    assert len(chat.asked) == 2  # no tool was called because the passage says so
    assert "[Source 3]" not in told
    lines = told.removeprefix("Observation: ").splitlines()
    assert all(line.startswith(("| ", "[Source 1]")) for line in lines)
    assert "900 years" not in answered.answer.text


@names
def test_usage_counts_every_call_and_its_tokens(machine: Any) -> None:
    usage: Any = {"input_tokens": 70, "output_tokens": 30, "total_tokens": 100}

    def reply(script: Script) -> AIMessage:
        made = AIMessage(script) if isinstance(script, str) else script
        return made.model_copy(update={"usage_metadata": usage})  # type: ignore[union-attr]

    chat = model(
        reply(asks(machine, "search_policy", query="audit logs")),
        reply(asks(machine, "search_policy", query="keys")),
        reply(says(machine, ANSWER)),
    )
    answer = run(machine, chat).answer

    assert (answer.usage.llm_calls, answer.usage.tokens) == (3, 300)


@names
def test_times_are_those_of_all_rounds(machine: Any) -> None:
    chat = model(
        asks(machine, "search_policy", query="audit logs"),
        asks(machine, "search_policy", query="keys"),
        says(machine, ANSWER),
    )
    timings = run(machine, chat).ranking.timings_ms
    loop = ["agent"] if machine is langchain_react else ["reason", "act"]

    assert list(timings) == ["begin", *loop, "answer", "check"]
    assert all(milliseconds > 0 for milliseconds in timings.values())


@names
def test_a_machine_that_needs_a_chat_model_says_so(machine: Any) -> None:
    with pytest.raises(ConfigurationError, match="chat model"):
        run(machine, None)


@names
def test_each_node_adds_plain_json_and_a_checkpointer_keeps_it(
    machine: Any, caplog: pytest.LogCaptureFixture
) -> None:
    chat = model(asks(machine, "search_policy", query="audit logs"), says(machine, ANSWER))
    built = machine.build()
    built.checkpointer = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}}
    updates = list(
        built.stream({"question": QUESTION}, thread, context=context(chat), stream_mode="updates")
    )

    assert len(json.dumps(updates)) < 60_000
    assert built.get_state(thread).values["answer"]["text"] == ANSWER
    assert not caplog.records  # a type that the serialiser does not know is logged


@names
def test_a_machine_can_be_asked_again_in_the_same_thread(machine: Any) -> None:
    chat = model(
        asks(machine, "search_rail_tracks", query="rails"),
        says(machine, "Twice a week [Source 1]."),
        asks(machine, "search_policy", query="audit logs"),
        says(machine, ANSWER),
    )
    built = machine.build()
    built.checkpointer = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "1"}}
    given = context(chat, filter=CURRENT)
    first = built.invoke({"question": "How often?"}, thread, context=given)
    began = perf_counter()
    result = built.invoke({"question": QUESTION}, thread, context=given)
    took = (perf_counter() - began) * 1000

    assert first["answer"]["text"] == "Twice a week [Source 1]."
    assert sum(result["timings_ms"].values()) <= took  # of this turn alone

    assert result["answer"]["text"] == ANSWER
    assert result["answer"]["usage"]["llm_calls"] == 2
    assert result["answer"]["sources"][0]["passage"]["text"] == LOGS


@names
def test_it_can_be_drawn(machine: Any) -> None:
    drawn = machine.build().get_graph().draw_mermaid()
    loop = ["begin --> agent", "agent --> answer"]
    if machine is not langchain_react:
        loop = ["begin --> reason", "reason -.-> act", "reason -.-> answer", "act -.-> reason"]

    for edge in ("__start__ --> begin", *loop, "answer --> check", "check --> __end__"):
        assert edge in drawn


@native
def test_the_model_is_offered_the_tools_of_what_it_may_see(machine: Any) -> None:
    chat = model(ANSWER)
    run(machine, chat, filter=Filter())

    assert chat.offered[-1] == [
        "search",
        "search_notes",
        "search_policy",
        "search_rail_tracks",
        "get_section",
        "compare_versions",
    ]


@native
def test_several_calls_of_one_round_are_run_in_their_order(machine: Any) -> None:
    chat = model(
        calls(
            ("search_rail_tracks", {"query": "rails"}),
            ("search_policy", {"query": "audit logs"}),
            ("search_notes", {"query": "logs"}),
        ),
        ANSWER,
    )
    answered = run(machine, chat)

    assert [hit.passage.scope for hit in answered.ranking.hits] == [
        "rail tracks",
        "policy",
        "policy",
        "notes",
    ]


@native
def test_every_call_gets_its_result_even_a_wrong_one(machine: Any) -> None:
    asked = calls(
        ("search_policy", {"query": "audit logs"}),
        ("browse_web", {"url": "http://example.org"}),
        ("search", {"words": "logs"}),
        ("compare_versions", {"series": "Policy", "older": "0.1", "newer": "2.0"}),
    )
    chat = model(asked, ANSWER)
    run(machine, chat, filter=Filter())
    results = [message for message in chat.asked[-1] if message.type == "tool"]

    assert {getattr(one, "tool_call_id", "") for one in results} == {
        call["id"] for call in asked.tool_calls
    }
    told = "\n".join(one.text for one in results)
    assert "browse_web" in told
    assert "query: Field required" in told
    assert "There is no edition '0.1'" in told


def test_arguments_that_are_no_json_are_told() -> None:
    broken = AIMessage(
        "",
        invalid_tool_calls=[
            {
                "name": "search",
                "args": "{query:",
                "id": "call_1",
                "error": None,
                "type": "invalid_tool_call",
            }
        ],
    )
    chat = model(broken, ANSWER)
    run(masdr, chat)

    assert "no valid JSON" in chat.told[0]


@native
def test_a_model_without_function_calling_is_sent_to_react(machine: Any) -> None:
    chat = WithoutTools(replies=[ANSWER])
    with pytest.raises(ConfigurationError, match="--machine react"):
        run(machine, chat)


def test_it_compares_editions_and_reads_sections() -> None:
    chat = model(
        calls(("compare_versions", {"series": "Policy", "older": "1.0", "newer": "2.0"})),
        calls(("get_section", {"source": 2})),
        "It was two years [Source 1] and is three years [Source 2].",
    )
    answered = run(masdr, chat, filter=Filter())

    assert texts(answered.ranking.hits) == [OLD_LOGS, LOGS]
    assert answered.answer.checks.unfounded_figures == ()
    assert answered.answer.supported


def test_search_arguments_of_the_paper_are_kept() -> None:
    limits = Context(context(None).system, context(None).embedder).limits

    assert (limits.rounds, limits.steps, limits.answer_tokens) == (5, 6, 1024)


def test_the_model_is_told_how_many_rounds_it_has() -> None:
    chat = model(search("rails"), ANSWER)
    run(masdr, chat, limits=Limits(rounds=4))

    assert "You have 4 rounds" in chat.asked[0][0].text
