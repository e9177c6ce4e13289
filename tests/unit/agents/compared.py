"""Editions of a small policy, for tests of comparing."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph.model import Chunk, IngestedDocument, Section
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

Entry = tuple[str | None, str, str]
"""Number, title and text of a section; a number's dots tell what it stands in."""


def edition(name: str, *entries: Entry, **properties: object) -> IngestedDocument:
    """One document; each section is one chunk, on the page of its place."""
    made = make_document(name, "", **{"series": "Policy", "edition": name, **properties})
    document = made.document
    sections: list[Section] = []
    chunks: list[Chunk] = []
    for at, (number, title, text) in enumerate(entries):
        section = _section(document.id, at, number, title, sections)
        sections.append(section)
        if text:
            chunks.append(_chunk(section, text, len(chunks)))
    vectors = HashingEmbedder().embed([c.text for c in chunks]) if chunks else np.empty((0, 256))
    return replace(
        made, sections=tuple(sections), chunks=tuple(chunks), vectors=vectors.astype(np.float32)
    )


def store_of(*items: IngestedDocument) -> MemoryStore:
    store = MemoryStore()
    store.write(items)
    store.finish("default")
    return store


def outline(item: IngestedDocument) -> list[tuple[Section, Sequence[Chunk]]]:
    return [
        (section, [chunk for chunk in item.chunks if chunk.section_id == section.id])
        for section in item.sections
    ]


def _section(
    document_id: str, at: int, number: str | None, title: str, above: list[Section]
) -> Section:
    parents = [s for s in above if number and s.number and number.startswith(f"{s.number}.")]
    parent = parents[-1] if parents else None
    heading = f"{number} {title}" if number else title
    return Section(
        id=_digest(f"{document_id}/{at}"),
        document_id=document_id,
        parent_id=parent.id if parent else None,
        number=number,
        title=title,
        path=(*(parent.path if parent else ()), heading),
        level=parent.level + 1 if parent else 1,
        ordinal=at,
        page_start=at + 1,
        page_end=at + 1,
        provenance="numbering",
    )


def _chunk(section: Section, text: str, ordinal: int) -> Chunk:
    return Chunk(
        id=_digest(section.id + text),
        document_id=section.document_id,
        section_id=section.id,
        text=text,
        heading=" > ".join(section.path),
        ordinal=ordinal,
        start=0,
        end=len(text),
        page_start=section.page_start,
        page_end=section.page_end,
        sha256=_digest(text),
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
