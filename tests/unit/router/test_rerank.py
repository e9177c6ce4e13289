from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from graph.errors import ScorerMismatch, TopicsMismatch, UsageError
from graph.model import Candidate, Filter, Query, SearchRequest
from ingestion.topic_models import CosineTopics
from router import guided, retrieve, scorer_file, systems
from router.blend import Blend
from router.compass import Compass, CompassConfig
from router.compass_scorer import arrays_of, network_scores
from router.evidence import FEATURES, WITHOUT_TOPICS, TopicEvidence, features
from router.fuse import mixed
from router.rerank import NotingStore, Scorer, load_scorer, reranked_by, theta_of
from router.retrieve import System
from router.scorer_file import Stamp
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
TOPICS = CosineTopics(
    "kmeans", "topics-1", np.eye(4, EMBEDDER.dimensions, dtype=np.float32), ((),) * 4, 0.1
)


def blend(width: int, *, of: int | None = None, weight: float = 0.0) -> Blend:
    """A network that adds `weight` times one feature, and nothing else."""
    linear = np.zeros((1, width), np.float32)
    if of is not None:
        linear[0, of] = weight
    return Blend(
        mean=np.zeros(width, np.float32),
        spread=np.ones(width, np.float32),
        linear=linear,
        first=np.zeros((1, width, 2), np.float32),
        first_bias=np.zeros((1, 2), np.float32),
        second=np.zeros((1, 2, 2), np.float32),
        second_bias=np.zeros((1, 2), np.float32),
        last=np.zeros((1, 2), np.float32),
    )


def stamp(**changes: object) -> Stamp:
    return replace(Stamp("blend", EMBEDDER.fingerprint, "", 0, WITHOUT_TOPICS), **changes)


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    texts = [
        "Bridges are inspected every two years.",
        "Inspection of bridges by qualified inspectors.",
        "Bridges and culverts, 12 of them, and roads.",
        "Tax is due on Monday.",
    ]
    store.write([make_document(f"d{n}", text) for n, text in enumerate(texts)])
    store.finish("default")
    return store


def candidates(store: MemoryStore, question: str) -> list[Candidate]:
    vector = EMBEDDER.embed_query(question)
    request = SearchRequest(Filter(), 50, vector, text=question, with_vectors=True)
    return list(store.search(request))


def reranked(store: MemoryStore, name: str, scorer: Scorer) -> System:
    noting = NotingStore(store)
    embed = partial(retrieve.embed_only, embedder=EMBEDDER)
    made = {
        "convex": System("convex", embed, partial(systems.convex, store=noting)),  # type: ignore[arg-type]
        "hybrid": System("hybrid", embed, partial(systems.hybrid, store=noting)),  # type: ignore[arg-type]
        "bm25": System("bm25", retrieve.as_it_is, partial(systems.bm25, store=noting)),  # type: ignore[arg-type]
        "guided": System(
            "guided",
            partial(guided.understood, embedder=EMBEDDER, holdings=lambda _: ()),
            partial(guided.guided, store=noting),  # type: ignore[arg-type]
        ),
    }
    return reranked_by(made[name], noting, EMBEDDER, lambda _: scorer)


def order(ranking: object) -> list[str]:
    return [hit.passage.chunk_id for hit in ranking.hits]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["convex", "hybrid", "guided", "bm25"])
def test_a_scorer_that_learned_nothing_orders_by_the_mix(store: MemoryStore, name: str) -> None:
    scorer = Scorer(stamp(), None, blend(len(WITHOUT_TOPICS)))
    query = Query("how often are bridges inspected")

    ranking = reranked(store, name, scorer)(query, 3)

    plain = System(
        "convex",
        partial(retrieve.embed_only, embedder=EMBEDDER),
        partial(systems.convex, store=store),
    )
    found = len(order(ranking))
    assert found > 0
    assert order(ranking) == order(plain(query, 3))[:found]
    assert ranking.system == f"{name}+topics"
    assert "rerank" in ranking.timings_ms


def test_what_the_scorer_learned_reorders_all_candidates_not_the_first_k(
    store: MemoryStore,
) -> None:
    place = WITHOUT_TOPICS.index("figures")
    scorer = Scorer(stamp(), None, blend(len(WITHOUT_TOPICS), of=place, weight=1e4))

    ranking = reranked(store, "convex", scorer)(Query("inspection of bridges"), 1)

    assert ranking.hits[0].passage.text.startswith("Bridges and culverts, 12")


def test_features_say_the_same_in_any_order_of_candidates(store: MemoryStore) -> None:
    question = "how often are bridges inspected"
    found = candidates(store, question)
    vector = EMBEDDER.embed_query(question)

    forward = features(question, vector, found, mixed(found))
    backward = features(question, vector, found[::-1], mixed(found[::-1]))

    assert forward.shape == (len(found), len(WITHOUT_TOPICS))
    assert np.isfinite(forward).all()
    distinct = len(set(mixed(found))) == len(found)
    assert distinct
    assert np.allclose(forward, backward[::-1], atol=1e-5)


def test_features_with_topics_have_a_column_for_each_name(store: MemoryStore) -> None:
    found = candidates(store, "bridges")
    theta = np.full((len(found), 4), 0.25, np.float32)
    topics = TopicEvidence(theta, theta[0], TOPICS.centroids)

    made = features("bridges", EMBEDDER.embed_query("bridges"), found, mixed(found), topics)

    assert made.shape == (len(found), len(FEATURES))


def test_no_candidates_have_no_features() -> None:
    assert features("bridges", EMBEDDER.embed_query("bridges"), [], []).shape[0] == 0


def test_words_of_the_question_are_found_whatever_their_ending(store: MemoryStore) -> None:
    found = candidates(store, "inspected bridge")
    column = WITHOUT_TOPICS.index("words: coverage")

    made = features("inspected bridge", EMBEDDER.embed_query("x"), found, mixed(found))

    by_text = {one.passage.text: row[column] for one, row in zip(found, made, strict=True)}
    assert by_text["Inspection of bridges by qualified inspectors."] == pytest.approx(1.0)


def test_a_saved_scorer_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "scorer.safetensors"
    made = blend(len(WITHOUT_TOPICS), of=3, weight=2.0)

    scorer_file.save(made.arrays(), stamp(summary={"seed": 7}), path)
    loaded = load_scorer(path, EMBEDDER.fingerprint, None)

    assert loaded.stamp == stamp(summary={"seed": 7})
    assert loaded.blend is not None
    assert all((loaded.blend.arrays()[n] == array).all() for n, array in made.arrays().items())
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"embedder": "other"}, "embedder other"),
        ({"topics": "topics-0", "k": 4}, "topic model topics-0"),
        ({"topics": "topics-1", "k": 9}, "trained for 9 topics"),
    ],
)
def test_a_scorer_for_something_else_is_refused(
    tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    path = tmp_path / "scorer.safetensors"
    scorer_file.save(blend(1).arrays(), stamp(**changes), path)

    with pytest.raises(ScorerMismatch, match=says):
        load_scorer(path, EMBEDDER.fingerprint, TOPICS)


def test_a_scorer_that_weighs_topics_is_refused_where_there_are_none(tmp_path: Path) -> None:
    path = tmp_path / "scorer.safetensors"
    scorer_file.save(blend(1).arrays(), stamp(topics="topics-1", k=4), path)

    with pytest.raises(ScorerMismatch, match="milepost topics fit"):
        load_scorer(path, EMBEDDER.fingerprint, None)


def test_a_scorer_that_weighs_other_evidence_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scorer.safetensors"
    scorer_file.save(blend(1).arrays(), stamp(features=("cosine",)), path)

    with pytest.raises(UsageError, match="other evidence"):
        load_scorer(path, EMBEDDER.fingerprint, None)


@pytest.mark.parametrize("content", [b"", b"not a scorer", b"\xff" * 64])
def test_a_broken_file_is_no_scorer(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "scorer.safetensors"
    path.write_bytes(content)

    with pytest.raises(UsageError, match="milepost train"):
        load_scorer(path, EMBEDDER.fingerprint, None)


def test_without_a_scorer_the_command_that_makes_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="milepost train"):
        load_scorer(tmp_path / "none", EMBEDDER.fingerprint, None)


def test_a_chunk_without_theta_is_refused(store: MemoryStore) -> None:
    with pytest.raises(TopicsMismatch, match="milepost topics update"):
        theta_of(candidates(store, "bridges"), "topics-1")


def test_a_network_scores_after_saving_as_it_did_before(store: MemoryStore) -> None:
    import torch

    config = CompassConfig(dimensions=EMBEDDER.dimensions, topics=4, heads=2, strongest=2)
    torch.manual_seed(0)
    network = Compass(config, torch.from_numpy(TOPICS.centroids)).eval()
    bank = torch.full((6, 4), 0.25)
    found = candidates(store, "bridges")
    theta = np.full((len(found), 4), 0.25, np.float32)
    vector = EMBEDDER.embed_query("bridges")
    marked = stamp(kind="compass", k=4, config=asdict(config))

    scores = network_scores(arrays_of(network, bank), marked)(
        vector, found, TopicEvidence(theta, theta[0], TOPICS.centroids)
    )

    chunks = torch.from_numpy(np.stack([one.vector for one in found if one.vector is not None]))
    with torch.no_grad():
        expected = network(
            torch.from_numpy(vector)[None],
            chunks[None],
            torch.from_numpy(theta)[None],
            bank,
            torch.from_numpy(theta[:1]),
        )
    assert np.allclose(scores, expected[0].numpy(), atol=1e-6)


def test_a_system_that_ranks_in_memory_cannot_be_reranked(store: MemoryStore) -> None:
    from router.bm25 import Bm25
    from router.comparison import InMemory

    noting = NotingStore(store)
    base = System("rank_bm25", retrieve.as_it_is, InMemory("rank_bm25", noting, Bm25))  # type: ignore[arg-type]
    scorer = Scorer(stamp(), None, blend(len(WITHOUT_TOPICS)))
    system = reranked_by(base, noting, EMBEDDER, lambda _: scorer)

    with pytest.raises(UsageError, match="in memory"):
        system(Query("bridges"), 3)
