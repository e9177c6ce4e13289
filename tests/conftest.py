"""A real Neo4j for the whole session, and an empty graph on it for each test."""

import os
from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase

from graph.store import EmbedderInfo, GraphStore
from tests.fakes import HashingEmbedder


@pytest.fixture(scope="session")
def neo4j_driver(neo4j_server) -> Iterator[Driver]:
    """A driver of the tests' own, to look behind the store."""
    auth = (neo4j_server.username, neo4j_server.password)
    with GraphDatabase.driver(neo4j_server.uri, auth=auth) as driver:
        yield driver


@pytest.fixture
def graph_store(neo4j_server, neo4j_driver: Driver) -> Iterator[GraphStore]:
    """An empty graph with the schema of the fake embedder."""
    neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
    with GraphStore(neo4j_server.uri, (neo4j_server.username, neo4j_server.password)) as store:
        embedder = HashingEmbedder()
        store.migrate(EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint))
        yield store


@pytest.fixture(scope="session")
def neo4j_server():  # provisional: replaced by the server that tests start themselves
    from types import SimpleNamespace

    uri = os.environ["NEO4J_TEST_URI"]
    return SimpleNamespace(
        uri=uri,
        username=os.environ.get("NEO4J_TEST_USERNAME", "neo4j"),
        password=os.environ["NEO4J_TEST_PASSWORD"],
    )
