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
    SCOPE_SET,
    Candidate,
    Chunk,
    ChunkBatch,
    Document,
    DocumentState,
    Filter,
    Holding,
    IngestedDocument,
    IngestRun,
    ListRank,
    Passage,
    Scope,
    SearchRequest,
    Section,
    TopicCount,
    TopicModel,
    TrainedRouter,
    Vector,
    Vectors,
)
from graph.topics import check_theta, strongest

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
        self.routers: dict[tuple[str, str], TrainedRouter] = {}
        self.topics: dict[str, TopicModel] = {}
        self.theta: dict[str, tuple[Vector, str]] = {}
        """Topics of each chunk, with the fingerprint of the model that made them."""
        self.writes = 0

    def write(self, items: Sequence[IngestedDocument]) -> None:
        for item in items:
            self.writes += 1
            self.items[item.document.id] = item
            day = first_day(_edition(item.document))
            self.validity[item.document.id] = Validity(item.document.id, day, OPEN_ENDED, ())
            for place, chunk in enumerate(item.chunks):
                self.theta.pop(chunk.id, None)
                if item.theta is not None and item.topics_fingerprint is not None:
                    self.theta[chunk.id] = (item.theta[place], item.topics_fingerprint)

    def remove(self, document_ids: Sequence[str]) -> int:
        return sum(self.items.pop(id, None) is not None for id in document_ids)

    def rename(self, names: Mapping[str, Sequence[str]]) -> None:
        for id, (uri, *copies) in names.items():
            item = self.items[id]
            renamed = replace(item.document, uri=uri, copies=tuple(copies))
            self.items[id] = replace(item, document=renamed)

    def finish(self, collection: str) -> None:
        series: dict[str | None, list[Edition]] = {}
        for item in self.items.values():
            if item.document.collection == collection:
                name = item.document.series
                series.setdefault(name or item.document.id, []).append(_edition(item.document))
        for editions in series.values():
            self.validity |= {validity.id: validity for validity in order_editions(editions)}

    def set_scopes(self, collection: str, scopes: Mapping[str, str]) -> int:
        moved = [
            item
            for id, item in self.items.items()
            if id in scopes and item.document.collection == collection
        ]
        for item in moved:
            id = item.document.id
            found = (x for x in item.document.metadata_sources if not x.startswith("scope:"))
            document = replace(
                item.document,
                scope=scopes[id],
                scope_set=True,
                metadata_sources=(*found, SCOPE_SET),
            )
            self.items[id] = replace(item, document=document)
        return len(moved)

    def record_run(self, run: IngestRun) -> None:
        self.runs.append(run)

    def document_states(self, collection: str) -> Mapping[str, DocumentState]:
        return {
            d.uri: DocumentState(
                d.id,
                d.uri,
                d.sha256,
                d.fingerprint,
                d.audience,
                len(item.chunks),
                d.copies,
                item.minhash,
                d.scope if d.scope_set else None,
            )
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

    def chunks(
        self, collection: str, *, with_vectors: bool = True, with_topics: bool = False
    ) -> Iterator[ChunkBatch]:
        for _, item in sorted(self.items.items()):
            document, n = item.document, len(item.chunks)
            found = [self.theta.get(chunk.id, (None, None)) for chunk in item.chunks]
            if document.collection == collection:
                yield ChunkBatch(
                    chunks=item.chunks,
                    scopes=(document.scope,) * n,
                    series=(document.series,) * n,
                    vectors=item.vectors if with_vectors else item.vectors[:, :0],
                    theta=tuple(theta for theta, _ in found) if with_topics else (),
                    topics_fingerprints=tuple(mark for _, mark in found) if with_topics else (),
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
        lists["address"] = self._by_address(request)
        ranks: dict[str, dict[str, ListRank]] = {}
        for name, entries in sorted(lists.items()):
            for rank, (score, id) in enumerate(entries[: request.limit], start=1):
                ranks.setdefault(id, {})[name] = ListRank(rank, score)
        return [
            Candidate(
                self._passage(id),
                ranks[id],
                None if request.vector is None else float(request.vector @ self._vector(id)),
                self._vector(id) if request.with_vectors else None,
                *(self.theta.get(id, (None, None)) if request.with_topics else (None, None)),
            )
            for id in sorted(ranks)
        ]

    def referred(
        self, references: Sequence[str], vector: Vector, where: Filter, each: int
    ) -> Sequence[Candidate]:
        ranks: dict[str, dict[str, ListRank]] = {}
        for name in references:
            found = self._by_address(SearchRequest(where, 0, vector, addresses=(name,)))
            for rank, (score, id) in enumerate(found[:each], start=1):
                ranks.setdefault(id, {})[f"reference:{name}"] = ListRank(rank, score)
        return [
            Candidate(self._passage(id), ranks[id], float(vector @ self._vector(id)))
            for id in sorted(ranks)
        ]

    def passages(self, chunk_ids: Sequence[str], where: Filter) -> Sequence[Passage]:
        wanted = set(chunk_ids)
        items = sorted(self.items.items())
        return [
            self._passage(chunk.id)
            for _, item in items
            if self._passes(item.document, where)
            for chunk in sorted(item.chunks, key=lambda chunk: chunk.ordinal)
            if chunk.id in wanted
        ]

    def neighbours(
        self, chunk_ids: Sequence[str], where: Filter, distance: int
    ) -> Sequence[Passage]:
        near = [
            other.id
            for item in self.items.values()
            for chunk in item.chunks
            if chunk.id in chunk_ids
            for other in item.chunks
            if abs(other.ordinal - chunk.ordinal) <= distance
        ]
        return self.passages(near, where)

    def section_passages(self, section_id: str, where: Filter) -> Sequence[Passage]:
        inside = {
            section.id
            for item in self.items.values()
            for section in item.sections
            if section_id in self._lineage(item, section)
        }
        ids = [c.id for i in self.items.values() for c in i.chunks if c.section_id in inside]
        return self.passages(ids, where)

    def outlines(
        self, document_ids: Sequence[str], where: Filter
    ) -> Sequence[tuple[Section, Sequence[Chunk]]]:
        return [
            (section, tuple(chunk for chunk in item.chunks if chunk.section_id == section.id))
            for id, item in sorted(self.items.items())
            if id in document_ids and self._passes(item.document, where)
            for section in sorted(item.sections, key=lambda section: section.ordinal)
        ]

    def holdings(self, where: Filter) -> Sequence[Holding]:
        counts = Counter(
            (d.scope, d.series, d.edition, d.year) for d, _ in self.list_documents(where)
        )
        ordered = sorted(counts, key=lambda key: [(part is None, part or 0) for part in key])
        return [Holding(*key, counts[key]) for key in ordered]

    def scope_names(self, collection: str) -> Sequence[str]:
        documents = (item.document for item in self.items.values())
        return sorted({d.scope for d in documents if d.collection == collection})

    def write_router(self, router: TrainedRouter) -> None:
        self.routers[router.collection, router.name] = router

    def read_router(self, collection: str, name: str) -> TrainedRouter | None:
        return self.routers.get((collection, name))

    def write_topics(self, model: TopicModel) -> None:
        self.topics[model.collection] = model

    def read_topics(self, collection: str) -> TopicModel | None:
        return self.topics.get(collection)

    def write_theta(
        self, collection: str, chunk_ids: Sequence[str], theta: Vectors, fingerprint: str
    ) -> int:
        check_theta(theta, len(chunk_ids))
        known = {
            chunk.id
            for item in self.items.values()
            if item.document.collection == collection
            for chunk in item.chunks
        }
        for id, row in zip(chunk_ids, theta, strict=True):
            if id in known:
                self.theta[id] = (row, fingerprint)
        return len(known.intersection(chunk_ids))

    def count_theta(self, collection: str, fingerprint: str) -> tuple[int, int]:
        marks = [
            self.theta.get(chunk.id, (None, None))[1]
            for batch in self.chunks(collection)
            for chunk in batch.chunks
        ]
        return len(marks), marks.count(fingerprint)

    def count_topics(self, where: Filter) -> Sequence[TopicCount]:
        found: dict[int, list[Passage]] = {}
        for id, number, _ in self._about(where):
            found.setdefault(number, []).append(self._passage(id))
        counts: list[TopicCount] = []
        for number, passages in sorted(found.items()):
            scopes = Counter(passage.scope for passage in passages)
            ordered = tuple(sorted(scopes.items(), key=lambda pair: (-pair[1], pair[0])))
            documents = len({passage.document_id for passage in passages})
            counts.append(TopicCount(number, len(passages), documents, ordered))
        return counts

    def topic_passages(
        self, number: int, where: Filter, limit: int
    ) -> Sequence[tuple[Passage, float]]:
        about = [(-weight, id) for id, topic, weight in self._about(where) if topic == number]
        return [(self._passage(id), -weight) for weight, id in sorted(about)[:limit]]

    def _about(self, where: Filter) -> Iterator[tuple[str, int, float]]:
        model = self.topics.get(where.collection)
        for id, _, _ in self._chunks(where):
            theta, mark = self.theta.get(id, (None, None))
            if model is not None and theta is not None and mark == model.fingerprint:
                for number, weight in strongest(theta):
                    yield id, number, weight

    def _lineage(self, item: IngestedDocument, section: Section) -> list[str]:
        """Return the section's id and those of all above it."""
        by_id = {one.id: one for one in item.sections}
        ids = [section.id]
        while (parent := by_id[ids[-1]].parent_id) is not None:
            ids.append(parent)
        return ids

    def _by_address(self, request: SearchRequest) -> list[tuple[float, str]]:
        wanted = [_words(address) for address in request.addresses]
        found: list[tuple[float, str]] = []
        for item in self.items.values():
            if not self._passes(item.document, request.filter):
                continue
            numbers = {section.id: section.number for section in item.sections}
            sections = {section.id: section for section in item.sections}
            for chunk, vector in zip(item.chunks, item.vectors, strict=True):
                lineage = self._lineage(item, sections[chunk.section_id])
                numbered = any(numbers[id] in request.addresses for id in lineage)
                if numbered or any(_holds(_words(chunk.heading), words) for words in wanted):
                    given = request.vector
                    score = 1.0 if given is None else float(1 + given @ vector) / 2
                    found.append((score, chunk.id))
        return sorted(found, key=self._place)

    def _vector(self, chunk_id: str) -> Vector:
        return next(
            vector
            for item in self.items.values()
            for chunk, vector in zip(item.chunks, item.vectors, strict=True)
            if chunk.id == chunk_id
        )

    def _passes(self, document: Document, where: Filter) -> bool:
        validity = self.validity[document.id]
        day = None if where.as_of is None else f"{where.as_of:04d}1231"
        return (
            document.collection == where.collection
            and document.audience in where.audiences
            and (not where.scopes or document.scope in where.scopes)
            and where.series in (None, document.series)
            and where.edition in (None, document.edition)
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


def _holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    n = len(phrase)
    return n > 0 and any(words[i : i + n] == phrase for i in range(len(words) - n + 1))


def _words(text: str) -> list[str]:
    # A crude stem, so that "rails" finds "rail" as the english analyzer does.
    return [word.rstrip("s") for word in _WORD.findall(fold(text).lower())]


def _edition(document: Document) -> Edition:
    return Edition(document.id, document.edition, document.year, document.date)
