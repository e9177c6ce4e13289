"""What is particular to LangChain's own agent; what it shares with masdr is in test_masdr."""

from typing import Any

from langchain_core.messages import AIMessage

from agents import langchain_react
from agents.answering import ask
from tests.unit.agents.scripted import QUESTION, calls, context, model, texts

ANSWER = "They are kept for three years [Source 1]."


def test_the_conversation_is_kept_for_people_to_read() -> None:
    chat = model(calls(("search_policy", {"query": "audit logs"})), ANSWER)
    updates = list(
        langchain_react.build().stream(
            {"question": QUESTION}, context=context(chat), stream_mode="updates"
        )
    )
    agent: Any = next(update["agent"] for update in updates if "agent" in update)

    assert [message["type"] for message in agent["messages"]] == ["human", "ai", "tool", "ai"]
    assert agent["conclusion"] == ANSWER
    assert agent["budget"]["rounds"] == 2


def test_many_calls_of_one_round_are_numbered_the_same_every_time() -> None:
    words = ["audit", "rails", "keys", "logs", "tracks", "years"]
    found: set[tuple[str, ...]] = set()
    for _ in range(10):
        chat = model(calls(*(("search", {"query": word}) for word in words)), ANSWER)
        answered = ask(langchain_react.build(), QUESTION, context(chat, k=1))
        found.add(tuple(texts(answered.ranking.hits)))

    assert len(found) == 1


def test_a_reply_that_only_calls_at_the_limit_is_no_answer() -> None:
    chat = model(
        calls(("search_policy", {"query": "audit logs"})),
        calls(("search_policy", {"query": "audit logs"})),
        calls(("search_policy", {"query": "audit logs"})),
        AIMessage("They are kept for three years [Source 1]."),
    )
    answer = ask(langchain_react.build(), QUESTION, context(chat)).answer

    assert answer.stopped == "2 repeated tool calls"
    assert "Passages:" in chat.asked[-1][-1].text
    assert answer.usage.llm_calls == 4
