"""Scopes without a taxonomy: k-means over the documents' mean vectors, named by their terms.

Section 7 and appendix A6.2 of the dilution paper: the vectors of a document's chunks are averaged,
the means normalised, and the documents clustered by k-means with a fixed seed.
"""

import itertools
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.model import ChunkBatch, Vectors

STARTS = 10
"""Times that k-means starts from other centroids; the best of them counts."""
LARGEST_K = 30
TRIED = 10
"""Numbers of scopes that are tried at most, where none is given."""
COMPARED = 2_000
"""Documents of which the silhouette is taken; it compares each with each."""
TERMS_SHOWN = 8
TERMS_KEPT = 20
"""Terms of which names are made, where two scopes have the first in common."""
TERMS_PER_DOCUMENT = 400
"""A document's rarer terms do not describe it, and are many."""
COMMON = 0.05
"""Share of a scope's documents, and two of them at least, that use a term which describes it."""
NAME_WORDS = 3

_TELLING = frozenset(
    (
        "amount", "bill", "bottom", "computer", "cry", "detail", "empty", "fill", "fire", "front",
        "interest", "mill", "move", "side", "system", "thick", "thin", "top",
    )
)  # fmt: skip
"""Words among scikit-learn's stop words that say what an agency's document is about."""

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")

Labels = Sequence[str] | Sequence[int] | NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DocumentMeans:
    """What scopes are discovered from: one entry a document, in the same order everywhere."""

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    """Present scopes."""
    chunks: tuple[int, ...]
    """Numbers of chunks."""
    means: Vectors
    """Shape (n, d): means of the chunks' vectors, of unit length; zero where these cancel out."""
    texts: Iterable[tuple[str, str]]
    """Document id and text of each chunk, a document's together; read once, for the names."""


@dataclass(frozen=True, slots=True)
class DiscoveredScope:
    """Documents that belong together."""

    name: str
    """Words joined by hyphens; unique."""
    documents: tuple[str, ...]
    """Ids."""
    chunks: int
    terms: tuple[str, ...]
    """Words and pairs of words that tell it from the others, the most telling first."""
    example: str
    """Id of the document nearest to the scope's centroid."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A number of scopes, and how well they part."""

    k: int
    silhouette: float
    """Mean silhouette by cosine distance, in [-1, 1]; higher is better."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The scopes found, largest first."""

    scopes: tuple[DiscoveredScope, ...]
    tried: tuple[Tried, ...]
    """Empty where the number of scopes was given, or there are too few documents to choose."""
    left_out: tuple[str, ...]
    """Ids of documents whose mean is zero: no scope is near to them."""
    purity: float
    """Against the present scopes, each chunk counted in its document's."""
    document_purity: float
    nmi: float
    """Against the present scopes, each document counted once."""
    seed: int

    @property
    def assignment(self) -> Mapping[str, str]:
        """The scope of each document, by id."""
        return {id: scope.name for scope in self.scopes for id in scope.documents}


def mean_vectors(batches: Iterable[ChunkBatch], ids: Sequence[str]) -> Vectors:
    """Return the documents' mean vectors, normalised.

    Args:
        batches: Chunks with vectors; those of other documents are passed over.
        ids: Documents, in the order of the rows.

    Returns:
        Shape (len(ids), d); zero for a document without chunks, or whose chunks cancel out.
    """
    places = {id: place for place, id in enumerate(ids)}
    sums = np.zeros((len(ids), 0))
    for batch in batches:
        if not sums.shape[1]:
            sums = np.zeros((len(ids), batch.vectors.shape[1]))
        rows = np.array([places.get(chunk.document_id, -1) for chunk in batch.chunks], np.int64)
        np.add.at(sums, rows[rows >= 0], batch.vectors[rows >= 0])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    whole = lengths > 1e-6  # below is what rounding leaves of vectors that cancel out
    return np.divide(sums, lengths, out=np.zeros_like(sums), where=whole).astype(np.float32)


def discover(documents: DocumentMeans, k: int | None = None, seed: int = 42) -> Discovery:
    """Cluster documents into scopes: the same documents give the same scopes.

    Args:
        documents: At least one.
        k: Number of scopes; None chooses the one of the highest silhouette. There are fewer where
            there are not so many different documents.
        seed: Of k-means; the paper's is 42.

    Raises:
        ValueError: k is less than 1.
    """
    if k is not None and k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    whole = documents.means.any(axis=1)
    kept: list[int] = np.flatnonzero(whole).tolist()
    vectors = documents.means[kept].astype(np.float64)
    tried: tuple[Tried, ...] = ()
    if k is None:
        k, tried = _choose(vectors, seed)
    clusters, centroids = _cluster(vectors, k, seed)
    labels = [documents.labels[place] for place in kept]
    weights = [documents.chunks[place] for place in kept]
    return Discovery(
        scopes=_describe(documents, kept, clusters, vectors @ centroids.T),
        tried=tried,
        left_out=tuple(documents.ids[place] for place in np.flatnonzero(~whole)),
        purity=purity(labels, clusters, weights),
        document_purity=purity(labels, clusters),
        nmi=nmi(labels, clusters),
        seed=seed,
    )


def purity(labels: Labels, clusters: Labels, weights: Sequence[int] | None = None) -> float:
    """Return the share of items whose label is the most frequent one of their cluster.

    (1/N) sum over clusters of the largest overlap with a label: Manning, Raghavan and Schütze,
    Introduction to Information Retrieval, equation 16.1. 1 for no items.

    Args:
        labels: True classes, (n,).
        clusters: Of each item, (n,).
        weights: What each item counts, such as a document's chunks; None counts each once.
    """
    overlap: Counter[tuple[object, object]] = Counter()
    for label, cluster, weight in zip(
        labels, clusters, weights or itertools.repeat(1, len(labels)), strict=True
    ):
        overlap[cluster, label] += weight
    largest: dict[object, int] = {}
    for (cluster, _), count in overlap.items():
        largest[cluster] = max(count, largest.get(cluster, 0))
    total = sum(overlap.values())
    return sum(largest.values()) / total if total else 1.0


def nmi(labels: Labels, clusters: Labels) -> float:
    """Return the normalised mutual information, in [0, 1].

    2 I / (H + H): Manning, Raghavan and Schütze, equation 16.2, as in scikit-learn, which divides
    by the mean of both entropies. 1 where both have one class only; 0 where one of them has.
    """
    from sklearn import metrics

    if not len(labels):
        return 1.0
    return float(metrics.normalized_mutual_info_score(labels, clusters))


def class_tfidf(counts: Sequence[Mapping[str, int]]) -> list[dict[str, float]]:
    """Return how much each term tells of each class: sqrt(f) log(1 + A / F).

    f is the term's share of the class's terms, F its frequency in all classes, A the mean number of
    terms a class: class-based TF-IDF (Grootendorst 2022, "BERTopic", section 3.3), with the root
    that BERTopic calls `reduce_frequent_words`: words that all classes use often tell little.

    Args:
        counts: Frequencies of the terms in each class.
    """
    totals = [sum(count.values()) for count in counts]
    mean = sum(totals) / max(len(counts), 1)
    overall: Counter[str] = Counter()
    for count in counts:
        overall.update(count)
    return [
        {
            term: math.sqrt(n / total) * math.log(1 + mean / overall[term])
            for term, n in count.items()
        }
        for count, total in zip(counts, totals, strict=True)
    ]


def stop_words() -> list[str]:
    """Return the words that say nothing of what a document is about."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return sorted(ENGLISH_STOP_WORDS - _TELLING)


def scope_names(terms: Sequence[Sequence[str]], otherwise: str = "scope") -> list[str]:
    """Return a name for each scope, made of the words of its first terms; no two are the same.

    Args:
        terms: Of each scope, the most telling first.
        otherwise: What one without terms is called, with a number.
    """
    names: list[str] = []
    for number, found in enumerate(terms, start=1):
        words = _distinct_words(found)
        sizes = range(min(NAME_WORDS, len(words)), len(words) + 1)
        options = ("-".join(words[:size]) for size in sizes if size)
        numbered = (
            f"{'-'.join(words[:NAME_WORDS]) or otherwise}-{n}" for n in itertools.count(number)
        )
        names.append(next(name for name in itertools.chain(options, numbered) if name not in names))
    return names


def _choose(vectors: NDArray[np.float64], seed: int) -> tuple[int, tuple[Tried, ...]]:
    """Return the number of scopes with the highest silhouette, the smallest of equal ones."""
    n = len(np.unique(vectors.round(6), axis=0))
    largest = min(LARGEST_K, int(2 * math.sqrt(n)), n - 1)
    if largest < 2:
        return 1, ()
    numbers = sorted({round(float(k)) for k in np.geomspace(2, largest, TRIED)})
    tried = tuple(
        Tried(k, _silhouette(vectors, _cluster(vectors, k, seed)[0], seed)) for k in numbers
    )
    return max(tried, key=lambda one: (one.silhouette, -one.k)).k, tried


def _silhouette(vectors: NDArray[np.float64], clusters: NDArray[np.int64], seed: int) -> float:
    from sklearn import metrics

    drawn = np.random.default_rng(seed).permutation(len(vectors))[:COMPARED]
    if not 1 < len(np.unique(clusters[drawn])) < len(drawn):
        return -1.0
    return float(metrics.silhouette_score(vectors[drawn], clusters[drawn], metric="cosine"))


def _cluster(
    vectors: NDArray[np.float64], k: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each document's cluster, (n,), the largest being 0, and unit centroids (k, d)."""
    from sklearn import cluster
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    if not len(vectors):
        return np.zeros(0, np.int64), np.zeros((0, vectors.shape[1]))
    make: Any = cluster.KMeans  # its stubs know no number of starts
    model = make(min(k, len(vectors)), n_init=STARTS, random_state=seed)
    # In threads, sums differ in their last digits from run to run.
    with threadpool_limits(1), warnings.catch_warnings():
        # Fewer different documents than k: there are fewer scopes then, which is what we say.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = np.asarray(model.fit_predict(vectors), np.int64)
    sizes = np.bincount(found)
    # The largest first; of equal ones the one that has the first document.
    order: list[int] = sorted(
        set(found.tolist()), key=lambda c: (-sizes[c], found.tolist().index(c))
    )
    clusters = np.array([order.index(c) for c in found.tolist()], np.int64)
    centroids = np.stack([vectors[clusters == c].mean(axis=0) for c in range(len(order))])
    return clusters, centroids / np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), 1e-12)


def _describe(
    documents: DocumentMeans,
    kept: Sequence[int],
    clusters: NDArray[np.int64],
    cosines: NDArray[np.float64],
) -> tuple[DiscoveredScope, ...]:
    members: list[list[int]] = [
        np.flatnonzero(clusters == c).tolist() for c in range(cosines.shape[1])
    ]
    ids = [tuple(documents.ids[kept[row]] for row in rows) for rows in members]
    terms = _terms(documents.texts, ids)
    return tuple(
        DiscoveredScope(
            name=name,
            documents=ids[c],
            chunks=sum(documents.chunks[kept[row]] for row in rows),
            terms=tuple(terms[c][:TERMS_SHOWN]),
            example=ids[c][int(np.argmax(cosines[rows, c].round(6)))],
        )
        for c, (rows, name) in enumerate(zip(members, scope_names(terms), strict=True))
    )


def _terms(
    texts: Iterable[tuple[str, str]], scopes: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the terms that tell each scope from the others, the most telling first."""
    places = {id: place for place, ids in enumerate(scopes) for id in ids}
    counts: list[Counter[str]] = [Counter() for _ in scopes]
    users: list[Counter[str]] = [Counter() for _ in scopes]
    for id, found in _document_terms(texts):
        if (place := places.get(id)) is not None:
            counts[place].update(found)
            users[place].update(found.keys())
    ordered: list[tuple[str, ...]] = []
    for score, used, ids in zip(class_tfidf(counts), users, scopes, strict=True):
        needed = max(min(2, len(ids)), COMMON * len(ids))
        terms = sorted(score, key=lambda term: (used[term] < needed, -score[term], term))
        ordered.append(tuple(terms[:TERMS_KEPT]))
    return ordered


def _document_terms(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield each document's words and pairs of words, without stop words, numbers and addresses."""
    from sklearn.feature_extraction.text import CountVectorizer

    make: Any = CountVectorizer  # its stubs know no pair of numbers
    vectorizer = make(
        stop_words=stop_words(),
        ngram_range=(1, 2),
        token_pattern=r"\b[^\W\d_]{3,}\b",
    )
    terms_of: Callable[[str], list[str]] = vectorizer.build_analyzer()
    for id, chunks in itertools.groupby(texts, key=lambda pair: pair[0]):
        found = Counter(term for _, text in chunks for term in terms_of(_ADDRESS.sub(" ", text)))
        yield id, dict(found.most_common(TERMS_PER_DOCUMENT))


def _distinct_words(terms: Sequence[str]) -> list[str]:
    """Return the words of terms, each once: "policies" says no more than "policy"."""
    words: dict[str, str] = {}
    for term in terms:
        for word in term.split():
            words.setdefault(_stem(word), word)
    return list(words.values())


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|y|es|s|e)$", "", word) or word
