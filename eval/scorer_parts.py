"""The parts of `milepost eval scorer`: what is compared with what, each with results of its own."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from eval import scorer
from eval.results import Results, Setting
from eval.scorer import Outcome
from eval.scorer_folds import Fold, Places, joined
from eval.scorer_run import Material, kmeans_of, lists_of, lists_of_examples, results_of, silent
from graph.model import Filter
from graph.ports import Embedder, Store, Topics
from ingestion.topic_fit import FitOptions, find
from ingestion.topic_models import load
from router.training_data import Example
from router.training_lists import Lists

COMPARED = ("logistic", "blend_no_topics", "blend")
MOST_ELSEWHERE = 100
"""Questions of each other set, so that a large one does not decide alone what is learned."""
LEAST_CURVE = 40
MAIN = ("compass", "no_topics", "products")
"""Networks that are trained on large sets, too."""


def compare(
    material: Material,
    topics: Topics,
    late: Callable[[str, Sequence[str]], scorer.Floats] | None,
    spent: Mapping[str, Setting],
    *,
    everything: bool,
) -> Results:
    """Compare the scorer with what needs no training, and with a logistic regression.

    Args:
        material: Questions.
        topics: Of the collection.
        late: Scores passages by late interaction; None leaves it out.
        spent: Of `eval.scorer_latency`, to be kept with the results.
        everything: Whether to train the blend without topics as well.
    """
    scored = material.scored
    lists = lists_of(material, topics)
    outcomes = {name: scorer.baseline(name, list(scored.values())) for name in scorer.BASELINES}
    if late is not None:
        outcomes["late_interaction"] = scorer.late_interaction(list(scored.values()), late)
    folds = material.folds(material.options.folds)
    for name in COMPARED if everything else ("logistic", "blend"):
        outcomes[name] = _trained(name, lists, folds, material, topics)
    return results_of(
        material, outcomes, {"folds": len(folds), "topics": len(topics.centroids), **spent}
    )


def elsewhere(material: Material, others: Sequence[Material], topics: int) -> Results:
    """Train the blend on other sets alone."""
    part = lists_of(material, kmeans_of(material, topics))
    taught = [lists_of(_first(one, MOST_ELSEWHERE), kmeans_of(one, topics)) for one in others]
    lists = joined([part, *taught])
    tested = np.arange(len(material.asked))
    fold = (np.arange(len(tested), len(lists.documents)), tested)
    found = _trained("blend", lists, [fold], material, kmeans_of(material, topics))
    return results_of(material, {"convex": _convex(material), "blend, elsewhere": found}, {})


def ablations(material: Material, topics: Topics, *, everything: bool) -> Results:
    """Compare the paper's network with parts of it, and with the blend on the same folds.

    Args:
        material: Questions.
        topics: Of the collection.
        everything: Whether to train all of `scorer.NETWORKS`, or `MAIN` alone.
    """
    lists = lists_of(material, topics)
    folds = material.folds(material.options.network_folds)
    outcomes = {"convex": _convex(material)}
    for name in (*(scorer.NETWORKS if everything else MAIN), "blend"):
        outcomes[name] = _trained(name, lists, folds, material, topics)
    return results_of(material, outcomes, {"folds": len(folds), "topics": len(topics.centroids)})


def topic_counts(material: Material, counts: Sequence[int], systems: Mapping[str, int]) -> Results:
    """Compare numbers of topics.

    Args:
        material: Questions.
        counts: K.
        systems: Each with the highest K that it is trained with.
    """
    outcomes = {"convex": _convex(material)}
    folds = material.folds(material.options.network_folds)
    for k in counts:
        topics = kmeans_of(material, k)
        lists = lists_of(material, topics)
        for name, most in systems.items():
            if k <= most:
                outcomes[f"{name}, K = {k}"] = _trained(name, lists, folds, material, topics)
    return results_of(material, outcomes, {"folds": len(folds)})


def topic_models(
    material: Material,
    store: Store,
    embedder: Embedder,
    models: Sequence[str],
    k: int,
    systems: Sequence[str],
) -> Results:
    """Compare what finds the topics."""
    outcomes = {"convex": _convex(material)}
    folds = material.folds(material.options.network_folds)
    for model in models:
        options = FitOptions(model, k)
        where = Filter(material.collection)
        found = find(store, embedder.fingerprint, where, options, lambda _: nullcontext(silent))
        topics = load(found.model, embedder.fingerprint)
        lists = lists_of(material, topics)
        for name in systems:
            outcomes[f"{name}, {model}"] = _trained(name, lists, folds, material, topics)
    return results_of(material, outcomes, {"folds": len(folds), "topics": k})


def learning_curve(material: Material, topics: Topics) -> Results:
    """Train the blend on ever more questions."""
    lists = lists_of(material, topics)
    folds = material.folds(material.options.network_folds)
    most = max(len(training) for training, _ in folds)
    counts = [most]
    while counts[-1] // 2 >= LEAST_CURVE:
        counts.append(counts[-1] // 2)
    outcomes = {"convex": _convex(material)}
    for count in counts[::-1]:
        shorter = [(_drawn(training, count), tested) for training, tested in folds]
        outcomes[f"blend, n = {count}"] = _trained("blend", lists, shorter, material, topics)
    return results_of(material, outcomes, {"folds": len(folds)})


def teachers(
    material: Material, taught: Mapping[str, Sequence[Example]], topics: Topics
) -> Results:
    """Train the blend on what each teacher labelled, instead of gold.

    Args:
        material: Questions to score.
        taught: By teacher, of the same collection, with candidates.
        topics: Of the collection.
    """
    part = lists_of(material, topics)
    tested = np.arange(len(material.asked))
    outcomes = {"convex": _convex(material)}
    for teacher, examples in taught.items():
        lists = joined([part, lists_of_examples(examples, topics)])
        fold = (np.arange(len(tested), len(lists.documents)), tested)
        outcomes[f"blend, {teacher}"] = _trained("blend", lists, [fold], material, topics)
    return results_of(material, outcomes, {name: len(one) for name, one in taught.items()})


def _trained(
    name: str, lists: Lists, folds: Sequence[Fold], material: Material, topics: Topics
) -> Outcome:
    seeds = material.options.seeds
    return scorer.trained(name, lists, folds, material.scored, topics, seeds)


def _convex(material: Material) -> Outcome:
    return scorer.baseline("convex", list(material.scored.values()))


def _first(material: Material, most: int) -> Material:
    places = _drawn(np.arange(len(material.asked)), most)
    return replace(material, asked=tuple(material.asked[int(place)] for place in places))


def _drawn(places: Places, most: int) -> Places:
    return np.sort(np.random.default_rng(0).permutation(places)[:most])
