"""The teacher that needs nothing: titles of sections, each a question that its chunks answer."""

import random
from collections import defaultdict

from graph.errors import UsageError
from graph.ports import Store
from router.training_data import Labelled

MOST_QUESTIONS = 2_000
"""Drawn from all titles; more only take longer to search for."""

_COMMON = 2
"""Documents with the same title from which on it needs the one above to tell what it is about."""
_LEAST_WORDS = 2


def headings(
    store: Store, collection: str, *, most: int = MOST_QUESTIONS, seed: int = 0
) -> list[Labelled]:
    """Make a question of each section's title, with the title above it where it is a common one.

    Raises:
        UsageError: The collection holds no section with a title that tells anything.
    """
    chunks: defaultdict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    documents: defaultdict[str, set[str]] = defaultdict(set)
    for batch in store.chunks(collection, with_vectors=False):
        for chunk in batch.chunks:
            # Behind the path may stand the names of a table's columns, on a line of their own.
            path = tuple(chunk.heading.partition("\n")[0].split(" > "))
            chunks[chunk.document_id, path].append(chunk.id)
            documents[path[-1]].add(chunk.document_id)
    found: list[Labelled] = []
    for (document, path), ids in sorted(chunks.items()):
        is_common = len(documents[path[-1]]) >= _COMMON
        title = " ".join(path[-2:] if is_common else path[-1:])
        if sum(word.isalpha() for word in title.split()) >= _LEAST_WORDS:
            found.append(Labelled(title, document, "headings", dict.fromkeys(ids, 1)))
    if not found:
        raise UsageError(
            f"No section of collection {collection!r} has a title that could be asked for. Train "
            "with questions instead: --teacher gold, or --data FILE."
        )
    return random.Random(seed).sample(found, min(most, len(found)))
