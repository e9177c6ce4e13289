from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eval.collection import EvaluationSet, Gold, Question, SourceDocument
from eval.load import Loader, load
from eval.metrics import means
from eval.results import Results
from eval.scorer import BASELINES, NETWORKS, TRAINED, late_interaction
from eval.scorer_folds import folds_by_document, joined, picked
from eval.scorer_latency import latency
from eval.scorer_parts import compare, elsewhere, learning_curve, topic_counts, topic_models
from eval.scorer_report import curves, draw, markdown
from eval.scorer_run import BEST_ORDER, Material, ScorerOptions, gather, kmeans_of, lists_of
from graph.errors import UsageError
from router.compass import CompassConfig
from tests.fakes import HashingEmbedder, MemoryStore

EMBEDDER = HashingEmbedder()
THINGS = ("bridge", "culvert", "tunnel", "road", "signal", "fence", "drain", "kerb", "sign", "rail")
OPTIONS = ScorerOptions(topics=4, folds=2, seeds=(0,))


def gold_of(document: str) -> Gold:
    return Gold.model_validate({"doc": document})


def toy() -> EvaluationSet:
    documents = tuple(
        SourceDocument(
            id=f"doc{n}",
            text=f"The {THINGS[n % 10]} of district {n} is inspected by office {n * 3}.",
            set="toy",
        )
        for n in range(100)
    )
    questions = tuple(
        Question(
            id=f"q{n}",
            question=f"Who inspects the {THINGS[n % 10]} of district {n}?",
            gold=(gold_of(f"doc{n}"),),
            set="toy",
        )
        for n in range(100)
    )
    return EvaluationSet("toy", documents, questions)


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    store = MemoryStore()
    load(toy(), "eval-toy", Loader(store, EMBEDDER, None))
    return store


@pytest.fixture(scope="module")
def material(store: MemoryStore) -> Material:
    return gather(toy(), store, EMBEDDER, OPTIONS)


@pytest.fixture(scope="module")
def compared(material: Material) -> Results:
    topics = kmeans_of(material, 4)
    return compare(material, topics, None, {"LLM tokens": 0}, everything=False)


def test_every_system_is_scored_on_the_questions_of_one_half(
    material: Material, compared: Results
) -> None:
    asked = {one.question.key for one in material.scored.values()}

    assert list(compared.systems) == [*BASELINES, "logistic", "blend", BEST_ORDER]
    assert all(set(one.scores) == asked for one in compared.systems.values())
    assert set(compared.ceiling) == asked
    assert 0 < len(asked) < len(material.asked)


def test_no_order_of_the_candidates_is_above_the_best_one(compared: Results) -> None:
    best = compared.systems[BEST_ORDER].scores

    for one in compared.systems.values():
        assert all(one.scores[key]["IE@3"] <= best[key]["IE@3"] + 1e-9 for key in best)


def test_folds_test_every_question_once_and_train_on_none_of_its_documents() -> None:
    drawn = np.random.default_rng(0)
    documents = [
        frozenset(f"doc{n}" for n in drawn.integers(30, size=drawn.integers(1, 4)))
        for _ in range(200)
    ]

    folds = folds_by_document(documents, 5)

    assert sorted(np.concatenate([tested for _, tested in folds]).tolist()) == list(range(200))
    for training, tested in folds:
        known = set[str]().union(*(documents[int(place)] for place in tested))
        assert len(training)
        assert all(known.isdisjoint(documents[int(place)]) for place in training)


def test_two_documents_make_two_folds() -> None:
    documents = [frozenset({"a"}), frozenset({"b"}), frozenset({"a"})]

    folds = folds_by_document(documents, 5)

    assert {tuple(tested.tolist()) for _, tested in folds} == {(0, 2), (1,)}


def test_joined_lists_keep_each_question_with_its_candidates(material: Material) -> None:
    lists = lists_of(material, kmeans_of(material, 4))
    shorter = picked(lists, np.arange(3))
    narrow = replace(
        shorter,
        features=shorter.features[:, :2],
        scores=shorter.scores[:, :2],
        grades=shorter.grades[:, :2],
        teacher=shorter.teacher[:, :2],
        present=shorter.present[:, :2],
    )

    both = joined([narrow, lists])

    assert both.documents == narrow.documents + lists.documents
    assert not both.present[:3, 2:].any()
    assert (both.features[3:] == lists.features).all()


def test_late_interaction_orders_the_best_candidates_anew(material: Material) -> None:
    asked = list(material.scored.values())

    def by_office(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        district = question.split()[-1].strip("?")
        return np.array([float(f"district {district} " in text) for text in texts], np.float32)

    assert means(late_interaction(asked, by_office).scores)["IE@1"] == 1


def test_the_learning_curve_ends_with_all_questions(material: Material) -> None:
    found = learning_curve(material, kmeans_of(material, 4))

    (points,) = curves({"curve": found}, "n").values()
    folds = material.folds(OPTIONS.network_folds)
    assert max(points)[0] == max(len(training) for training, _ in folds)


def test_topics_are_compared_up_to_the_highest_that_a_system_is_trained_with(
    material: Material,
) -> None:
    found = topic_counts(material, (4, 8), {"blend": 8, "own_topics": 4})

    assert list(curves({"topics": found}, "K")) == ["toy: blend", "toy: own_topics"]
    assert "own_topics, K = 8" not in found.systems


def test_topic_models_are_compared_and_nothing_is_written(
    material: Material, store: MemoryStore
) -> None:
    found = topic_models(material, store, EMBEDDER, ("kmeans",), 4, ("blend",))

    assert "blend, kmeans" in found.systems
    assert "eval-toy" not in store.topics


def test_a_scorer_learns_from_other_sets(material: Material) -> None:
    found = elsewhere(material, [material], 4)

    assert "blend, elsewhere" in found.systems


def test_the_tables_name_the_best_baseline_and_the_picture_is_drawn(
    compared: Results, tmp_path: Path
) -> None:
    text = markdown({"compare-toy": compared})

    assert "IE@3 over" in text
    assert "| ceiling |" in text
    draw({"compare-toy": compared}, tmp_path / "scorer.png")
    assert (tmp_path / "scorer.png").stat().st_size > 1000


def test_every_stage_is_timed_and_no_chat_model_is_asked(
    material: Material, store: MemoryStore
) -> None:
    spent = latency(material, kmeans_of(material, 4), store, EMBEDDER)

    assert {"embed ms", "search ms", "score ms", "embedder tokens"} <= set(spent)
    assert spent["LLM tokens"] == 0


def test_a_set_without_questions_is_refused(store: MemoryStore) -> None:
    empty = EvaluationSet("toy", toy().documents, ())
    nothing = gather(empty, store, EMBEDDER, OPTIONS)

    with pytest.raises(UsageError, match="questions whose relevant chunks"):
        lists_of(nothing, kmeans_of(gather(toy(), store, EMBEDDER, OPTIONS), 4))


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_is_a_configuration_that_exists(name: str) -> None:
    assert name in TRAINED
    replace(CompassConfig(), **NETWORKS[name])
