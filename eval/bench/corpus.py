"""Many short chunks with real embeddings, for measuring search at size."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from eval.sets import COMPOSITE, known_sets, load_set
from graph.model import Chunk, Document, IngestedDocument, Section, Vectors
from ingestion.embed import load_embedder

WORDS = 16
"""Words of a chunk: a tenth of a usual one, so that 200,000 are embedded in minutes."""

PER_DOCUMENT = 50
PER_TRANSACTION = 10
"""Documents."""

SHARES = {"0.1%": 0.001, "0.3%": 0.003, "1%": 0.01, "3%": 0.03, "10%": 0.1, "30%": 0.3}
"""Scopes by their share of the documents; the remainder is of the scope "rest"."""

SETS = Path("../shared/data")
SAMPLES = Path(__file__).parents[2] / "samples"


@dataclass(frozen=True)
class Bench:
    """Chunks, questions, and the vectors of both."""

    texts: list[str]
    vectors: Vectors
    """Shape (n, d)."""
    questions: list[str]
    question_vectors: Vectors

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the chunks."""
        return [f"{n:06}" for n in range(len(self.texts))]

    @cached_property
    def scope_of(self) -> list[str]:
        """Scope of each chunk; that of its document, drawn with a seed."""
        documents = -(-len(self.texts) // PER_DOCUMENT)
        names, shares = list(SHARES), list(SHARES.values())
        drawn = np.random.default_rng(0).choice(
            [*names, "rest"], size=documents, p=[*shares, 1 - sum(shares)]
        )
        return [str(drawn[n // PER_DOCUMENT]) for n in range(len(self.texts))]

    def scopes(self, size: int) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each scope among the first `size` chunks, and of all."""
        names = np.array(self.scope_of[:size])
        rows = {name: np.flatnonzero(names == name) for name in SHARES}
        return {name: found for name, found in rows.items() if len(found)} | {
            "100%": np.arange(size)
        }

    def documents(self, start: int, end: int) -> Iterator[list[IngestedDocument]]:
        """Yield the chunks [start, end) as documents, some for each transaction."""
        step = PER_DOCUMENT * PER_TRANSACTION
        for at in range(start, end, step):
            firsts = range(at, min(at + step, end), PER_DOCUMENT)
            yield [self._document(first, min(first + PER_DOCUMENT, end)) for first in firsts]

    def _document(self, start: int, end: int) -> IngestedDocument:
        id = f"d{start}"
        document = Document(
            id=id,
            uri=f"file:///{id}",
            title=id,
            sha256=id,
            media_type="text/plain",
            pages=None,
            ingested_at="2026-01-01T00:00:00+00:00",
            fingerprint="bench",
            scope=self.scope_of[start],
            collection="bench",
        )
        section = Section(f"{id}/s", id, None, None, id, (id,), 1, 0, None, None, "document")
        chunks = tuple(
            Chunk(
                id=self.ids[n],
                document_id=id,
                section_id=section.id,
                text=self.texts[n],
                heading=id,
                ordinal=n - start,
                start=0,
                end=len(self.texts[n]),
                page_start=None,
                page_end=None,
                sha256=self.ids[n],
            )
            for n in range(start, end)
        )
        return IngestedDocument(document, (section,), chunks, self.vectors[start:end], "bench")


def load_bench(size: int, questions: int, cache_folder: Path) -> Bench:
    """Make chunks and questions and embed them, or take the vectors from the cache folder.

    Questions are runs of words from other places of the same documents.
    """
    texts = make_texts(size + questions, cache_folder)
    digest = hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()
    path = cache_folder / "bench" / f"{len(texts)}-{digest}.npy"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, _embed(texts, cache_folder))
    vectors: Vectors = np.load(path)
    return Bench(texts[:size], vectors[:size], texts[size:], vectors[size:])


def make_texts(count: int, cache_folder: Path) -> list[str]:
    """Return distinct runs of words of the documents that are here, in an order drawn with a seed.

    The documents are those of the evaluation sets where these are, and the samples.
    """
    words = _words(cache_folder)
    step = max(1, len(words) // count)
    runs = [" ".join(words[at : at + WORDS]) for at in range(0, len(words) - WORDS, step)]
    distinct = list(dict.fromkeys(runs))
    order = np.random.default_rng(0).permutation(len(distinct))[:count]
    return [distinct[place] for place in order.tolist()]


def _words(cache_folder: Path) -> list[str]:
    texts = [path.read_text("utf-8") for path in sorted(SAMPLES.rglob("*.md"))]
    for name in (*COMPOSITE, "digitalgov"):
        if name in known_sets(SETS):
            for document in load_set(name, SETS, cache_folder).documents:
                texts.append(document.text or _read(document.path))
    return [word for text in texts for word in text.split()]


def _read(path: Path | None) -> str:
    return "" if path is None else path.read_text("utf-8", errors="replace")


def _embed(texts: list[str], cache_folder: Path) -> Vectors:
    embedder = load_embedder("all-MiniLM-L6-v2", cache_folder, print)
    batches = range(0, len(texts), 512)
    parts = [embedder.embed(texts[at : at + 512]) for at in track(batches, description="Embedding")]
    return np.concatenate(parts)
