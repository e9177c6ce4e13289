"""Which chunks are relevant to a question: gold places, brought down to the chunks that hold them.

Gold comes at three levels, and may be judged at a coarser one than it has:

- document: every chunk of a gold document is relevant;
- passage: a chunk that overlaps the gold place is;
- span: a chunk is that holds at least half of the place, or lies by at least half in one that is
  longer than it. So a place that is cut in two has one relevant chunk, two if cut in the middle.

Where a place stands in a heading it is in no chunk's text; the chunk behind it, which carries the
heading, holds it then. Gold without position is a whole document at each level.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from eval.collection import EvaluationSet, Gold, Question, SourceDocument
from eval.load import graph_ids
from eval.metrics import Relevance
from eval.places import FilePlaces, Span, TextPlaces, is_on_page
from graph.model import Chunk
from graph.ports import Store

Level = Literal["document", "passage", "span"]

Unit = Literal["chunk", "document"]
"""What is ranked and counted: chunks, or documents at the place of their first chunk."""

HELD = 0.5
"""Share of the shorter one of place and chunk that they must have in common at level "span"."""


@dataclass(frozen=True, slots=True)
class Judgements:
    """What is relevant to each question that can be scored."""

    relevance: Mapping[str, Relevance]
    """By key of the question."""
    scopes: Mapping[str, frozenset[str]]
    """By key of the question: the scopes of its gold documents."""
    without_gold: int
    """Questions that the documents do not answer; left out."""
    not_held: int
    """Questions of whose gold no chunk holds anything, as their documents were refused; left out.
    """


class Judge:
    """Knows the chunks of a set's documents."""

    def __init__(self, evaluation_set: EvaluationSet, collection: str, store: Store) -> None:
        """Read the chunks' positions from the graph; the set must be loaded."""
        ids = graph_ids(evaluation_set, collection)
        self._ids = {document.key: id for id, document in ids.items()}
        self._documents = {document.key: document for document in evaluation_set.documents}
        self._chunks: dict[str, list[Chunk]] = {}
        for batch in store.chunks(collection, with_vectors=False):
            for chunk in batch.chunks:
                self._chunks.setdefault(chunk.document_id, []).append(chunk)
        self._places: dict[str, TextPlaces | FilePlaces] = {}

    @property
    def chunks(self) -> int:
        """How many chunks the collection has."""
        return sum(map(len, self._chunks.values()))

    def judge(self, questions: Sequence[Question], level: Level, unit: Unit) -> Judgements:
        """Find what is relevant to each question."""
        answerable = [question for question in questions if question.gold]
        found = {question.key: self._relevance(question, level, unit) for question in answerable}
        relevance = {key: one for key, one in found.items() if one.grades}
        return Judgements(
            relevance=relevance,
            scopes={
                question.key: frozenset(
                    self._documents[_key(question, gold)].scope for gold in question.gold
                )
                for question in answerable
                if question.key in relevance
            },
            without_gold=len(questions) - len(answerable),
            not_held=len(answerable) - len(relevance),
        )

    def _relevance(self, question: Question, level: Level, unit: Unit) -> Relevance:
        grades: dict[str, int] = {}
        places: list[frozenset[str]] = []
        for gold in question.gold:
            document = self._documents[_key(question, gold)]
            holders = self._holders(gold, document, level)
            ids = frozenset(chunk.id if unit == "chunk" else chunk.document_id for chunk in holders)
            places.append(ids)
            grades |= {id: max(gold.grade, grades.get(id, 0)) for id in ids}
        return Relevance(grades, tuple(places))

    def _holders(self, gold: Gold, document: SourceDocument, level: Level) -> Sequence[Chunk]:
        chunks = self._chunks.get(self._ids[document.key], [])
        has_place = gold.start is not None or gold.text is not None or gold.page is not None
        if level == "document" or not has_place or not chunks:
            return chunks
        span = self._span(gold, document, chunks)
        if span is None and gold.page is not None:
            return [chunk for chunk in chunks if is_on_page(chunk, gold.page)]
        return _chunks_at(span, chunks, level) if span else []

    def _span(self, gold: Gold, document: SourceDocument, chunks: Sequence[Chunk]) -> Span | None:
        places = self._places.get(document.key)
        if places is None:
            in_file = document.path is not None
            places = FilePlaces(chunks) if in_file else TextPlaces(document)
            self._places[document.key] = places
        if isinstance(places, FilePlaces):
            return places.span(gold)
        if gold.start is None or gold.end is None:
            start = (document.text or "").find(gold.text) if gold.text else -1
            return places.span(start, start + len(gold.text or "")) if start >= 0 else None
        return places.span(gold.start, gold.end)


def _chunks_at(span: Span, chunks: Iterable[Chunk], level: Level) -> list[Chunk]:
    start, end = span
    overlapping = [
        (chunk, min(chunk.end, end) - max(chunk.start, start))
        for chunk in chunks
        if chunk.start < end and start < chunk.end
    ]
    if not overlapping:
        behind = [chunk for chunk in chunks if chunk.start >= end]
        return [min(behind, key=lambda chunk: chunk.start)] if behind else []
    if level == "passage":
        return [chunk for chunk, _ in overlapping]
    held = [
        chunk
        for chunk, overlap in overlapping
        if overlap >= HELD * min(end - start, chunk.end - chunk.start)
    ]
    return held or [max(overlapping, key=lambda pair: pair[1])[0]]


def _key(question: Question, gold: Gold) -> str:
    return f"{question.set}/{gold.doc}"
