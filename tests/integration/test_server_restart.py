"""The server goes away in the middle of a run, and comes back: on a server of this test's own."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase

from graph.errors import StoreUnavailable
from graph.model import IngestRun, Vectors
from graph.patience import Patience
from graph.server import local, process
from graph.server.options import Connection, ServerOptions
from graph.store import EmbedderInfo, GraphStore
from ingestion.pipeline import IngestOptions, ingest
from tests.fakes import HashingEmbedder
from tests.integration.test_ingest import Silent, counts, empty, snapshot
from tests.neo4j_server import options_for

pytestmark = pytest.mark.neo4j

FILES = 16


class Slow(HashingEmbedder):
    def embed(self, texts: list[str]) -> Vectors:
        time.sleep(0.3)
        return super().embed(texts)


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> ServerOptions:
    made = options_for(tmp_path_factory.mktemp("restarted"))
    return replace(made, bolt_port=unused_port(), http_port=unused_port())


@pytest.fixture(scope="module")
def server(options: ServerOptions) -> Iterator[Connection]:
    yield local.start(options)
    local.stop(options)


@pytest.fixture
def driver(server: Connection) -> Iterator[Driver]:
    with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        yield driver


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for n in range(FILES):
        file = tmp_path / f"scope{n % 3}" / f"manual_v{n + 1}.0_{2000 + n}0101.md"
        file.parent.mkdir(exist_ok=True)
        parts = "".join(
            f"## {k} Part {k}\n\nEdition {n}, part {k}: {'asphalt ' * 30}\n\n" for k in range(1, 4)
        )
        file.write_text(f"# Manual\n\n{parts}", encoding="utf-8")
    return tmp_path


def run(folder: Path, store: GraphStore, batch_chunks: int = 4) -> IngestRun:
    return ingest(
        [folder],
        store=store,
        embedder=Slow(),
        cache=None,
        options=IngestOptions(batch_chunks=batch_chunks),
        progress=Silent(),
    )


def opened(server: Connection, patience: Patience) -> GraphStore:
    auth = (server.username, server.password)
    return GraphStore(server.uri, auth, retry_seconds=1, patience=patience)


@pytest.fixture
def undisturbed(folder: Path, server: Connection, driver: Driver) -> list[str]:
    """What the graph holds after a run that nothing disturbs; it is empty again."""
    embedder = HashingEmbedder()
    with opened(server, Patience(0, print)) as store:
        store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))
        empty(driver)
        run(folder, store, batch_chunks=1000)
        found = snapshot(driver)
    assert counts(driver)["Document"] == FILES
    empty(driver)
    return found


def wait_for_documents(driver: Driver, number: int, running: "Future[IngestRun]") -> None:
    deadline = time.monotonic() + 120
    while counts(driver).get("Document", 0) < number:
        assert not running.done(), "ended before the server could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kill(options: ServerOptions) -> None:
    found = process.find(local.home_of(options))
    assert found
    found.kill()
    found.wait(30)


def stop(options: ServerOptions) -> None:
    assert local.stop(options)


def test_a_run_rides_through_restarts_and_leaves_the_graph_of_an_undisturbed_one(
    folder: Path,
    options: ServerOptions,
    server: Connection,
    driver: Driver,
    undisturbed: list[str],
) -> None:
    said: list[str] = []
    ways: list[tuple[int, Callable[[ServerOptions], None]]] = [(2, kill), (6, stop), (10, kill)]

    with opened(server, Patience(180, said.append)) as store, ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, folder, store)
        for number, end in ways:
            wait_for_documents(driver, number, running)
            end(options)
            assert local.start(options).uri == server.uri
        outcomes = running.result(240).outcomes

    assert {outcome.status for outcome in outcomes} == {"read"}
    assert snapshot(driver) == undisturbed
    assert any("Waiting up to 3 minutes" in line for line in said)
    assert any("answers again" in line for line in said)
    assert counts(driver)["IngestRun"] == 1


def test_a_run_that_waits_in_vain_says_so_and_the_next_one_goes_on(
    folder: Path,
    options: ServerOptions,
    server: Connection,
    driver: Driver,
    undisturbed: list[str],
) -> None:
    said: list[str] = []
    with opened(server, Patience(10, said.append)) as store, ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, folder, store)
        wait_for_documents(driver, 3, running)
        kill(options)
        with pytest.raises(StoreUnavailable, match="does not answer"):
            running.result(120)
    assert said
    local.start(options)
    written = counts(driver)["Document"]

    with opened(server, Patience(0, print)) as store:
        again = run(folder, store, batch_chunks=1000)

    assert 3 <= written < FILES
    assert [o.status for o in again.outcomes].count("unchanged") == written
    assert snapshot(driver) == undisturbed
