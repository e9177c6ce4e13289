"""Topics by FASTopic, from the package `fastopic` (extra `topics`).

Wu et al., "FASTopic: Pretrained Transformer is a Fast, Adaptive, Stable, and Transferable Topic
Model" (NeurIPS 2024). Topics are points in the embedder's space, learned by optimal transport
between chunks and topics and between topics and words. The network, its loss and its learning rate
are the package's; the loop is ours, as the package's needs all chunks in one batch or a progress
bar of its own, and its preprocessing other words than the rest of Milepost counts.
"""

import importlib
from typing import Any

import numpy as np

from graph.errors import ConfigurationError, UsageError
from graph.model import Vectors
from ingestion.topic_found import Corpus, Found
from ingestion.topic_kmeans import Count, choose_temperature, unit_rows
from ingestion.topic_models import closeness
from ingestion.topic_terms import top_words
from ingestion.topic_torch import seeded_thread

STEPS = 200
"""As many as the package's default for a collection that is one batch."""
BATCH = 2_000
"""Chunks in a step."""
LEARNING_RATE = 0.002
USUAL_TEMPERATURE = 1.0
"""The package's `theta_temp`."""
TEMPERATURES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def fit_fastopic(
    corpus: Corpus, k: int, temperature: float | None, seed: int, count: Count
) -> Found:
    """Fit the package's network; the same chunks and seed give the same on one machine.

    Raises:
        ConfigurationError: The package is not installed.
        UsageError: The chunks have no words.
    """
    import torch

    if not corpus.words.sum():
        raise UsageError("The chunks hold no words for FASTopic to learn. Take --model kmeans.")
    network: Any = (
        _package().FASTopic(k, preprocess=object(), doc_embed_model=object(), device="cpu").model
    )
    drawn = np.random.default_rng(seed)
    with seeded_thread(seed):
        network.init(corpus.words.shape[1], corpus.vectors.shape[1])
        optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
        for step in range(STEPS):
            count(step, STEPS)
            rows = drawn.permutation(len(corpus.vectors))[:BATCH]
            words = torch.from_numpy(corpus.words[rows].toarray())
            loss = network(words, torch.from_numpy(corpus.vectors[rows]))["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        count(STEPS, STEPS)
        beta = network.get_beta().detach().numpy()
    topics: Vectors = network.topic_embeddings.detach().numpy()
    if temperature is None:
        temperature = _chosen(corpus, topics, seed)
    arrays = {"topics": topics, "log_sums": log_sums(corpus.vectors, topics, temperature)}
    return Found(unit_rows(topics), temperature, top_words(beta, corpus.vocabulary), arrays)


def log_sums(vectors: Vectors, topics: Vectors, temperature: float) -> Vectors:
    """Return log sum over the chunks of exp(-|chunk - topic|² / temperature), (K,)."""
    scores = closeness(vectors, topics, temperature).astype(np.float64)
    highest = scores.max(axis=0)
    return (highest + np.log(np.exp(scores - highest).sum(axis=0))).astype(np.float32)


def _chosen(corpus: Corpus, topics: Vectors, seed: int) -> float:
    def theta_at(vectors: Vectors, temperature: float) -> Vectors:
        sums = log_sums(corpus.vectors, topics, temperature)
        scores = closeness(vectors, topics, temperature) - sums
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    found = choose_temperature(theta_at, TEMPERATURES, corpus.vectors, corpus.words, seed)
    return USUAL_TEMPERATURE if found is None else found


def _package() -> Any:
    try:
        return importlib.import_module("fastopic")
    except ImportError as error:
        raise ConfigurationError(
            "The topic model fastopic needs a package: pip install 'milepost[topics]', or take "
            "--model kmeans."
        ) from error
