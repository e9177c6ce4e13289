"""Divides the questions of a set so that no test question's documents are trained on.

More folds leave more to train on: two are halves of the documents, five train on four fifths.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from router.training_lists import Lists

Places = NDArray[np.int64]
Fold = tuple[Places, Places]
"""Places of the questions trained on, and of those tested."""


def folds_by_document(documents: Sequence[frozenset[str]], count: int) -> list[Fold]:
    """Divide questions by their documents.

    A question is tested in the fold of the first of its documents. A question that shares any
    document with one that is tested in a fold is not trained on there, so folds whose questions
    have documents in common train on fewer.

    Args:
        documents: Of each question's gold.
        count: Folds; fewer where there are fewer documents.
    """
    own = [min(found, key=_digest) for found in documents]
    order = {document: place for place, document in enumerate(sorted(set(own), key=_digest))}
    fold_of = np.array([order[document] % count for document in own])
    folds: list[Fold] = []
    for fold in sorted(set(fold_of.tolist())):
        tested = np.flatnonzero(fold_of == fold)
        known = frozenset[str]().union(*(documents[place] for place in tested.tolist()))
        is_apart = np.array([known.isdisjoint(found) for found in documents])
        folds.append((np.flatnonzero(is_apart & (fold_of != fold)), tested))
    return folds


def picked(lists: Lists, places: Places) -> Lists:
    """Return the lists of some questions."""
    return replace(
        lists,
        features=lists.features[places],
        scores=lists.scores[places],
        grades=lists.grades[places],
        teacher=lists.teacher[places],
        present=lists.present[places],
        relevant=lists.relevant[places],
        rows=lists.rows[places],
        questions=lists.questions[places],
        own=lists.own[places],
        documents=tuple(lists.documents[int(place)] for place in places),
    )


def instructive_places(lists: Lists, places: Places) -> Places:
    """Return those of the places whose candidates are in part relevant: others teach no order."""
    is_relevant = (lists.grades[places] > 0) & lists.present[places]
    return places[is_relevant.any(axis=1)]


def joined(parts: Sequence[Lists]) -> Lists:
    """Join lists of several collections with as many features; for a blend alone.

    The topics of each are its own, so theta and vectors are left out.
    """
    length = max(part.scores.shape[1] for part in parts)

    def padded(array: NDArray[Any]) -> NDArray[Any]:
        more = [(0, 0)] * array.ndim
        more[1] = (0, length - array.shape[1])
        return np.pad(array, more)

    return replace(
        parts[0],
        features=np.concatenate([padded(part.features) for part in parts]),
        scores=np.concatenate([padded(part.scores) for part in parts]),
        grades=np.concatenate([padded(part.grades) for part in parts]),
        teacher=np.concatenate([padded(part.teacher) for part in parts]),
        present=np.concatenate([padded(part.present) for part in parts]),
        relevant=np.concatenate([part.relevant for part in parts]),
        rows=np.concatenate([np.zeros((len(part.scores), length), np.int64) for part in parts]),
        questions=np.concatenate([part.questions for part in parts]),
        own=np.zeros((sum(len(part.scores) for part in parts), 0), np.float32),
        documents=tuple(one for part in parts for one in part.documents),
    )


def _digest(document: str) -> bytes:
    """Return what orders documents by chance, always in the same way."""
    return hashlib.blake2b(document.encode(), digest_size=8).digest()
