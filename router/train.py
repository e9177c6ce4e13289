"""Trains routers from questions whose scope is known, or from what the documents themselves say.

R1 and R2 of the dilution paper, appendix A6.1: class-balanced logistic regression over TF-IDF of
words and pairs, and over the question's embedding, judged by five-fold cross-validation. The
probabilities are calibrated by temperature on the folds that were held out (Guo et al., ICML 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import UsageError
from graph.model import Vectors
from router.learned import LinearRouter, TfidfRouter, terms

FOLDS = 5
MAX_ITERATIONS = 4000
"""Appendix A10 of the dilution paper."""
MAX_WORDS = 20_000


@dataclass(frozen=True, slots=True)
class Report:
    """How well a router did on examples that it was not trained on."""

    examples: int
    scopes: int
    accuracy: float | None
    """Share of examples whose scope came first; None where a scope has too few to hold any out."""
    accuracy_top2: float | None
    temperature: float


def train_probe(
    vectors: Vectors, scopes: Sequence[str], seed: int = 0
) -> tuple[LinearRouter, Report]:
    """Train R2, the probe on the question's embedding.

    Args:
        vectors: Shape (n, d), of questions, titles or documents.
        scopes: Of each, (n,).
        seed: Of the folds.

    Raises:
        UsageError: There are fewer than two scopes.
    """
    return _train(vectors, _labels(scopes), seed)


def train_tfidf(
    texts: Sequence[str], scopes: Sequence[str], seed: int = 0
) -> tuple[TfidfRouter, Report]:
    """Train R1 on words and pairs of words.

    Raises:
        UsageError: There are fewer than two scopes, or no word in the texts.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    labels = _labels(scopes)
    make: Any = TfidfVectorizer  # its stubs know no callable as analyzer
    vectorizer = make(analyzer=terms, max_features=MAX_WORDS)
    try:
        features: Any = vectorizer.fit_transform(texts)
    except ValueError as error:
        raise UsageError("The examples hold no words to learn from. Give others.") from error
    linear, report = _train(features, labels, seed)
    vocabulary: dict[str, int] = vectorizer.vocabulary_
    places = {word: int(place) for word, place in vocabulary.items()}
    idf = np.asarray(vectorizer.idf_, dtype=np.float32)
    return TfidfRouter(linear, places, idf), report


def temperature(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the temperature at which softmax(scores / T) has the least log loss.

    Args:
        scores: Shape (n, scopes).
        labels: Shape (n,), places of the right scopes.
    """
    import scipy.optimize

    minimize: Any = getattr(scipy.optimize, "minimize_scalar")  # noqa: B009  # it has no stubs

    def loss(log_temperature: float) -> float:
        scaled = scores / np.exp(log_temperature)
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        right = scaled[np.arange(len(labels)), labels]
        return float((np.log(np.exp(scaled).sum(axis=1)) - right).mean())

    return float(np.exp(minimize(loss, bounds=(-4, 4), method="bounded").x))


def _train(features: Any, labels: NDArray[np.str_], seed: int) -> tuple[LinearRouter, Report]:
    names, places = np.unique(labels, return_inverse=True)
    scores = _held_out_scores(features, places, seed)
    sharpness = temperature(scores, places) if scores is not None else 1.0
    weights, bias = _all_classes(_regression().fit(features, places))
    router = LinearRouter(tuple(names.tolist()), weights, bias, sharpness)
    top1 = top2 = None
    if scores is not None:
        order = np.argsort(-scores, axis=1)
        top1 = float((order[:, 0] == places).mean())
        top2 = float((order[:, :2] == places[:, None]).any(axis=1).mean())
    return router, Report(len(places), len(names), top1, top2, sharpness)


def _held_out_scores(
    features: Any, places: NDArray[np.int64], seed: int
) -> NDArray[np.float64] | None:
    from sklearn.model_selection import StratifiedKFold

    sizes: list[int] = np.bincount(places).tolist()
    folds = min(FOLDS, *sizes)
    if folds < 2:
        return None
    scores = np.zeros((len(places), int(places.max()) + 1))
    split: Any = StratifiedKFold(folds, shuffle=True, random_state=seed)
    for train, test in split.split(np.zeros(len(places)), places):
        weights, bias = _all_classes(_regression().fit(features[train], places[train]))
        scores[test] = features[test] @ weights.T + bias
    return scores


def _regression() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(class_weight="balanced", max_iter=MAX_ITERATIONS)


def _all_classes(fitted: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return a row for each class; scikit-learn keeps one row for two classes."""
    weights, bias = np.asarray(fitted.coef_), np.asarray(fitted.intercept_)
    if len(weights) == 1:
        weights, bias = np.vstack([0 * weights, weights]), np.concatenate([0 * bias, bias])
    return weights.astype(np.float32), bias.astype(np.float32)


def _labels(scopes: Sequence[str]) -> NDArray[np.str_]:
    if len(set(scopes)) < 2:
        raise UsageError(
            "There is nothing to route between: all examples are of one scope. Give examples of at "
            "least two, or make scopes with `milepost scopes discover --apply`."
        )
    return np.array(scopes)
