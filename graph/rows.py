"""Between the frozen values and the rows that Cypher takes and gives."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from neo4j.vector import Vector as DriverVector

from graph.editions import Edition, first_day
from graph.errors import StoreError
from graph.lucene import chunk_keys
from graph.model import (
    OPEN_ENDED,
    Candidate,
    Chunk,
    ChunkBatch,
    Document,
    DocumentState,
    FileOutcome,
    IngestedDocument,
    ListRank,
    Passage,
    Section,
    TopicCount,
    TopicModel,
    Vector,
    Vectors,
)
from graph.topics import check_theta, strongest, topic_id

Row = dict[str, Any]
"""What the driver takes as a parameter, and gives back."""


def document_row(item: IngestedDocument) -> Row:
    """Return a document's properties; unknown ones are left out, as Neo4j stores no null."""
    document = item.document
    return asdict(document) | {
        "valid_from": _first_day(document),
        "valid_to": OPEN_ENDED,
        "is_current": True,
        "chunks": len(item.chunks),
        "copies": list(document.copies),
        "metadata_sources": list(document.metadata_sources),
        "page_labels": list(document.page_labels),
        "minhash": item.minhash,
    }


def section_rows(item: IngestedDocument) -> list[Row]:
    """Return the sections' properties."""
    return [asdict(section) | {"path": list(section.path)} for section in item.sections]


def chunk_rows(item: IngestedDocument) -> list[Row]:
    """Return id, properties and float32 vector of each chunk.

    Raises:
        StoreError: A vector is zero or not finite. Neo4j would store it and never find it again.
    """
    document = item.document
    lengths = np.linalg.norm(item.vectors, axis=1)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise StoreError(
            f"A vector of {document.uri} is zero or not finite, so nothing of this file is stored. "
            "Check the embedding model."
        )
    shared: Row = {
        "collection": document.collection,
        "scope": document.scope,
        "series": document.series,
        "edition": document.edition,
        "year": document.year,
        "audience": document.audience,
        "is_current": True,
        "valid_from": _first_day(document),
        "valid_to": OPEN_ENDED,
        "keys": chunk_keys(document),
        # What a hit shows of its document: looked up, it would cost a third of a search.
        "document_title": document.title,
        "uri": document.uri,
        "embedder": item.embedder,
        # Topics of a chunk that is written anew without are none: they may not fit its text.
        "topics": None,
        "topics_fingerprint": item.topics_fingerprint,
    }
    sections = {section.id: section for section in item.sections}
    return [
        {
            "id": chunk.id,
            "properties": asdict(chunk) | shared | _place(sections[chunk.section_id]),
            "vector": DriverVector(vector),
            "theta": None if theta is None else DriverVector(theta),
        }
        for chunk, vector, theta in zip(item.chunks, item.vectors, _theta(item), strict=True)
    ]


def contents_row(item: IngestedDocument) -> Row:
    """Return a document's sections, each with its chunks.

    Raises:
        StoreError: As `chunk_rows`.
    """
    by_section: dict[str, list[Row]] = {}
    for row in chunk_rows(item):
        by_section.setdefault(row["properties"]["section_id"], []).append(row)
    sections = [
        {"properties": row, "chunks": by_section.get(row["id"], [])} for row in section_rows(item)
    ]
    return {"id": item.document.id, "sections": sections}


def home_rows(items: Sequence[IngestedDocument]) -> list[Row]:
    """Return the section to which each chunk belongs."""
    return [
        {"id": chunk.id, "section_id": chunk.section_id} for item in items for chunk in item.chunks
    ]


def about_rows(item: IngestedDocument) -> list[Row]:
    """Return the chunks of a document, each with the topics that it is about."""
    ids = [chunk.id for chunk in item.chunks]
    if item.theta is None or item.topics_fingerprint is None:
        return []
    return linked_rows(item.document.collection, ids, item.theta, item.topics_fingerprint)


def linked_rows(
    collection: str, chunk_ids: Sequence[str], theta: Vectors, fingerprint: str
) -> list[Row]:
    """Return chunks, each with its topics and the strongest of them."""
    return [
        {
            "id": id,
            "theta": DriverVector(row),
            "about": [
                {"id": topic_id(collection, fingerprint, number), "weight": weight}
                for number, weight in strongest(row)
            ],
        }
        for id, row in zip(chunk_ids, theta, strict=True)
    ]


def topic_rows(model: TopicModel) -> list[Row]:
    """Return key, properties and float32 centroid of each topic."""
    return [
        {
            "id": topic_id(model.collection, model.fingerprint, number),
            "properties": {
                "id": topic_id(model.collection, model.fingerprint, number),
                "collection": model.collection,
                "model": model.fingerprint,
                "number": number,
                "label": label,
                "terms": list(terms),
            },
            "centroid": DriverVector(centroid),
        }
        for number, (label, terms, centroid) in enumerate(
            zip(model.labels, model.terms, model.centroids, strict=True)
        )
    ]


def topic_model_row(model: TopicModel) -> Row:
    """Return the properties of a topic model, without its topics."""
    names = ("collection", "name", "fingerprint", "embedder", "temperature", "fitted_at")
    row: Row = {name: getattr(model, name) for name in names}
    return row | {"summary": model.summary, "arrays": model.arrays, "topics": len(model.labels)}


def topic_model_from_row(row: Mapping[str, Any]) -> TopicModel:
    """Return a topic model with its topics, which come in the order of their numbers."""
    found: Row = row["model"]
    given = {f.name: found[f.name] for f in fields(TopicModel) if f.name in found}
    given["arrays"] = bytes(found["arrays"])
    return TopicModel(
        **given,
        centroids=np.stack([_array(centroid) for centroid in row["centroids"]]),
        terms=tuple(tuple(terms) for terms in row["terms"]),
        labels=tuple(row["labels"]),
    )


def topic_count_from_row(row: Mapping[str, Any]) -> TopicCount:
    """Return how much of a collection a topic is among the strongest of."""
    scopes = tuple((name, int(chunks)) for name, chunks in row["scopes"])
    return TopicCount(row["number"], row["chunks"], row["documents"], scopes)


def order_rows(item: IngestedDocument) -> list[Row]:
    """Return the pairs of chunks that follow each other."""
    ids = [chunk.id for chunk in sorted(item.chunks, key=lambda chunk: chunk.ordinal)]
    return [{"before": a, "after": b} for a, b in itertools.pairwise(ids)]


def outcome_row(outcome: FileOutcome) -> Row:
    """Return what a run did with a file; unknown values are left out."""
    row = asdict(outcome) | {
        "pages_without_text": list(outcome.pages_without_text),
        "metadata": list(outcome.metadata),
    }
    return {key: value for key, value in row.items() if value is not None}


def document_from_row(row: Mapping[str, Any]) -> tuple[Document, int]:
    """Return the document and its number of chunks."""
    values: Row = {"pages": None}  # the only field without a default that Neo4j may not have
    values |= {f.name: row[f.name] for f in fields(Document) if f.name in row}
    for name in ("copies", "metadata_sources", "page_labels"):
        values[name] = tuple(row.get(name) or ())
    return Document(**values), int(row["chunks"])


def chunk_scope_row(row: Mapping[str, Any]) -> Row:
    """Return what the chunks of a document copy of its scope."""
    document, _ = document_from_row(row)
    return {"id": document.id, "scope": document.scope, "keys": chunk_keys(document)}


def state_from_row(row: Mapping[str, Any]) -> DocumentState:
    """Return what is known of a document; graphs of older versions lack some of it."""
    more: Row = {"copies": tuple(row["copies"] or ()), "minhash": bytes(row["minhash"] or b"")}
    return DocumentState(**{**row, **more})


def chunk_batch_from_rows(rows: Sequence[Mapping[str, Any]], *, with_topics: bool) -> ChunkBatch:
    """Return the chunks in the order given."""
    vectors = [_array(row["vector"]) for row in rows if row["vector"] is not None]
    theta = [None if row["theta"] is None else _array(row["theta"]) for row in rows]
    return ChunkBatch(
        chunks=tuple(Chunk(**row["chunk"]) for row in rows),
        scopes=tuple(row["scope"] for row in rows),
        series=tuple(row["series"] for row in rows),
        vectors=np.stack(vectors) if vectors else np.empty((len(rows), 0), np.float32),
        theta=tuple(theta) if with_topics else (),
        topics_fingerprints=(
            tuple(row["topics_fingerprint"] for row in rows) if with_topics else ()
        ),
    )


def outline_from_row(row: Mapping[str, Any]) -> tuple[Section, tuple[Chunk, ...]]:
    """Return a section and the chunks that stand directly in it."""
    # Neo4j stores no null: the optional fields of a section may be missing.
    found: Row = row["section"]
    values: Row = {f.name: found.get(f.name) for f in fields(Section)}
    values["path"] = tuple(found["path"])
    return Section(**values), tuple(Chunk(**chunk) for chunk in row["chunks"])


def passage_from_row(row: Mapping[str, Any]) -> Passage:
    """Return the passage in a row."""
    return Passage(*row["passage"])


def candidates_from_rows(rows: Sequence[Mapping[str, Any]]) -> list[Candidate]:
    """Return the candidates, by chunk id, with each list's scores turned into ranks.

    Editions repeat each other word for word: of equal scores the current edition's comes first,
    then the chunk id decides.
    """
    found = [(Passage(*shown), *others) for shown, *others in rows[0]["candidates"]]
    by_list: dict[str, list[tuple[float, bool, str]]] = {}
    for passage, lists, *_ in found:
        for name, score in lists:
            entry = (-score, not passage.is_current, passage.chunk_id)
            by_list.setdefault(name, []).append(entry)
    ranks = {
        (name, chunk_id): ListRank(rank, -negative)
        for name, entries in by_list.items()
        for rank, (negative, _, chunk_id) in enumerate(sorted(entries), start=1)
    }
    candidates = [
        Candidate(
            passage=passage,
            lists={name: ranks[name, passage.chunk_id] for name, _ in sorted(lists)},
            cosine=None if similarity is None else 2 * similarity - 1,
            vector=None if vector is None else _array(vector),
            theta=None if theta is None else _array(theta),
            topics_fingerprint=None if theta is None else fingerprint,
        )
        for passage, lists, similarity, vector, theta, fingerprint in found
    ]
    return sorted(candidates, key=lambda candidate: candidate.passage.chunk_id)


def _theta(item: IngestedDocument) -> Sequence[Vector | None]:
    """Return the topics of each chunk.

    Raises:
        StoreError: They are no distributions.
    """
    if item.theta is None:
        return [None] * len(item.chunks)
    check_theta(item.theta, len(item.chunks))
    return list(item.theta)


def _place(section: Section) -> Row:
    return {"section_number": section.number, "section_title": section.title}


def _array(vector: DriverVector) -> Vector:
    return np.asarray(vector.to_numpy(), dtype=np.float32)


def _first_day(document: Document) -> str:
    return first_day(Edition(document.id, document.edition, document.year, document.date))
