"""Questions brought together with the rows of a corpus that are relevant to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.collection import Question
from eval.corpus import Codes, Corpus
from eval.metrics import Relevance
from graph.model import Vector
from graph.ports import Embedder


@dataclass(frozen=True, slots=True)
class Asked:
    """A question over a corpus in memory."""

    key: str
    vector: Vector
    relevant: frozenset[int]
    """Rows of the corpus."""
    places: tuple[frozenset[int], ...]
    """For each gold place, the rows that hold it."""
    documents: frozenset[int]
    """Places in `Corpus.documents` of the documents that hold the gold."""
    scopes: frozenset[int]
    """Places in `Corpus.names` of their scopes."""


def ask(
    corpus: Corpus,
    questions: Sequence[Question],
    relevance: Mapping[str, Relevance],
    embedder: Embedder,
) -> list[Asked]:
    """Embed the questions that have something relevant, and find its rows.

    Args:
        corpus: All chunks.
        questions: Those without an entry in `relevance` are left out.
        relevance: By key of the question, of chunks.
        embedder: The one that made the corpus.
    """
    rows = {id: row for row, id in enumerate(corpus.ids)}
    return [
        _asked(corpus, rows, question, relevance[question.key], embedder)
        for question in questions
        if question.key in relevance
    ]


def precision(found: Codes, asked: Asked, k: int) -> float:
    """Return the share of k places that relevant rows take."""
    return len(asked.relevant.intersection(found.tolist())) / k


def found_share(found: Codes, asked: Asked) -> float:
    """Return the share of gold places that a row found holds."""
    rows = found.tolist()
    return sum(not place.isdisjoint(rows) for place in asked.places) / len(asked.places)


def _asked(
    corpus: Corpus,
    rows: Mapping[str, int],
    question: Question,
    relevance: Relevance,
    embedder: Embedder,
) -> Asked:
    relevant = np.array(sorted(rows[id] for id in relevance.grades), dtype=np.int64)
    return Asked(
        key=question.key,
        vector=embedder.embed_query(question.text),
        relevant=frozenset(relevant.tolist()),
        places=tuple(frozenset(rows[id] for id in place) for place in relevance.places),
        documents=frozenset(corpus.document_of[relevant].tolist()),
        scopes=frozenset(corpus.name_of[relevant].tolist()),
    )
