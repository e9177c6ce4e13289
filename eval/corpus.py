"""A collection's vectors in memory, for exact measurements over all of them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graph.errors import UsageError
from graph.model import Vectors
from graph.ports import Store

Axis = Literal["scope", "series"]
"""What the chunks are divided by."""

Codes = NDArray[np.int64]
Similarity = NDArray[np.float32]
"""Cosine of a question with each row, shape (n,)."""

NO_SERIES = "(no series)"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Chunks with their vectors; rows are chunks, by document id and ordinal."""

    ids: tuple[str, ...]
    """Chunk ids."""
    documents: tuple[str, ...]
    """Document ids, ascending."""
    document_of: Codes
    """Shape (n,): place of each chunk's document in `documents`."""
    names: tuple[str, ...]
    """Scopes, or series, ascending."""
    name_of: Codes
    """Shape (n,): place of each chunk's scope in `names`."""
    vectors: Vectors
    """Shape (n, d)."""

    @property
    def sizes(self) -> Codes:
        """Chunks of each scope, shape (len(names),)."""
        return np.bincount(self.name_of, minlength=len(self.names))


def read_corpus(store: Store, collection: str, axis: Axis = "scope") -> Corpus:
    """Read a collection's chunks with their vectors.

    Raises:
        UsageError: The collection is empty.
    """
    batches = list(store.chunks(collection))
    if not batches:
        raise UsageError(
            f"The collection {collection!r} is empty. Ingest documents into it first, or name "
            "another with --collection."
        )
    chunks = [chunk for batch in batches for chunk in batch.chunks]
    names = [
        name or NO_SERIES
        for batch in batches
        for name in (batch.scopes if axis == "scope" else batch.series)
    ]
    documents, document_of = _coded([chunk.document_id for chunk in chunks])
    distinct, name_of = _coded(names)
    return Corpus(
        ids=tuple(chunk.id for chunk in chunks),
        documents=documents,
        document_of=document_of,
        names=distinct,
        name_of=name_of,
        vectors=np.concatenate([batch.vectors for batch in batches]),
    )


def top(similarity: Similarity, k: int) -> Codes:
    """Return the rows with the highest values, highest first; equal ones by row."""
    count = min(k, len(similarity))
    if count == 0:
        return np.empty(0, dtype=np.int64)
    # All that reach the k-th value, so that ties at the cut are broken by row and not by chance.
    least = np.partition(similarity, len(similarity) - count)[len(similarity) - count]
    reaching = np.flatnonzero(similarity >= least)
    order = np.lexsort((reaching, -similarity[reaching]))
    return reaching[order][:count]


def _coded(values: list[str]) -> tuple[tuple[str, ...], Codes]:
    distinct = sorted(set(values))
    places = {value: place for place, value in enumerate(distinct)}
    return tuple(distinct), np.array([places[value] for value in values], dtype=np.int64)
