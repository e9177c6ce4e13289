"""The real OpenAI client against a server on this machine that misbehaves as servers do."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from langchain_core.messages import HumanMessage

from agents.chat import Completion, complete, load_chat_model
from agents.context import Limits
from graph.errors import ModelError

pytest.importorskip("langchain_openai")

PAGE = "<html><body><h1>429</h1> secret stack trace</body></html>"
REPLY = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "any",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "It is so [Source 1]."},
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11},
}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[int] = []
        """Status of each answer; 0 never answers."""
        self.requests: list[dict] = []
        self.stopping = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(json.loads(body))
        status = self.server.script.pop(0)
        if status == 0:
            self.server.stopping.wait(30)
            return
        content = json.dumps(REPLY) if status == 200 else PAGE
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if status == 200 else "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (its own name)
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.stopping.set()
        running.shutdown()
        thread.join()


def ask(server: Server, *script: int) -> Completion:
    server.script = list(script)
    model = load_chat_model(
        "openai:any",
        base_url=f"http://127.0.0.1:{server.server_port}/v1",
        api_key="k",
        timeout_seconds=0.3,
    )
    return complete(model, [HumanMessage("Why?")], Limits(attempts=3, pause_seconds=0.01))


def test_a_server_with_openais_interface_answers(server: Server) -> None:
    assert ask(server, 200) == Completion("It is so [Source 1].", 11)
    assert server.requests[0]["temperature"] == 0.2


def test_overload_is_waited_out(server: Server) -> None:
    assert ask(server, 429, 503, 200).text == "It is so [Source 1]."


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ((429, 429, 429), "rate limited"),
        ((429, 503, 0), "did not answer in time"),
        ((401,), "refused the key"),
    ],
)
def test_a_failure_is_told_in_our_own_words(
    server: Server, script: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        ask(server, *script)

    assert "html" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert len(server.requests) == len(script)


def test_a_server_that_is_not_there_is_told() -> None:
    model = load_chat_model("openai:any", base_url="http://127.0.0.1:9/v1", api_key="k")
    with pytest.raises(ModelError, match="cannot be reached"):
        complete(model, [HumanMessage("Why?")], Limits(attempts=1))
