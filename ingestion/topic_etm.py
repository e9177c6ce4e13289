"""Topics by ETM, from the package `topmost` (extra `topics`).

Dieng, Ruiz and Blei, "Topic modeling in embedding spaces" (TACL 2020). The network and its loss are
the package's; the loop is ours, so that it is seeded, tells its progress and reads the counts of
words batch by batch. As in the paper's variant with word vectors that are given, only the topics'
are learned; a word's vector is the mean of the chunks' that use it, less what all words share. ETM
gives theta by words alone: its centroids in the embedder's space are the means of the chunks'
vectors, weighted by theta.
"""

import importlib
from typing import Any

import numpy as np

from graph.errors import ConfigurationError, UsageError
from graph.model import Vectors
from ingestion.topic_found import Corpus, Found, weighted_centroids
from ingestion.topic_kmeans import Count, unit_rows
from ingestion.topic_models import EncoderTopics
from ingestion.topic_terms import top_words
from ingestion.topic_torch import seeded_thread

STEPS = 1_500
BATCH = 200
LEARNING_RATE = 0.002
"""The package's, as the batch is."""
UNITS = 200
"""Of the encoder's hidden layers; the package's 800 take four times the room in the graph."""


def fit_etm(corpus: Corpus, k: int, seed: int, count: Count) -> Found:
    """Fit the package's network; the same chunks and seed give the same on one machine.

    Raises:
        ConfigurationError: The package is not installed.
        UsageError: The chunks have no words.
    """
    import torch

    if not corpus.words.sum():
        raise UsageError("The chunks hold no words, and ETM knows words only. Take --model kmeans.")
    drawn = np.random.default_rng(seed)
    with seeded_thread(seed):
        network: Any = _package().ETM(
            corpus.words.shape[1],
            num_topics=k,
            en_units=UNITS,
            pretrained_WE=word_vectors(corpus),
        )
        optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
        # Without words there is nothing to learn from, and the package divides by their number.
        some = np.flatnonzero(np.asarray(corpus.words.sum(axis=1)).ravel())
        network.train()
        for step in range(STEPS):
            count(step, STEPS)
            rows = np.sort(drawn.choice(some, min(BATCH, len(some)), replace=False))
            loss = network(torch.from_numpy(corpus.words[rows].toarray()))["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        count(STEPS, STEPS)
        beta: Vectors = network.get_beta().detach().numpy()
    terms = top_words(beta, corpus.vocabulary)
    layers = [network.encoder1[0], network.encoder1[2], network.fc21]
    pairs = tuple((layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in layers)
    none = np.zeros((k, 1), np.float32)
    fitted = EncoderTopics("etm", "", none, terms, corpus.vocabulary, pairs)
    theta = fitted.theta_of_words(corpus.words)
    arrays = {f"weight{n}": weight for n, (weight, _) in enumerate(pairs)}
    arrays |= {f"bias{n}": bias for n, (_, bias) in enumerate(pairs)}
    arrays["vocabulary"] = np.array(corpus.vocabulary.words)
    return Found(weighted_centroids(theta, corpus.vectors), 1.0, terms, arrays)


def word_vectors(corpus: Corpus) -> Vectors:
    """Return a unit vector for each word, (V, d): what sets apart the chunks that use it."""
    means = unit_rows(np.asarray((corpus.words > 0).astype(np.float32).T @ corpus.vectors))
    return unit_rows(means - means.mean(axis=0))


def _package() -> Any:
    try:
        return importlib.import_module("topmost")
    except ImportError as error:
        raise ConfigurationError(
            "The topic model etm needs a package: pip install 'milepost[topics]', or take "
            "--model kmeans."
        ) from error
