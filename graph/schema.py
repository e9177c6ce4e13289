"""Numbered migrations of the graph's schema; each may run twice without harm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import LiteralString

from graph import cypher

SERVER_VERSION_NEEDED = (2026, 1)
"""The first Neo4j with the SEARCH clause of Cypher 25 and filters inside the vector index."""

Run = Callable[[LiteralString, Mapping[str, object]], Sequence[Mapping[str, object]]]
"""Runs one statement in its own transaction and returns its rows."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """Configuration of the HNSW index.

    Quantisation is off: on 50,000 hard vectors it lost a third of recall@10, more than any other
    setting here, for memory that a corpus of this size does not need.
    """

    dimensions: int
    m: int = 16
    """Neighbours of each node in the HNSW graph."""
    ef_construction: int = 200
    """Candidates considered while inserting."""
    quantized: bool = False

    def config(self) -> dict[str, object]:
        """Return the index configuration as Neo4j spells it."""
        return {
            "vector.dimensions": self.dimensions,
            "vector.similarity_function": "cosine",
            "vector.quantization.enabled": self.quantized,
            "vector.hnsw.m": self.m,
            "vector.hnsw.ef_construction": self.ef_construction,
        }


FULLTEXT_CONFIG: dict[str, object] = {"fulltext.analyzer": "english"}


def m001_constraints(run: Run, index: VectorIndex) -> None:
    """Keys and look-up indexes: before the first write, or parallel MERGEs make doubles."""
    for statement in cypher.CREATE_CONSTRAINTS:
        run(statement, {})


def m002_vector_index(run: Run, index: VectorIndex) -> None:
    """The HNSW index with every property that a search may filter on."""
    run(cypher.CREATE_VECTOR_INDEX, {"config": index.config()})


def m003_fulltext_index(run: Run, index: VectorIndex) -> None:
    """BM25 over text and heading, with the filter keys in the same index."""
    run(cypher.CREATE_FULLTEXT_INDEX, {"config": FULLTEXT_CONFIG})


MIGRATIONS = (m001_constraints, m002_vector_index, m003_fulltext_index)


def names() -> tuple[str, ...]:
    """Return the names of all migrations, in order."""
    return tuple(migration.__name__ for migration in MIGRATIONS)


def migrate(run: Run, index: VectorIndex, applied: Sequence[str]) -> tuple[str, ...]:
    """Bring the schema up to date and return the names that were not recorded before.

    Every migration runs each time: each creates only what is missing, so an index that somebody
    dropped comes back. Waits until the indexes can be searched.
    """
    for migration in MIGRATIONS:
        migration(run, index)
        run(cypher.RECORD_MIGRATION, {"name": migration.__name__})
    run(cypher.AWAIT_INDEXES, {"seconds": 300})
    return tuple(name for name in names() if name not in applied)
