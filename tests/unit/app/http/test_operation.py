"""Ids, logs, metrics, the description, and work that nobody waits for."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import anyio
import pytest
import structlog
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from starlette.testclient import TestClient
from starlette.types import Message

from app.http.api import create_api
from app.http.graph_gate import GraphGate
from app.http.options import HttpOptions
from app.wiring import App
from graph.errors import StoreUnavailable
from tests.unit.app.http.made import LOGS, QUESTION, add_key, serving

BODY = {"query": QUESTION}


def test_a_decent_request_id_is_kept_and_others_are_replaced(client: TestClient) -> None:
    for given, kept in [("abc-1.2", True), ("a b", False), ("x" * 200, False), ("", False)]:
        returned = client.get("/health/live", headers={"X-Request-ID": given})
        returned_id = returned.headers["x-request-id"]
        assert (returned_id == given) is kept
        assert returned_id


def test_the_log_tells_who_asked_what_address_but_not_what_was_asked(app: App) -> None:
    key = add_key(app, "page")
    with structlog.testing.capture_logs() as lines, serving(app) as client:
        client.post("/ask", json=BODY, headers=key | {"X-Request-ID": "r1"})
        client.get("/documents?scope=secret-word", headers=key)

    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["route"], line["status"], line["key"]) for line in requests] == [
        ("/ask", 200, "page"),
        ("/documents", 200, "page"),
    ]
    for word in ("audit", "secret-word", "three years"):
        assert word not in json.dumps(lines)


def test_an_unexpected_error_is_a_500_that_tells_nothing_and_a_line_without_its_message(
    app: App,
) -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError(LOGS)

    system = replace(app.system(None), retrieve=broken)
    with (
        structlog.testing.capture_logs() as lines,
        serving(replace(app, systems={"guided": system})) as client,
    ):
        response = client.post("/search", json=BODY, headers={"X-Request-ID": "r1"})

    assert response.status_code == 500
    assert response.json()["error"]["request_id"] == response.headers["x-request-id"] == "r1"
    (line,) = [line for line in lines if line["event"] == "unexpected"]
    assert line["error"] == "RuntimeError"
    assert any("broken" in where for where in line["where"])
    assert LOGS not in json.dumps(lines) + response.text


def test_a_web_page_that_may_call_can_read_an_unexpected_error(app: App) -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError

    page = "https://docs.example.org"
    failing = {"guided": replace(app.system(None), retrieve=broken)}
    with serving(replace(app, systems=failing), cors_origins=(page,)) as client:
        response = client.post("/search", json=BODY, headers={"Origin": page})

    assert response.status_code == 500
    assert response.headers["access-control-allow-origin"] == page


def test_metrics_count_requests_stages_and_hits(client: TestClient) -> None:
    client.post("/ask", json=BODY)
    client.post("/ask", json={})
    client.get("/no/such/address")
    text = client.get("/metrics").text

    assert 'milepost_http_requests_total{method="POST",route="/ask",status="200"} 1.0' in text
    assert 'milepost_http_requests_total{method="POST",route="/ask",status="422"} 1.0' in text
    assert 'route="none",status="404"} 1.0' in text
    assert 'milepost_stage_seconds_count{stage="search"} 1.0' in text
    assert 'milepost_hits_count{system="guided"} 1.0' in text
    assert "milepost_http_requests_running 1.0" in text  # this one


def test_the_description_names_every_address_and_its_errors(client: TestClient) -> None:
    described = client.get("/openapi.json").json()

    assert set(described["paths"]) == {
        "/health", "/health/live", "/health/ready", "/metrics", "/search", "/ask", "/machines",
        "/scopes",
        "/documents", "/documents/{id}", "/jobs/{id}", "/v1/models", "/v1/chat/completions",
        "/sources/{chunk_id}", "/sources/{chunk_id}/page/{page}.png", "/series", "/compare",
        "/threads", "/threads/{id}",
    }  # fmt: skip
    ask = described["paths"]["/ask"]["post"]
    assert set(ask["responses"]["200"]["content"]) == {"application/json", "text/event-stream"}
    assert ask["security"] == [{"key": []}]
    assert (
        "multipart/form-data" in described["paths"]["/documents"]["post"]["requestBody"]["content"]
    )


def test_many_ask_at_the_same_time(app: App) -> None:
    with serving(app, requests_per_minute=0) as client, ThreadPoolExecutor(32) as callers:

        def ask(n: int) -> str:
            body = BODY | {"stream": n % 2 == 0}
            response = client.post("/ask", json=body)
            assert response.status_code == 200
            return response.text

        answers = list(callers.map(ask, range(64)))
        running = client.get("/metrics").text

    assert all("three years" in answer for answer in answers)
    assert "milepost_http_requests_running 1.0" in running


class Endless(GenericFakeChatModel):
    """A chat model that never ends its reply, and counts its words."""

    said: list[str]
    ended: Any

    def _stream(self, *args: Any, **kwargs: Any) -> Any:
        try:
            while True:
                self.said.append("word ")
                yield ChatGenerationChunk(message=AIMessageChunk(content="word "))
        finally:
            self.ended.set()


def post(path: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


def test_a_body_that_does_not_arrive_is_not_waited_for(app: App) -> None:
    api = create_api(app, HttpOptions(client_seconds=0.05))
    sent: list[Message] = []

    async def receive() -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    anyio.run(api, post("/ask"), receive, send)

    assert sent[0]["status"] == 408


class Visitor:
    """A client at the level of messages: it leaves, or stops reading, after so many pieces."""

    def __init__(
        self, body: dict[str, object], *, leaves: int | None, stalls: bool = False
    ) -> None:
        self._body = json.dumps(body).encode()
        self._leaves = leaves
        self._stalls = stalls
        self._gone = anyio.Event()
        self._asked = False
        self.received: list[Message] = []

    async def receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.received.append(message)
        if len(self.received) == self._leaves:
            if self._stalls:
                await anyio.sleep_forever()
            self._gone.set()


def visit(
    app: App, path: str, body: dict[str, object], visitor: Visitor, **options: Any
) -> Endless:
    api = create_api(app, replace(HttpOptions(), **options))
    chat = Endless(messages=iter([AIMessage("")]), said=[], ended=Event())
    api.state.backend.chat = chat

    async def run() -> None:
        with anyio.fail_after(20):
            await api(post(path), visitor.receive, visitor.send)

    anyio.run(run)
    return chat


ASKED = {"model": "milepost", "messages": [{"role": "user", "content": QUESTION}]}


def test_a_client_that_leaves_a_stream_ends_the_chat_models_reply(app: App) -> None:
    body = BODY | {"stream": True}
    chat = visit(app, "/ask", body, Visitor(body, leaves=10))

    assert chat.ended.is_set()
    assert chat.said


def test_for_a_client_that_leaves_at_once_the_chat_model_is_hardly_asked(app: App) -> None:
    body = BODY | {"stream": True}
    chat = visit(app, "/ask", body, Visitor(body, leaves=1))

    assert chat.ended.is_set() or not chat.said


def test_a_client_that_stops_reading_is_given_up(app: App) -> None:
    body = BODY | {"stream": True}
    visitor = Visitor(body, leaves=4, stalls=True)
    with structlog.testing.capture_logs() as lines:
        chat = visit(app, "/ask", body, visitor, client_seconds=0.05)

    assert chat.ended.is_set()
    assert "client_too_slow" in {line["event"] for line in lines}
    assert len(visitor.received) == 4


@pytest.mark.parametrize(("path", "body"), [("/ask", BODY), ("/v1/chat/completions", ASKED)])
def test_a_client_that_leaves_before_its_answer_ends_the_chat_models_reply(
    app: App, path: str, body: dict[str, object]
) -> None:
    visitor = Visitor(body, leaves=None)
    api = create_api(app, HttpOptions())
    chat = Endless(messages=iter([AIMessage("")]), said=[], ended=Event())
    api.state.backend.chat = chat

    async def leave() -> None:
        while not chat.said:
            await anyio.sleep(0.01)
        visitor._gone.set()

    async def run() -> None:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(leave)
                await api(post(path), visitor.receive, visitor.send)

    anyio.run(run)

    assert chat.ended.is_set()
    assert visitor.received[0]["status"] == 499


def test_a_silent_stream_gets_comments(app: App) -> None:
    class Slow(GenericFakeChatModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            paused.wait(5)
            yield from super()._stream(*args, **kwargs)

    paused = Event()
    reply = AIMessage("They are kept for three years [Source 1].")
    with serving(app, heartbeat_seconds=0.02) as client:
        client.app.state.backend.chat = Slow(messages=iter([reply]))  # type: ignore[attr-defined]
        Thread(target=lambda: (Event().wait(0.2), paused.set())).start()
        text = client.post("/ask", json=BODY | {"stream": True}).text

    assert ": still working\n\n" in text
    assert "event: done" in text


def test_the_graph_is_asked_at_most_once_a_second_and_again_after_it() -> None:
    now, asked, away = [0.0], [0], [False]

    def ping() -> None:
        asked[0] += 1
        if away[0]:
            raise StoreUnavailable("Gone.")

    gate = GraphGate(ping, clock=lambda: now[0])
    gate.check()
    away[0] = True
    gate.check()
    assert asked == [1]
    now[0] = 1.0
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            gate.check()
    assert asked == [2]
    now[0], away[0] = 2.0, False
    gate.check()
