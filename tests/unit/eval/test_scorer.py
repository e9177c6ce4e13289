import numpy as np
import pytest

from eval.collection import EvaluationSet, Gold, Question, SourceDocument
from eval.load import Loader, load
from eval.scorer import BASELINES, NETWORKS, TRAINED
from eval.scorer_run import ScorerOptions, find_topics, gather, learning_curve, run
from graph.errors import UsageError
from router.compass import CompassConfig
from tests.fakes import HashingEmbedder, MemoryStore

EMBEDDER = HashingEmbedder()
THINGS = ("bridge", "culvert", "tunnel", "road", "signal", "fence", "drain", "kerb", "sign", "rail")


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
            gold=(Gold(doc=f"doc{n}"),),
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


OPTIONS = ScorerOptions(topics=4, seeds=(0,), systems=(*BASELINES, "logistic", "blend"))


def test_every_system_is_scored_on_the_same_questions(store: MemoryStore) -> None:
    halves = [gather(toy(), part, store, EMBEDDER, by_document=True) for part in ("dev", "test")]

    results = run("toy", halves[:1], halves[1], store, OPTIONS)

    asked = {one.question.key for one in halves[1].asked}
    assert list(results.systems) == list(OPTIONS.systems)
    assert all(set(one.scores) == asked for one in results.systems.values())
    assert set(results.ceiling) == asked
    taught = {one.example.labelled.document for one in halves[0].asked}
    assert not taught & {one.example.labelled.document for one in halves[1].asked}


def test_the_learning_curve_ends_with_all_questions(store: MemoryStore) -> None:
    dev, test = (gather(toy(), part, store, EMBEDDER, by_document=True) for part in ("dev", "test"))

    points = learning_curve([dev], test, find_topics(store, "eval-toy", 4), (0,))

    assert points[-1].value == len(dev.asked)
    assert all(np.isfinite(point.ie) for point in points)


def test_a_set_without_questions_is_refused(store: MemoryStore) -> None:
    empty = EvaluationSet("toy", toy().documents, ())
    nothing = gather(empty, "test", store, EMBEDDER, by_document=True)

    with pytest.raises(UsageError, match="no question"):
        run("toy", [], nothing, store, OPTIONS)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_is_a_configuration_that_exists(name: str) -> None:
    from dataclasses import replace

    assert name in TRAINED
    replace(CompassConfig(), **NETWORKS[name])
