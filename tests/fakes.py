"""Small working stand-ins: a graph in memory and an embedder that hashes words."""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from graph.editions import Edition, Validity, first_day, order_editions
from graph.fold import fold
from graph.model import (
    OPEN_ENDED,
    Candidate,
    ChunkBatch,
    Document,
    DocumentState,
    Filter,
    IngestedDocument,
    IngestRun,
    ListRank,
    Passage,
    Scope,
    SearchRequest,
    Vector,
    Vectors,
)

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Bag of hashed words: texts that share words are near, the same text gives the same vector."""

    name = "hashing"
    dimensions = 256
    max_tokens = 40
    fingerprint = "hashing-256"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                vectors[row, zlib.crc32(word.encode()) % self.dimensions] += 1
            if not vectors[row].any():
                vectors[row, 0] = 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_query(self, text: str) -> Vector:
        return self.embed([text])[0]

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


class MemoryStore:
    """`graph.ports.Store` in memory, with exact cosine and BM25."""

    def __init__(self) -> None:
        self.items: dict[str, IngestedDocument] = {}
        self.validity: dict[str, Validity] = {}
        self.runs: list[IngestRun] = []
        self.writes = 0

    def write(self, items: Sequence[IngestedDocument]) -> None:
        for item in items:
            self.writes += 1
            self.items[item.document.id] = item
            day = first_day(_edition(item.document))
            self.validity[item.document.id] = Validity(item.document.id, day, OPEN_ENDED, ())

    def remove(self, document_ids: Sequence[str]) -> int:
        return sum(self.items.pop(id, None) is not None for id in document_ids)

    def finish(self, collection: str) -> None:
        series: dict[str | None, list[Edition]] = {}
        for item in self.items.values():
            if item.document.collection == collection:
                name = item.document.series
                series.setdefault(name or item.document.id, []).append(_edition(item.document))
        for editions in series.values():
            self.validity |= {validity.id: validity for validity in order_editions(editions)}

    def record_run(self, run: IngestRun) -> None:
        self.runs.append(run)

    def document_states(self, collection: str) -> Mapping[str, DocumentState]:
        return {
            d.uri: DocumentState(d.id, d.uri, d.sha256, d.fingerprint, d.audience, len(item.chunks))
            for item in self.items.values()
            if (d := item.document).collection == collection
        }

    def list_documents(self, where: Filter) -> Sequence[tuple[Document, int]]:
        found = [item for item in self.items.values() if self._passes(item.document, where)]
        found.sort(
            key=lambda item: (
                item.document.scope,
                item.document.series is None,
                item.document.series or "",
                self.validity[item.document.id].valid_from,
                item.document.title,
                item.document.uri,
            )
        )
        return [
            (
                replace(item.document, is_current=self.validity[item.document.id].is_current),
                len(item.chunks),
            )
            for item in found
        ]

    def list_scopes(self, where: Filter) -> Sequence[Scope]:
        documents: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        for document, count in self.list_documents(where):
            documents[document.scope] += 1
            chunks[document.scope] += count
        return [Scope(name, documents[name], chunks[name]) for name in sorted(documents)]

    def chunks(self, collection: str, *, with_vectors: bool = True) -> Iterator[ChunkBatch]:
        for _, item in sorted(self.items.items()):
            document, n = item.document, len(item.chunks)
            if document.collection == collection:
                yield ChunkBatch(
                    chunks=item.chunks,
                    scopes=(document.scope,) * n,
                    series=(document.series,) * n,
                    vectors=item.vectors if with_vectors else item.vectors[:, :0],
                )

    def nearest_scopes(
        self, vector: Vector, where: Filter, limit: int
    ) -> Sequence[tuple[str, float]]:
        ranked = self._by_cosine(vector, where)[:limit]
        return [(self._passage(id).scope, score) for score, id in ranked]

    def search(self, request: SearchRequest) -> Sequence[Candidate]:
        lists: dict[str, list[tuple[float, str]]] = {}
        if request.vector is not None:
            if request.search_globally:
                lists["global"] = self._by_cosine(request.vector, request.filter)
            for scope in set(request.scopes):
                if not request.filter.scopes or scope in request.filter.scopes:
                    narrowed = replace(request.filter, scopes=(scope,))
                    lists[f"scope:{scope}"] = self._by_cosine(request.vector, narrowed)
        lists["fulltext"] = self._by_bm25(request.text, request.filter)
        ranks: dict[str, dict[str, ListRank]] = {}
        for name, entries in sorted(lists.items()):
            for rank, (score, id) in enumerate(entries[: request.limit], start=1):
                ranks.setdefault(id, {})[name] = ListRank(rank, score)
        return [Candidate(self._passage(id), ranks[id]) for id in sorted(ranks)]

    def _passes(self, document: Document, where: Filter) -> bool:
        validity = self.validity[document.id]
        day = None if where.as_of is None else f"{where.as_of:04d}1231"
        return (
            document.collection == where.collection
            and document.audience in where.audiences
            and (not where.scopes or document.scope in where.scopes)
            and where.series in (None, document.series)
            and where.year in (None, document.year)
            and (not where.current_only or validity.is_current)
            and (day is None or validity.valid_from <= day < validity.valid_to)
        )

    def _chunks(self, where: Filter) -> list[tuple[str, str, Vector]]:
        return [
            (chunk.id, f"{chunk.heading} {chunk.text}", vector)
            for item in self.items.values()
            if self._passes(item.document, where)
            for chunk, vector in zip(item.chunks, item.vectors, strict=True)
        ]

    def _by_cosine(self, vector: Vector, where: Filter) -> list[tuple[float, str]]:
        scored = [(float(1 + vector @ v) / 2, id) for id, _, v in self._chunks(where)]
        return sorted(scored, key=self._place)

    def _by_bm25(self, question: str, where: Filter) -> list[tuple[float, str]]:
        texts = [(id, Counter(_words(text))) for id, text, _ in self._chunks(where)]
        wanted = set(_words(question)) - {"the", "of", "is", "a", "and", "or", "not", "to", "in"}
        frequency = Counter(word for _, words in texts for word in words)
        scored = [
            (
                sum(
                    math.log(1 + len(texts) / frequency[word]) * words[word] / (words[word] + 1)
                    for word in wanted & set(words)
                ),
                id,
            )
            for id, words in texts
        ]
        return sorted((pair for pair in scored if pair[0] > 0), key=self._place)

    def _place(self, scored: tuple[float, str]) -> tuple[float, bool, str]:
        score, chunk_id = scored
        return (-score, not self._passage(chunk_id).is_current, chunk_id)

    def _passage(self, chunk_id: str) -> Passage:
        item, chunk = next(
            (item, chunk)
            for item in self.items.values()
            for chunk in item.chunks
            if chunk.id == chunk_id
        )
        document = item.document
        section = next(s for s in item.sections if s.id == chunk.section_id)
        values = {f.name: getattr(chunk, f.name, None) for f in fields(Passage)}
        values |= {
            "chunk_id": chunk.id,
            "document": document.title,
            "section_number": section.number,
            "section": section.title,
            "is_current": self.validity[document.id].is_current,
        }
        for name in ("uri", "scope", "series", "edition", "year"):
            values[name] = getattr(document, name)
        return Passage(**values)


def _words(text: str) -> list[str]:
    # A crude stem, so that "rails" finds "rail" as the english analyzer does.
    return [word.rstrip("s") for word in _WORD.findall(fold(text).lower())]


def _edition(document: Document) -> Edition:
    return Edition(document.id, document.edition, document.year, document.date)
