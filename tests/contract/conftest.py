"""The stores that keep the contract."""

import pytest

from graph.ports import Store
from tests.fakes import MemoryStore


@pytest.fixture(params=["memory", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store: in memory, then on a real Neo4j."""
    if request.param == "memory":
        return MemoryStore()
    return request.getfixturevalue("graph_store")
