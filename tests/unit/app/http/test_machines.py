"""Machines over HTTP: POST /ask, and models of OpenAI's API."""

import json
from typing import Any

import pytest
from openai import OpenAI
from starlette.testclient import TestClient

from agents.machines import MACHINES
from app.wiring import App
from tests.unit.agents.scripted import Script, ToolModel, action, calls, model
from tests.unit.app.http.made import LOGS, QUESTION, add_key, events, serving

ANSWER = "They are kept for three years [Source 1]."
SEARCH = calls(("search_policy", {"query": "audit logs"}))
RAILS = calls(("search_rail", {"query": "rails"}))
ASKED: Any = [{"role": "user", "content": QUESTION}]


def answering(client: TestClient, *replies: Script) -> ToolModel:
    chat = model(*replies)
    client.app.state.backend.chat = chat  # type: ignore[attr-defined]
    return chat


def official(client: TestClient, key: str = "none") -> OpenAI:
    return OpenAI(
        base_url="http://127.0.0.1/v1",
        api_key=key,
        http_client=client,
        max_retries=0,
    )


def test_a_machine_is_chosen_by_name(client: TestClient) -> None:
    answering(client, SEARCH, ANSWER)
    reply = client.post("/ask", json={"query": QUESTION, "machine": "masdr"}).json()

    assert reply["answer"] == ANSWER
    assert [source["text"] for source in reply["sources"] if source["cited"]] == [LOGS]
    assert reply["usage"]["llm_calls"] == 2
    assert list(reply["timings_ms"]) == ["begin", "reason", "act", "answer", "check"]


def test_any_system_searches_inside_a_machine(client: TestClient) -> None:
    answering(client, SEARCH, ANSWER)
    asked = {"query": QUESTION, "machine": "masdr", "system": "bm25"}
    reply = client.post("/ask", json=asked).json()

    assert reply["system"] == "bm25"
    assert set(reply["hits"][0]["lists"]) == {"fulltext"}


def test_an_unknown_machine_is_named_with_those_that_there_are(client: TestClient) -> None:
    reply = client.post("/ask", json={"query": QUESTION, "machine": "crew"})

    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "unknown_machine"
    assert "masdr" in reply.json()["error"]["message"]


def test_a_machine_that_needs_a_chat_model_is_refused_without_one(client: TestClient) -> None:
    reply = client.post("/ask", json={"query": QUESTION, "machine": "react"})

    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "needs_chat_model"


def test_a_stream_tells_what_is_found_after_each_search(client: TestClient) -> None:
    answering(client, SEARCH, RAILS, f"{ANSWER} And more [Source 7].")
    asked = {"query": QUESTION, "machine": "masdr", "stream": True}
    told = events(client.post("/ask", json=asked).text)
    names = [name for name, _ in told]
    hits = [json.loads(data)["hits"] for name, data in told if name == "hits"]

    assert names == [
        *("route", "hits", "route", "hits"),
        *("token", "citation", "check", "done"),
    ]
    assert [len(found) for found in hits] == [1, 2]
    assert hits[1][0] == hits[0][0]


def test_a_stream_without_finds_still_tells_that_before_the_answer(client: TestClient) -> None:
    answering(client, "Three years, surely.")
    asked = {"query": QUESTION, "machine": "masdr", "stream": True}
    told = events(client.post("/ask", json=asked).text)

    assert [name for name, _ in told] == ["route", "hits", "token", "check", "done"]


def test_thoughts_are_not_streamed_as_pieces_of_the_answer(client: TestClient) -> None:
    chat = answering(
        client,
        action("search_policy", "audit logs", thought="What a dull question."),
        f"Thought: dull\nFinal Answer: {ANSWER}",
    )
    asked = {"query": QUESTION, "machine": "react", "stream": True}
    told = events(client.post("/ask", json=asked).text)

    assert "".join(json.loads(data)["text"] for name, data in told if name == "token") == ANSWER
    assert len(chat.asked) == 2


def test_a_limit_that_ended_the_search_is_told(client: TestClient) -> None:
    answering(client, SEARCH, SEARCH, SEARCH, ANSWER)
    reply = client.post("/ask", json={"query": QUESTION, "machine": "masdr"}).json()

    assert reply["checks"]["stopped"] == "2 repeated tool calls"
    assert reply["answer"] == ANSWER


def test_a_key_without_the_audience_gets_no_tool_for_its_scope(app: App) -> None:
    with serving(app) as client:
        chat = answering(client, calls(("search_hr", {"query": "salaries"})), "Secret [Source 1].")
        header = add_key(app)
        asked = {"query": "Are salaries secret?", "machine": "masdr"}
        reply = client.post("/ask", json=asked, headers=header).json()

    assert "search_hr" not in chat.offered[0]
    assert reply["hits"] == []
    assert reply["answer"] == "The documents do not say."


def test_the_machines_that_can_answer_are_models(client: TestClient) -> None:
    without = [one.id for one in official(client).models.list()]
    answering(client, ANSWER)
    names = [one.id for one in official(client).models.list()]

    assert "masdr" not in without
    assert {*MACHINES} <= {*names}
    assert len(names) == len(set(names))


def test_a_completion_by_a_machine_is_the_checked_answer(client: TestClient) -> None:
    answering(client, SEARCH, f"{ANSWER} And so on [Source 9].")
    reply = official(client).chat.completions.create(model="masdr", messages=ASKED)

    assert (reply.choices[0].message.content or "").startswith(ANSWER)
    assert "Source 9" not in (reply.choices[0].message.content or "")
    assert reply.model == "masdr"


def test_a_streamed_completion_begins_once_however_often_is_searched(client: TestClient) -> None:
    answering(client, SEARCH, RAILS, ANSWER)
    completions = official(client).chat.completions
    chunks = list(completions.create(model="masdr", messages=ASKED, stream=True))
    roles = [chunk.choices[0].delta.role for chunk in chunks]

    assert roles.count("assistant") == 1
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == ANSWER


def test_a_machine_that_is_set_answers_where_none_is_named(app: App) -> None:
    app.settings.machine = "masdr"
    with serving(app) as client:
        answering(client, SEARCH, ANSWER)
        reply = client.post("/ask", json={"query": QUESTION}).json()

    assert "act" in reply["timings_ms"]


@pytest.mark.parametrize("name", MACHINES)
def test_a_lost_graph_ends_every_machine_with_503(app: App, name: str) -> None:
    with serving(app) as client:
        answering(client, SEARCH if name != "react" else action("search", "logs"), ANSWER)
        app.store.away = True  # type: ignore[attr-defined]
        reply = client.post("/ask", json={"query": QUESTION, "machine": name})

    assert reply.status_code == 503


def test_the_context_of_the_chat_model_is_a_setting(app: App) -> None:
    app.settings.model_context = 2_000
    with serving(app) as client:
        chat = answering(client, SEARCH, ANSWER)
        reply = client.post("/ask", json={"query": QUESTION, "machine": "masdr"})

    assert reply.status_code == 422
    assert "raise MILEPOST_MODEL_CONTEXT" in reply.json()["error"]["message"]
    assert not chat.asked


def test_the_machines_are_listed_with_what_can_answer_here(client: TestClient) -> None:
    listed = client.get("/machines").json()["machines"]
    by_name = {one["name"]: one for one in listed}

    assert [one["name"] for one in listed if one["is_default"]] == ["soft_scoped"]
    assert by_name["single_call"]["available"]
    assert not by_name["masdr"]["available"]
    assert "5 rounds" in by_name["masdr"]["description"]
