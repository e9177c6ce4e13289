"""Makes corpora whose neighbourhoods are known: each chunk is a direction in the plane."""

from collections.abc import Sequence

import numpy as np

from eval.asked import Asked
from eval.corpus import Corpus
from graph.model import Vector


def direction(degrees: float) -> Vector:
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def make_corpus(*chunks: tuple[str, str, float]) -> Corpus:
    """Chunks as (scope, document, direction in degrees)."""
    scopes = sorted({scope for scope, _, _ in chunks})
    documents = sorted({document for _, document, _ in chunks})
    return Corpus(
        ids=tuple(f"chunk{n}" for n in range(len(chunks))),
        documents=tuple(documents),
        document_of=np.array([documents.index(document) for _, document, _ in chunks]),
        names=tuple(scopes),
        name_of=np.array([scopes.index(scope) for scope, _, _ in chunks]),
        vectors=np.stack([direction(degrees) for _, _, degrees in chunks]),
    )


def make_asked(corpus: Corpus, degrees: float, *rows: int) -> Asked:
    """A question in a direction, answered by these rows, each a place of its own."""
    return Asked(
        key=f"q{degrees}",
        vector=direction(degrees),
        relevant=frozenset(rows),
        places=tuple(frozenset([row]) for row in rows),
        documents=frozenset(int(corpus.document_of[row]) for row in rows),
        scopes=frozenset(int(corpus.name_of[row]) for row in rows),
    )


def bunch(scope: str, degrees: Sequence[float]) -> list[tuple[str, str, float]]:
    """Chunks of one scope, each a document."""
    return [(scope, f"{scope}{n}", one) for n, one in enumerate(degrees)]
