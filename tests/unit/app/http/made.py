"""A server over the store in memory, with the systems of the real one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from starlette.testclient import TestClient

from app.http.api import create_api
from app.http.keys import KeyFile
from app.http.options import HttpOptions
from app.settings import Settings
from app.systems import build_systems
from app.wiring import App
from graph.errors import StoreUnavailable
from graph.model import IngestedDocument
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

LOGS = "Audit logs shall be kept by each certification authority for three years."
RAILS = "Rails are inspected twice a week on main tracks."
QUESTION = "How long shall audit logs be kept?"
LOCAL = ("127.0.0.1", 50_000)


class Graph(MemoryStore):
    """The store in memory, which can be away."""

    away = False
    unwritable = False

    def check_server(self) -> tuple[str, str]:
        self._be_there()
        return ("2026.08", "community")

    def write(self, items: Sequence[IngestedDocument]) -> None:
        if self.unwritable:
            raise StoreUnavailable("Neo4j at bolt://10.0.0.7 does not answer. Start it.")
        super().write(items)

    def search(self, request: Any) -> Any:
        self._be_there()
        return super().search(request)

    def _be_there(self) -> None:
        if self.away:
            raise StoreUnavailable("Neo4j at bolt://10.0.0.7 does not answer. Start it.")


def filled() -> Graph:
    store = Graph()
    store.write(
        [
            make_document("audit", LOGS, scope="policy", series="Common Policy", edition="2.8"),
            make_document("rail", RAILS, scope="rail"),
            make_document(
                "salaries", "Salaries of staff are secret.", scope="hr", audience="staff"
            ),
        ]
    )
    store.finish("default")
    return store


def make_app(folder: Path, store: Graph | None = None) -> App:
    settings = Settings(data_dir=folder / "data", cache_dir=folder / "cache")  # type: ignore[call-arg]
    store = filled() if store is None else store
    embedder = HashingEmbedder()
    return App(settings, store, embedder, build_systems(settings, store, embedder))  # type: ignore[arg-type]


@contextmanager
def serving(app: App, *, client: tuple[str, int] = LOCAL, **options: Any) -> Iterator[TestClient]:
    """A client of a running server, on this machine unless told otherwise."""
    api = create_api(app, replace(HttpOptions(), **options))
    with TestClient(api, base_url="http://127.0.0.1", client=client) as running:
        yield running


def add_key(app: App, name: str = "page", *audiences: str, ingest: bool = False) -> dict[str, str]:
    """Make a key; return the header that carries it."""
    token = KeyFile(app.settings.data_dir).add(name, audiences, ingest=ingest)
    return {"Authorization": f"Bearer {token}"}


def with_chat(client: TestClient, *replies: str) -> None:
    """Let the server answer with a chat model that replies as scripted, word by word."""
    chat = GenericFakeChatModel(messages=iter([AIMessage(reply) for reply in replies]))
    client.app.state.backend.chat = chat  # type: ignore[attr-defined]


def events(text: str) -> list[tuple[str, str]]:
    """The events of a stream: name and data, comments left out."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if fields:
            found.append((fields["event"], fields["data"]))
    return found
