"""BM25 in memory with the rank-bm25 package, beside Neo4j's full text, for comparison.

Words are taken as they are, in lower case; Lucene's english analyzer also stems them and drops stop
words, which is why the two differ.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graph.fold import fold

_WORD = re.compile(r"\w+")


class Bm25:
    """BM25 over texts (Robertson and Zaragoza 2009), with Okapi's usual k1 = 1.5 and b = .75."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Count the words of all texts."""
        from rank_bm25 import BM25Okapi

        words = [tokens(text) for text in texts]
        self._sets = [frozenset(one) for one in words]
        # The package divides by the number of words, and cannot without any.
        self._model = BM25Okapi(words) if any(words) else None
        self._size = len(words)

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return a score above 0 for each text that shares a word with the question, else 0.

        The package gives words that half the texts have a weight of 0, and those that most have a
        small one, which is below 0 where most words are such. So a text can match and not score;
        here every text that matches is above all that do not.

        Returns:
            Shape (n,).
        """
        wanted = tokens(question)
        matched = np.array([not words.isdisjoint(wanted) for words in self._sets], bool)
        if self._model is None or not matched.any():
            return np.zeros(self._size, np.float32)
        raw = np.asarray(self._model.get_scores(wanted), np.float32)
        lowest = float(raw[matched].min())
        lifted = raw if lowest > 0 else raw - lowest + 1e-6
        return np.where(matched, lifted, 0).astype(np.float32)


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(fold(text).lower())
