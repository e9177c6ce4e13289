"""Every statement is understood by the real server, whatever filter is in it."""

import itertools

import pytest
from neo4j.vector import Vector

from graph import cypher
from graph.model import Filter
from graph.store import GraphStore

pytestmark = pytest.mark.neo4j

# Schema commands cannot be explained; migrating runs them.
SCHEMA = {"CREATE_CONSTRAINTS", "CREATE_VECTOR_INDEX", "CREATE_FULLTEXT_INDEX", "DROP_VECTOR_INDEX"}
STATEMENTS = {
    name: value
    for name, value in vars(cypher).items()
    if name.isupper()
    and isinstance(value, str)
    and name not in SCHEMA | {"SHOW_INDEXES", "PASSAGE"}
} | {"SEARCH_LISTS": cypher.searching(list(cypher.LISTS))}
FILTERS = [
    Filter(scopes=scopes, series=series, year=year, as_of=as_of, current_only=current)
    for scopes, series, year, as_of, current in itertools.product(
        [(), ("a", "b")], [None, "s"], [None, 2020], [None, 2021], [False, True]
    )
]
PARAMETERS: dict[str, object] = {
    "rows": [], "ids": [], "vector": Vector([0.0] * 256, "f32"), "limit": 5, "text": "",
    "run": {}, "run_id": "r", "name": "n", "dimensions": 1,
    "fingerprint": "f", "seconds": 1, "with_vectors": True, "with_topics": True,
    "properties": {}, "number": 0,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_the_server_plans_every_statement(name: str, graph_store: GraphStore, neo4j_driver) -> None:
    plain = "#FILTER#" not in STATEMENTS[name]
    for where in FILTERS[:1] if plain else FILTERS:
        statement = cypher.filtered(STATEMENTS[name], where)
        version, explained = "", statement
        if statement.lstrip().startswith("CYPHER 25"):
            version, explained = "CYPHER 25 ", statement.lstrip().removeprefix("CYPHER 25")
        parameters = cypher.filter_parameters(where) | PARAMETERS | {"scopes": ["a"]}

        _, summary, _ = neo4j_driver.execute_query(f"{version}EXPLAIN {explained}", parameters)

        assert summary.plan is not None


def test_lookups_by_key_use_an_index(graph_store: GraphStore, neo4j_driver) -> None:
    for name in ("REMOVE_DOCUMENTS", "UPSERT_CHUNKS", "UPSERT_SECTIONS", "SET_VALIDITY"):
        _, summary, _ = neo4j_driver.execute_query(f"EXPLAIN {STATEMENTS[name]}", PARAMETERS)

        assert "NodeByLabelScan" not in str(summary.plan), name
        assert "AllNodesScan" not in str(summary.plan), name
