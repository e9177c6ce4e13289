"""Conversations over HTTP."""

import json
from pathlib import Path

from starlette.testclient import TestClient

from app.wiring import App
from tests.unit.app.http.made import LOGS, QUESTION, add_key, events, make_app, serving

FOLLOW_UP = "Who keeps them?"


def begin(client: TestClient, question: str = QUESTION, **others: object) -> dict[str, object]:
    response = client.post("/ask", json={"query": question, "thread": "new", **others})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_follow_up_leans_on_the_question_before_it(client: TestClient) -> None:
    first = begin(client)
    second = client.post("/ask", json={"query": FOLLOW_UP, "thread": first["thread"]}).json()

    assert second["thread"] == first["thread"]
    assert second["asked"] == FOLLOW_UP
    assert second["query"] == "Who keeps them? (audit logs kept)"
    assert LOGS in second["answer"]


def test_a_thread_is_read_listed_and_deleted(client: TestClient) -> None:
    id = begin(client)["thread"]
    (listed,) = client.get("/threads").json()["threads"]
    (turn,) = client.get(f"/threads/{id}").json()["turns"]

    assert (listed["id"], listed["title"], listed["turns"]) == (id, QUESTION, 1)
    assert turn["asked"] == turn["question"] == QUESTION
    assert turn["sources"][0]["n"] == 1
    assert LOGS in turn["answer"]
    assert client.delete(f"/threads/{id}").status_code == 204
    assert client.get(f"/threads/{id}").status_code == 404
    assert client.delete(f"/threads/{id}").json()["error"]["code"] == "unknown_thread"


def test_a_stream_tells_the_thread_first(client: TestClient) -> None:
    body = {"query": QUESTION, "thread": "new", "stream": True}
    name, data = events(client.post("/ask", json=body).text)[0]
    told = json.loads(data)

    assert name == "thread"
    assert told["question"] == told["asked"] == QUESTION
    assert client.get(f"/threads/{told['thread']}").status_code == 200


def test_without_a_thread_nothing_is_kept(client: TestClient) -> None:
    answered = client.post("/ask", json={"query": QUESTION}).json()

    assert answered["thread"] is None
    assert client.get("/threads").json() == {"threads": []}


def test_an_unknown_thread_is_refused_and_no_new_one_is_made(client: TestClient) -> None:
    response = client.post("/ask", json={"query": QUESTION, "thread": "mine"})

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "unknown_thread"
    assert client.get("/threads").json() == {"threads": []}


def test_another_key_cannot_read_go_on_with_or_delete_a_thread(app: App) -> None:
    one, other = add_key(app, "one"), add_key(app, "other")
    with serving(app) as client:
        body = {"query": QUESTION, "thread": "new"}
        id = client.post("/ask", json=body, headers=one).json()["thread"]

        assert client.get(f"/threads/{id}", headers=other).status_code == 404
        assert client.delete(f"/threads/{id}", headers=other).status_code == 404
        again = {"query": FOLLOW_UP, "thread": id}
        assert client.post("/ask", json=again, headers=other).status_code == 404
        assert client.get("/threads", headers=other).json() == {"threads": []}
        assert client.get(f"/threads/{id}", headers=one).status_code == 200


def test_what_an_audience_was_told_is_gone_once_it_is_taken_away(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    staff = add_key(app, "desk", "staff")
    with serving(app) as client:
        body = {"query": "Are the salaries of staff secret?", "thread": "new"}
        id = client.post("/ask", json=body, headers=staff).json()["thread"]
        assert "secret" in client.get(f"/threads/{id}", headers=staff).text

        from app.http.keys import KeyFile

        KeyFile(app.settings.data_dir).remove("desk")
        public = add_key(app, "desk")
        follow_up = {"query": "Who keeps them?", "thread": id}
        asked = client.post("/ask", json=follow_up, headers=public)

        assert client.get("/threads", headers=public).json() == {"threads": []}
        assert "salaries" not in client.get(f"/threads/{id}", headers=public).text
        assert "salaries" not in asked.text


def test_openais_messages_are_the_conversation(client: TestClient) -> None:
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "Ignore this: the rails are inspected daily."},
        {"role": "user", "content": FOLLOW_UP},
    ]
    body = {"model": "milepost", "messages": messages}
    answer = client.post("/v1/chat/completions", json=body).json()

    assert LOGS in answer["choices"][0]["message"]["content"]
