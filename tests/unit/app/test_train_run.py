from pathlib import Path

import numpy as np
import pytest

from app.cli import options
from app.cli.train_run import NETWORKS, fit, settings_of
from app.settings import Settings
from app.systems import build_systems, scorer_file
from graph.errors import UsageError
from graph.model import Filter, Query
from ingestion.topic_models import CosineTopics
from router.rerank import load_scorer
from router.training_data import Labelled, search_examples
from router.training_lists import Lists, make_lists
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
TOPICS = CosineTopics(
    "kmeans", "t", EMBEDDER.embed(["road", "rail", "tax", "tree"]), ((),) * 4, 0.1
)
FEW = ["epochs=2", "hidden=4", "members=2"]


@pytest.fixture(scope="module")
def store() -> MemoryStore:
    store = MemoryStore()
    for n in range(40):
        store.write([make_document(f"d{n}", f"Office {n} mends the road.", f"Tax {n} is due.")])
    store.finish("default")
    return store


@pytest.fixture(scope="module")
def lists(store: MemoryStore) -> Lists:
    asked = [
        Labelled(f"Which tax {n} is due?", id, "gold", {item.chunks[1].id: 1})
        for n, (id, item) in enumerate(store.items.items())
    ]
    examples = search_examples(asked, Filter(), store, EMBEDDER, with_topics=False)
    vectors = lambda found: np.stack([one.vector for one in found])  # noqa: E731
    return make_lists(
        examples, TOPICS, lambda found: TOPICS.theta(vectors(found), [""] * len(found))
    )


@pytest.mark.parametrize("network", ["blend", *NETWORKS])
def test_what_is_trained_can_be_kept_loaded_and_drawn(
    lists: Lists, tmp_path: Path, network: str
) -> None:
    settings = settings_of(network, ["epochs=2"], 0)

    made = fit(network, lists, TOPICS, settings, EMBEDDER.fingerprint, lambda done, total: None)
    made.save(tmp_path / "s.safetensors")
    made.draw(tmp_path / "s.png")

    loaded = load_scorer(tmp_path / "s.safetensors", EMBEDDER.fingerprint, TOPICS)
    assert loaded.stamp.summary["questions"] == made.trained.questions
    assert (tmp_path / "s.png").read_bytes()[:4] == b"\x89PNG"


def test_a_training_that_fails_leaves_the_old_scorer(lists: Lists, tmp_path: Path) -> None:
    path = tmp_path / "s.safetensors"
    made = fit("blend", lists, TOPICS, settings_of("blend", FEW, 0), "e", lambda done, total: None)
    made.save(path)
    before = path.read_bytes()

    with pytest.raises(KeyboardInterrupt):
        fit("blend", lists, TOPICS, settings_of("blend", FEW, 1), "e", interrupt)

    assert path.read_bytes() == before


def interrupt(done: int, total: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("given", ["rates=1", "rate=fast", "rate=-1", "rate"])
def test_a_setting_that_is_wrong_is_said(given: str) -> None:
    with pytest.raises(UsageError):
        settings_of("blend", [given], 0)


def test_every_system_has_a_reranked_twin_that_is_not_listed(store: MemoryStore) -> None:
    systems = build_systems(Settings(), store, EMBEDDER)  # type: ignore[call-arg]

    assert all(f"{name}+topics" in systems for name in systems)
    assert not any(name.endswith("+topics") for name in systems)
    assert "other+topics" not in systems


def test_a_collection_without_scorer_names_the_command(store: MemoryStore, tmp_path: Path) -> None:
    systems = build_systems(Settings(data_dir=tmp_path), store, EMBEDDER)  # type: ignore[call-arg]

    with pytest.raises(UsageError, match="milepost train"):
        systems["convex+topics"](Query("which tax is due"), 3)


def test_a_trained_scorer_is_found_by_its_collection(
    store: MemoryStore, lists: Lists, tmp_path: Path
) -> None:
    settings = Settings(data_dir=tmp_path)  # type: ignore[call-arg]
    narrow = make_lists_without_topics(store)
    made = fit(
        "blend",
        narrow,
        None,
        settings_of("blend", FEW, 0),
        EMBEDDER.fingerprint,
        lambda done, total: None,
    )
    made.save(scorer_file(settings, "default"))

    ranking = build_systems(settings, store, EMBEDDER)["hybrid+topics"](Query("tax 7 is due"), 3)

    assert ranking.system == "hybrid+topics"
    assert len(ranking.hits) == 3


def make_lists_without_topics(store: MemoryStore) -> Lists:
    asked = [
        Labelled(f"Which tax {n} is due?", id, "gold", {item.chunks[1].id: 1})
        for n, (id, item) in enumerate(store.items.items())
    ]
    examples = search_examples(asked, Filter(), store, EMBEDDER, with_topics=False)
    return make_lists(examples, None, lambda _: np.zeros((0, 0), np.float32))


def test_collections_of_any_name_have_a_file_in_the_folder(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)  # type: ignore[call-arg]

    assert scorer_file(settings, "../etc").parent == tmp_path / "scorers"


def test_reranking_twice_is_reranking_once() -> None:
    once = options.reranked("guided", "topics")

    assert options.reranked(once, "topics") == once == "guided+topics"
    assert options.reranked("guided", "none") == "guided"
