"""Makes small graphs for tests: a document from a few sentences, embedded by the fake embedder."""

import hashlib
from dataclasses import replace

from graph.model import Chunk, Document, IngestedDocument, Section
from graph.ports import Embedder
from tests.fakes import HashingEmbedder


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def make_document(
    name: str, *texts: str, embedder: Embedder | None = None, **properties: object
) -> IngestedDocument:
    """One document with one section per text and one chunk per section."""
    embedder = embedder or HashingEmbedder()
    collection = str(properties.get("collection", "default"))
    id = digest(f"{collection}/{name}")
    document = replace(
        Document(
            id=id,
            uri=f"file:///{name}",
            title=name,
            sha256=digest(" ".join(texts)),
            media_type="text/plain",
            pages=len(texts),
            ingested_at="2026-01-01T00:00:00+00:00",
            fingerprint="test",
        ),
        **properties,  # type: ignore[arg-type]
    )
    sections, chunks = [], []
    for n, text in enumerate(texts):
        section = Section(
            id=digest(f"{id}/{n}"),
            document_id=id,
            parent_id=sections[0].id if n else None,
            number=str(n + 1),
            title=f"Part {n + 1}",
            path=("Part 1",) if n == 0 else ("Part 1", f"Part {n + 1}"),
            level=1 if n == 0 else 2,
            ordinal=n,
            page_start=n + 1,
            page_end=n + 1,
            provenance="document",
        )
        sections.append(section)
        heading = " > ".join(section.path)
        chunks.append(
            Chunk(
                id=digest(f"{id}/{text}"),
                document_id=id,
                section_id=section.id,
                text=text,
                heading=heading,
                ordinal=n,
                start=0,
                end=len(text),
                page_start=n + 1,
                page_end=n + 1,
                sha256=digest(heading + text),
            )
        )
    vectors = embedder.embed([f"{chunk.heading}\n{chunk.text}" for chunk in chunks])
    return IngestedDocument(document, tuple(sections), tuple(chunks), vectors, embedder.fingerprint)
