"""Neo4j in Docker: the image that docker/ builds or the official one, and docker-compose.yml."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph.errors import ServerError, StoreUnavailable
from graph.model import Filter, SearchRequest
from graph.server import docker, engine, jars
from graph.server.options import Connection, ServerOptions
from graph.store import EmbedderInfo, GraphStore
from tests.fakes import HashingEmbedder
from tests.graphs import make_document
from tests.neo4j_server import available_image, options_for, running_container

pytestmark = pytest.mark.container


@pytest.fixture(scope="module")
def image() -> str:
    if not engine.answers():
        pytest.skip("no Docker engine answers; .ci/engine starts one")
    found = available_image()
    if found is None:
        pytest.skip("the engine has no Neo4j image and no registry; docker/build.sh builds one")
    return found


@pytest.fixture(scope="module")
def container(image: str) -> Iterator[Connection]:
    with running_container(image) as connection:
        yield connection


@pytest.fixture
def compose_options(image: str, tmp_path: Path) -> Iterator[ServerOptions]:
    if not engine.has_compose():
        pytest.skip("Docker answers but has no compose")
    options = replace(options_for(tmp_path), prefer="docker", image=image)
    yield options
    docker.reset(options)


def search_for_a_chunk(connection: Connection) -> list[str]:
    """Write one document, and return the texts that vector and full-text search find."""
    embedder = HashingEmbedder()
    auth = (connection.username, connection.password)
    with GraphStore(connection.uri, auth) as store:
        store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))
        store.write([make_document("guide", "Excavate to the lines shown on the plans.")])
        found = store.search(
            SearchRequest(
                filter=Filter(),
                limit=3,
                vector=embedder.embed_query("excavate to the lines"),
                text="excavate",
            )
        )
    return [candidate.passage.text for candidate in found]


def test_the_container_runs_the_pinned_version(container: Connection) -> None:
    auth = (container.username, container.password)
    with GraphStore(container.uri, auth) as store:
        server = store.status().server

    assert server == jars.read_lock()[0]


def test_the_container_answers_a_filtered_vector_search(container: Connection) -> None:
    assert search_for_a_chunk(container) == ["Excavate to the lines shown on the plans."]


def test_compose_starts_a_server_that_keeps_its_graph_over_a_stop(
    compose_options: ServerOptions,
) -> None:
    first = docker.start(compose_options)
    found = search_for_a_chunk(first)
    docker.stop(compose_options)
    stopped = docker.status(compose_options).running
    second = docker.start(compose_options)
    auth = (second.username, second.password)
    with GraphStore(second.uri, auth) as store:
        chunks = store.status().chunks

    assert found == ["Excavate to the lines shown on the plans."]
    assert not stopped
    assert second == first
    assert chunks == 1


def test_compose_with_a_password_that_is_not_the_volumes_says_what_to_do(
    compose_options: ServerOptions,
) -> None:
    docker.start(compose_options)
    docker.stop(compose_options)

    with pytest.raises(StoreUnavailable, match="NEO4J_PASSWORD"):
        docker.start(replace(compose_options, password="another-password"))


def test_compose_refuses_to_start_without_a_password(
    compose_options: ServerOptions, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.env"
    empty.touch()

    with pytest.raises(ServerError, match="set NEO4J_PASSWORD"):
        engine.compose(compose_options.project, empty, ["up", "--detach"])
