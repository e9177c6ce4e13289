"""POST /search and POST /ask, streamed and not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.wiring import App
from graph.errors import StoreUnavailable
from graph.model import Ranking
from router.retrieve import Routed
from tests.graphs import make_document
from tests.unit.app.http.made import (
    LOGS,
    QUESTION,
    Graph,
    add_key,
    events,
    make_app,
    serving,
    with_chat,
)


def test_search_has_the_shape_of_the_command_line(client: TestClient) -> None:
    found = client.post("/search", json={"query": QUESTION, "k": 1}).json()

    assert list(found) == ["query", "system", "route", "understood", "timings_ms", "hits"]
    assert found["hits"][0]["text"] == LOGS
    assert found["hits"][0]["document"]["series"] == "Common Policy"


def test_an_answer_cites_the_passage_that_says_so(client: TestClient) -> None:
    answered = client.post("/ask", json={"query": QUESTION}).json()

    assert f"“{LOGS}” [Source 1]" in answered["answer"]
    assert [source["text"] for source in answered["sources"] if source["cited"]] == [LOGS]
    assert answered["checks"]["supported"]
    assert answered["usage"] == {"llm_calls": 0, "tokens": 0}


@pytest.mark.parametrize("headers", [{"Accept": "text/event-stream"}, {}])
def test_a_stream_tells_route_hits_draft_citations_check_and_end(
    client: TestClient, headers: dict[str, str]
) -> None:
    body = {"query": QUESTION, "stream": not headers}
    response = client.post("/ask", json=body, headers=headers)
    told = events(response.text)

    assert response.headers["content-type"].startswith("text/event-stream")
    names = [name for name, _ in told]
    assert names[:2] == ["route", "hits"]
    assert names[-3:] == ["citation", "check", "done"]
    assert set(names[2:-3]) == {"token"}
    assert all(json.loads(data)["type"] == name for name, data in told)
    drafted = "".join(json.loads(data)["text"] for name, data in told if name == "token")
    assert json.loads(told[-2][1])["answer"] == drafted


def test_a_chat_models_words_come_one_by_one_and_the_check_has_the_last_one(
    client: TestClient,
) -> None:
    with_chat(client, "They are kept for five years [Source 1].")
    told = events(client.post("/ask", json={"query": QUESTION, "stream": True}).text)
    tokens = [json.loads(data)["text"] for name, data in told if name == "token"]
    (check,) = [json.loads(data) for name, data in told if name == "check"]

    assert len(tokens) > 5
    assert "".join(tokens) == "They are kept for five years [Source 1]."
    assert "[not in the source: five years]" in check["answer"]
    assert check["checks"]["marked_claims"] == 1


def test_only_current_editions_answer_unless_others_are_asked_for(app: App) -> None:
    old = "Audit logs shall be kept by each certification authority for two years."
    store: Graph = app.store  # type: ignore[assignment]
    store.write([make_document("old", old, scope="policy", series="Common Policy", edition="2.7")])
    store.finish("default")

    def editions(client: TestClient, **more: object) -> set[str | None]:
        hits = client.post("/ask", json={"query": QUESTION} | more).json()["hits"]
        return {hit["document"]["edition"] for hit in hits} - {None}

    with serving(app) as client:
        assert editions(client) == {"2.8"}
        assert editions(client, edition="2.7") == {"2.7"}
        assert editions(client, all_editions=True) == {"2.7", "2.8"}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"query": QUESTION, "system": "nothing"}, 404, "guided, convex"),
        ({"query": QUESTION, "scopes": ["nowhere"]}, 404, "The scopes are: policy, rail"),
        ({"query": QUESTION, "collection": "nosuch"}, 404, "'nosuch' holds no document"),
        ({"query": QUESTION, "series": "nope"}, 404, "GET /documents"),
        ({"query": "?!"}, 422, "The question is empty"),
        ({"query": "a" * 10_001}, 422, "10000 characters"),
        ({"query": QUESTION, "k": 0}, 422, "k: "),
        ({"query": QUESTION, "scope": "policy"}, 422, "scope: "),
        ({"query": "\ud800 logs"}, 422, "query: "),
        ({"query": QUESTION, "year": 1e400}, 422, "year: "),
        ({}, 422, "query: Field required"),
        ([], 422, "The body is wrong"),
        ({"query": QUESTION, "audiences": ["staff"]}, 403, "only public"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/search", "/ask"])
def test_wrong_questions_get_one_message_that_says_what_to_do(
    client: TestClient, path: str, body: object, status: int, message: str
) -> None:
    content = json.dumps(body).replace("Infinity", "1e400")
    response = client.post(path, content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == status
    error = response.json()["error"]
    assert message in error["message"]
    assert error["request_id"] == response.headers["x-request-id"]


def test_a_stream_that_cannot_begin_has_a_status_of_its_own(client: TestClient) -> None:
    body = {"query": QUESTION, "scopes": ["nowhere"], "stream": True}

    assert client.post("/ask", json=body).status_code == 404


def test_an_error_behind_the_first_event_ends_the_stream_with_an_event(
    client: TestClient,
) -> None:
    with_chat(client)  # it has nothing left to say
    told = events(client.post("/ask", json={"query": QUESTION, "stream": True}).text)

    assert [name for name, _ in told] == ["route", "hits", "error"]
    error = json.loads(told[-1][1])["error"]
    assert error["code"] == "model_failed"
    assert "try another --model" in error["message"]


def test_a_lost_graph_is_a_503_and_never_an_answer(app: App, tmp_path: Path) -> None:
    def lost(routed: Routed, k: int) -> Ranking:
        raise StoreUnavailable("Neo4j at bolt://10.0.0.7 does not answer.")

    broken = replace(app.system(None), retrieve=lost)
    with serving(replace(app, systems={"guided": broken})) as client:
        for body in ({"query": QUESTION}, {"query": QUESTION, "stream": True}):
            response = client.post("/ask", json=body)

            assert response.status_code == 503
            assert response.headers["retry-after"] == "5"
            assert "10.0.0.7" not in response.text


def test_the_graph_may_go_and_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.http.graph_gate.FRESH_SECONDS", 0.0)
    app = make_app(tmp_path)
    store: Graph = app.store  # type: ignore[assignment]
    with serving(app) as client:
        assert client.get("/health/ready").json() == {"ready": True, "graph": "ok"}
        store.away = True
        for path in ("/health/ready", "/health", "/scopes", "/documents"):
            response = client.get(path)
            assert response.status_code == 503
            assert response.headers["retry-after"] == "5"
        assert client.post("/search", json={"query": QUESTION}).status_code == 503
        assert client.post("/ask", json={"query": QUESTION}).status_code == 503
        assert client.get("/health/live").json() == {"live": True}
        store.away = False

        assert client.get("/health").json() == {"ready": True, "graph": "ok", "live": True}
        assert client.post("/ask", json={"query": QUESTION}).status_code == 200


def test_a_key_sees_its_audiences_and_no_others(app: App) -> None:
    public, staff = add_key(app, "public"), add_key(app, "staff", "staff")
    body = {"query": "Which salaries are secret?"}

    def seen(client: TestClient, headers: dict[str, str], **more: object) -> set[str]:
        hits = client.post("/search", json=body | more, headers=headers).json()["hits"]
        return {hit["document"]["scope"] for hit in hits}

    with serving(app) as client:
        assert "hr" not in seen(client, public)
        assert "hr" in seen(client, staff)
        assert "hr" not in seen(client, staff, audiences=["public"])
        scopes = client.get("/scopes", headers=public).json()["scopes"]
        assert [scope["name"] for scope in scopes] == ["policy", "rail"]
        documents = client.get("/documents", headers=staff).json()
        assert documents["total"] == 3


def test_documents_are_paged_and_told_by_scope(client: TestClient) -> None:
    page = client.get("/documents", params={"limit": 1, "offset": 1}).json()
    rail = client.get("/documents", params={"scope": "rail"}).json()

    assert page["total"] == 2
    assert [document["title"] for document in page["documents"]] == ["rail"]
    assert [document["chunks"] for document in rail["documents"]] == [1]
