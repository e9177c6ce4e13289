"""Finds the topics of a collection, names and judges them, and writes them with each chunk's theta.

Nothing is written before the topics are found. They are then kept first and the chunks' theta after
them, batch by batch: a run that ends in between leaves chunks whose theta is told to be older, and
`update` goes on with those.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graph.errors import UsageError
from graph.model import Filter, TopicModel, Vectors
from graph.ports import Store, Topics
from ingestion.topic_etm import fit_etm
from ingestion.topic_external import found_elsewhere
from ingestion.topic_fastopic import fit_fastopic
from ingestion.topic_found import Corpus, Found
from ingestion.topic_kmeans import (
    TEMPERATURES,
    USUAL_TEMPERATURE,
    Count,
    choose_temperature,
    fit_centroids,
    softmax_theta,
)
from ingestion.topic_models import EncoderTopics, load, pack
from ingestion.topic_quality import Presence, Quality, judge
from ingestion.topic_terms import count_words, telling_terms, topic_labels

MODELS = ("kmeans", "fastopic", "etm", "external")
FITTED_ON = 200_000
"""Chunks that topics are found in, at most; of more, so many are drawn. All get their theta."""
JUDGED = 5_000
"""Chunks whose spread over topics is told."""

Stage = Callable[[str], AbstractContextManager[Count]]
"""Shows what is being done, and how much of it."""


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How to find topics."""

    model: str = "kmeans"
    k: int = 100
    temperature: float | None = None
    """Above 0; None chooses it by the words of chunks held out."""
    seed: int = 0
    file: Path | None = None
    """Of the topics, for `external`."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What was found and written."""

    model: TopicModel
    quality: Quality
    fitted_on: int
    """Chunks that topics were found in."""
    written: int
    """Chunks that have their theta now."""


def fit(store: Store, embedder: str, where: Filter, options: FitOptions, stage: Stage) -> Fit:
    """Find topics and write them, with the theta of all chunks of the collection.

    Args:
        store: The graph.
        embedder: Fingerprint of the embedder that made the vectors.
        where: Topics are found in the chunks of these documents, and their words describe them.
        options: How.
        stage: Told what happens.

    Raises:
        UsageError: There are no chunks, or fewer than topics; the file does not fit.
        ConfigurationError: A package is missing.
    """
    found = find(store, embedder, where, options, stage)
    store.write_topics(found.model)
    written = update(store, found.model, embedder, stage, given=found.theta)
    return Fit(found.model, found.quality, found.fitted_on, written)


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Topics that were found and named, but are not in the graph."""

    model: TopicModel
    quality: Quality
    fitted_on: int
    theta: Mapping[str, NDArray[np.float32]]
    """By chunk id, where it is given rather than computed."""


def find(
    store: Store, embedder: str, where: Filter, options: FitOptions, stage: Stage
) -> Unwritten:
    """Find topics, name and judge them; nothing is written. Arguments and errors as of `fit`."""
    with stage("reading chunks") as count:
        corpus = read_corpus(store, where, options.seed, count)
    if options.model != "external" and len(corpus.chunk_ids) < options.k:
        raise UsageError(
            f"Collection {where.collection!r} has {len(corpus.chunk_ids):,} chunks, fewer than "
            f"{options.k:,} topics. Choose a smaller -k; a tenth of the chunks at most is sensible."
        )
    with stage("finding topics") as count:
        found = _find(corpus, options, count)
    with stage("naming topics") as count:
        model, quality = _describe(corpus, found, where.collection, embedder, options)
        count(1, 1)
    return Unwritten(model, quality, len(corpus.chunk_ids), found.theta)


def update(
    store: Store,
    model: TopicModel,
    embedder: str,
    stage: Stage,
    *,
    given: Mapping[str, NDArray[np.float32]] | None = None,
) -> int:
    """Write theta of the chunks that have none of this model; return how many there were.

    Args:
        store: The graph.
        model: The topics of the collection.
        embedder: Fingerprint of the embedder that made the vectors.
        stage: Told what happens.
        given: Theta by chunk id, which is not computed then.

    Raises:
        TopicsMismatch: The topics were made with another embedder.
    """
    topics = load(model, embedder)
    total, current = store.count_theta(model.collection, model.fingerprint)
    written = seen = 0
    with stage("writing topics of chunks") as count:
        for batch in store.chunks(model.collection, with_topics=current > 0):
            marks = batch.topics_fingerprints or (None,) * len(batch.chunks)
            rows = [place for place, mark in enumerate(marks) if mark != model.fingerprint]
            if rows:
                ids = [batch.chunks[row].id for row in rows]
                texts = [batch.chunks[row].text for row in rows]
                theta = topics.theta(batch.vectors[rows], texts)
                for place, id in enumerate(ids):
                    if given and id in given:
                        theta[place] = given[id]
                written += store.write_theta(model.collection, ids, theta, model.fingerprint)
            seen += len(batch.chunks)
            count(seen, total)
    return written


def read_corpus(store: Store, where: Filter, seed: int, count: Count) -> Corpus:
    """Read chunks with their vectors and words.

    Args:
        store: The graph.
        where: Of these documents.
        seed: Of the sample, where there are more chunks than topics are found in.
        count: Told the chunks.

    Raises:
        UsageError: There are none.
    """
    documents = store.list_documents(where)
    total = sum(chunks for _, chunks in documents)
    if not total:
        raise UsageError(
            f"Collection {where.collection!r} holds no chunks that you may see. Ingest some with "
            "`milepost ingest FOLDER`, or check --collection and --audience."
        )
    visible = frozenset(document.id for document, _ in documents)
    drawn = np.zeros(total, bool)
    drawn[np.random.default_rng(seed).permutation(total)[:FITTED_ON]] = True
    ids: list[str] = []
    vectors: list[Vectors] = []

    def texts() -> Iterator[str]:
        seen = 0
        for batch in store.chunks(where.collection):
            for chunk, vector in zip(batch.chunks, batch.vectors, strict=True):
                if chunk.document_id in visible:
                    # A document that came since the count is seen to the end, like the others.
                    if seen >= total or drawn[seen]:
                        ids.append(chunk.id)
                        vectors.append(vector)
                        yield chunk.text
                    seen += 1
            count(min(seen, total), total)

    vocabulary, words = count_words(texts(), min(total, FITTED_ON))
    return Corpus(tuple(ids), np.stack(vectors), words, vocabulary)


def _find(corpus: Corpus, options: FitOptions, count: Count) -> Found:
    k, temperature, seed = options.k, options.temperature, options.seed
    match options.model:
        case "kmeans":
            centroids = fit_centroids(corpus.vectors, k, seed, count)
            if temperature is None:
                temperature = choose_temperature(
                    lambda vectors, t: softmax_theta(vectors, centroids, t),
                    TEMPERATURES,
                    corpus.vectors,
                    corpus.words,
                    seed,
                )
            return Found(centroids, temperature or USUAL_TEMPERATURE)
        case "fastopic":
            return fit_fastopic(corpus, k, temperature, seed, count)
        case "etm" if temperature is not None:
            raise UsageError("ETM has no temperature: leave --temperature out.")
        case "etm":
            return fit_etm(corpus, k, seed, count)
        case "external" if options.file is not None:
            return found_elsewhere(options.file, corpus, temperature)
        case "external":
            raise UsageError("Topics that were made elsewhere need --file NAME.npz.")
        case _:
            raise UsageError(
                f"There is no topic model {options.model!r}. There are {', '.join(MODELS)}."
            )


def _describe(
    corpus: Corpus, found: Found, collection: str, embedder: str, options: FitOptions
) -> tuple[TopicModel, Quality]:
    """Return the model as it is kept, and how good it is."""
    k = len(found.centroids)
    model = TopicModel(
        collection=collection,
        name=options.model,
        fingerprint=fingerprint(found, options.model, embedder),
        embedder=embedder,
        centroids=found.centroids,
        temperature=found.temperature,
        terms=((),) * k,
        labels=("",) * k,
        fitted_at=datetime.now(UTC).isoformat(timespec="seconds"),
        arrays=pack(**found.arrays) if found.arrays else b"",
    )
    nearest, sample = _assigned(load(model, embedder), corpus, found)
    terms = found.terms or telling_terms(nearest, k, corpus.words, corpus.vocabulary)
    places = {word: place for place, word in enumerate(corpus.vocabulary.words)}
    quality = judge(terms, sample, Presence(corpus.words.tocsc(), places))
    summary = {
        "chunks": len(corpus.chunk_ids),
        "seed": options.seed,
        "source": found.source,
        "quality": asdict(quality),
    }
    labels = found.labels or topic_labels(terms)
    return replace(model, terms=terms, labels=labels, summary=json.dumps(summary)), quality


def fingerprint(found: Found, name: str, embedder: str) -> str:
    """Return a digest of all that theta depends on: not of the words that describe the topics."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(f"{name}\0{embedder}\0{found.temperature!r}".encode())
    digest.update(np.ascontiguousarray(found.centroids).tobytes())
    for key, array in sorted(found.arrays.items()):
        digest.update(f"{key}\0{array.dtype}\0{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    for id, theta in sorted(found.theta.items()):
        digest.update(id.encode() + theta.tobytes())
    return digest.hexdigest()


def _assigned(
    topics: Topics, corpus: Corpus, found: Found
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return each chunk's strongest topic, (n,), and theta of the first few, (<= JUDGED, K)."""
    nearest: list[NDArray[np.int64]] = []
    sample: list[Vectors] = []
    for start in range(0, len(corpus.chunk_ids), JUDGED):
        part = slice(start, start + JUDGED)
        if isinstance(topics, EncoderTopics):
            theta = topics.theta_of_words(corpus.words[part])
        else:
            theta = topics.theta(corpus.vectors[part], ())
        for place, id in enumerate(corpus.chunk_ids[part]):
            if id in found.theta:
                theta[place] = found.theta[id]
        nearest.append(theta.argmax(axis=1))
        sample = sample or [theta]
    return np.concatenate(nearest), sample[0]
