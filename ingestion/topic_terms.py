"""Words of chunks, and which of them tell each topic from the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.model import Vectors
from ingestion.discover import class_tfidf, scope_names, stop_words
from ingestion.topic_kmeans import Words

TERMS_KEPT = 25
VOCABULARY = 10_000
"""Words that are counted at most, the most frequent ones."""
WORD = r"\b[^\W\d_]{3,}\b"
COMMON = 0.5
"""Share of chunks above which a word tells nothing."""
RARE = 5_000
"""Chunks for each of which a word must be in one more to be counted; in two at least."""
FEW = 50
"""Number of chunks below which every word is counted."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that are counted."""

    words: tuple[str, ...]

    def count(self, texts: Iterable[str]) -> Words:
        """Return how often each word is in each text: sparse, (n, V), float32."""
        return _vectorizer(vocabulary=list(self.words)).transform(texts)


def count_words(texts: Iterable[str], n: int) -> tuple[Vocabulary, Words]:
    """Choose the words that are counted, and count them.

    Args:
        texts: Of the chunks, without headings, which repeat.
        n: Number of texts.

    Returns:
        The vocabulary, and sparse counts of shape (n, V); V is 0 for texts without words.
    """
    from scipy import sparse

    few = n < FEW
    vectorizer = _vectorizer(
        min_df=1 if few else max(2, n // RARE),
        max_df=1.0 if few else COMMON,
        max_features=VOCABULARY,
    )
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:  # "empty vocabulary", or none left by the limits
        make: Any = sparse.csr_matrix
        return Vocabulary(()), make((n, 0), dtype=np.float32)
    return Vocabulary(tuple(vectorizer.get_feature_names_out().tolist())), counts


def telling_terms(
    nearest: NDArray[np.int64], k: int, words: Words, vocabulary: Vocabulary
) -> tuple[tuple[str, ...], ...]:
    """Return the terms that tell each topic from the others, by class-based TF-IDF.

    A topic that is no chunk's strongest has no terms.

    Args:
        nearest: The strongest topic of each chunk, (n,).
        k: Number of topics.
        words: Counts, (n, V).
        vocabulary: The words of the columns.
    """
    counts = [_counts(words, vocabulary, nearest == topic) for topic in range(k)]
    return tuple(
        tuple(sorted(score, key=lambda term: (-score[term], term))[:TERMS_KEPT])
        for score in class_tfidf(counts)
    )


def top_words(beta: Vectors, vocabulary: Vocabulary) -> tuple[tuple[str, ...], ...]:
    """Return the likeliest words of each topic.

    Args:
        beta: Shape (K, V).
        vocabulary: The words of the columns.
    """
    order: list[list[int]] = np.argsort(-beta, axis=1, kind="stable")[:, :TERMS_KEPT].tolist()
    return tuple(tuple(vocabulary.words[place] for place in row) for row in order)


def topic_labels(terms: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return a label for each topic, made of its first words; no two are the same."""
    return tuple(scope_names(terms, "topic"))


def _counts(words: Words, vocabulary: Vocabulary, chosen: NDArray[np.bool_]) -> dict[str, int]:
    sums = np.asarray(words[chosen].sum(axis=0)).ravel()
    return {vocabulary.words[place]: int(sums[place]) for place in np.flatnonzero(sums)}


def _vectorizer(**options: object) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    make: Any = CountVectorizer
    left_out = None if "vocabulary" in options else stop_words()
    return make(token_pattern=WORD, stop_words=left_out, dtype=np.float32, **options)
