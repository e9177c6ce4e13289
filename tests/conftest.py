"""A real Neo4j for the whole session, and an empty graph on it for each test."""

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from graph.errors import SchemaMismatch
from graph.server.options import Connection
from graph.store import EmbedderInfo, GraphStore
from tests.fakes import HashingEmbedder
from tests.neo4j_server import running_server


@pytest.fixture(scope="session")
def neo4j_driver(neo4j_server: Connection) -> Iterator[Driver]:
    """A driver of the tests' own, to look behind the store."""
    auth = (neo4j_server.username, neo4j_server.password)
    with GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        yield driver


@pytest.fixture
def graph_store(neo4j_server: Connection, neo4j_driver: Driver) -> Iterator[GraphStore]:
    """An empty graph with the schema of the fake embedder."""
    embedder = HashingEmbedder()
    info = EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint)
    neo4j_driver.execute_query("MATCH (n) WHERE NOT n:Migration AND NOT n:Embedder DETACH DELETE n")
    with GraphStore(neo4j_server.uri, (neo4j_server.username, neo4j_server.password)) as store:
        if store.status().embedder != info or not _is_ready(store, info):
            neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
            store.migrate(info)
        yield store


def _is_ready(store: GraphStore, info: EmbedderInfo) -> bool:
    # Making the schema anew for every test would take most of the suite's time.
    try:
        store.verify(info)
    except SchemaMismatch:
        return False
    return True


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A server that the tests may fill and empty, started once and stopped at the end."""
    with running_server(tmp_path_factory.mktemp("neo4j")) as connection:
        yield connection
