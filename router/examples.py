"""Examples for training routers: questions whose scope is known, or what the documents offer."""

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graph.errors import UsageError
from graph.model import Vector, Vectors
from graph.ports import Embedder, Store

TITLES_PER_SCOPE = 400
"""So that a large scope does not decide alone what a question looks like."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts with their scopes, and vectors with theirs."""

    texts: tuple[str, ...]
    text_scopes: tuple[str, ...]
    vectors: Vectors
    """Shape (n, d); n is at least the number of texts."""
    vector_scopes: tuple[str, ...]


def read_questions(path: Path) -> list[tuple[str, str]]:
    """Read labelled questions, one JSON object a line: {"question", "scope"}.

    Raises:
        UsageError: There is no such file, or a line is wrong; names it.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}. Give one with a question and scope a line.")
    questions: list[tuple[str, str]] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            questions.append((_text(entry, "question"), _text(entry, "scope")))
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(
                f'{path}, line {number}: expected {{"question": "…", "scope": "…"}} ({error}).'
            ) from error
    return questions


def from_questions(
    questions: Sequence[tuple[str, str]], known: Sequence[str], embedder: Embedder
) -> Examples:
    """Make examples of labelled questions.

    Args:
        questions: Text and scope.
        known: The collection's scopes.
        embedder: Embeds the questions.

    Raises:
        UsageError: There are none, or one names a scope that the collection lacks.
    """
    if not questions:
        raise UsageError("There is no question to learn from. Give some, or none at all.")
    for text, scope in questions:
        if scope not in known:
            raise UsageError(
                f"The question {text[:60]!r} is labelled {scope!r}, which is no scope of the "
                f"collection. The scopes are {', '.join(known) or 'none'}."
            )
    texts = tuple(text for text, _ in questions)
    scopes = tuple(scope for _, scope in questions)
    vectors = np.stack([embedder.embed_query(text) for text in texts])
    return Examples(texts, scopes, vectors, scopes)


def from_documents(store: Store, collection: str, embedder: Embedder, seed: int = 0) -> Examples:
    """Make examples without labels: titles of sections as questions, and documents' mean vectors.

    Raises:
        UsageError: The collection is empty.
    """
    titles: defaultdict[str, set[str]] = defaultdict(set)
    sums: dict[tuple[str, str], Vector] = {}
    for batch in store.chunks(collection):
        for chunk, scope, vector in zip(batch.chunks, batch.scopes, batch.vectors, strict=True):
            # Behind the path may stand the names of a table's columns, on a line of their own.
            title = chunk.heading.partition("\n")[0].rpartition(" > ")[2].strip()
            if any(character.isalpha() for character in title):
                titles[scope].add(title)
            key = (scope, chunk.document_id)
            sums[key] = sums[key] + vector if key in sums else vector
    if not sums:
        raise UsageError(f"Collection {collection!r} is empty. Ingest documents into it first.")
    drawn = [
        (title, scope)
        for scope, found in sorted(titles.items())
        for title in _sample(sorted(found), f"{seed}/{scope}")
    ]
    texts = tuple(title for title, _ in drawn)
    scopes = tuple(scope for _, scope in drawn)
    means = np.stack(list(sums.values()))
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
    vectors = np.concatenate([embedder.embed(texts), means]) if texts else means
    return Examples(texts, scopes, vectors, (*scopes, *(scope for scope, _ in sums)))


def _sample(titles: Sequence[str], seed: str) -> list[str]:
    size = min(TITLES_PER_SCOPE, len(titles))
    return random.Random(seed).sample(titles, size)


def _text(entry: dict[str, object], name: str) -> str:
    value = entry[name]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is empty or no text")
    return value
