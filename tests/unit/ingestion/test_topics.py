"""Topics: the formulas by hand, models by what they find in texts that plainly differ."""

import math
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graph.errors import ConfigurationError, TopicsMismatch, UsageError
from graph.model import Filter
from graph.topics import strongest
from ingestion import topic_etm, topic_fastopic, topic_models
from ingestion.topic_fit import Count, FitOptions, fit, update
from ingestion.topic_found import weighted_centroids
from ingestion.topic_kmeans import (
    choose_temperature,
    fit_centroids,
    log_perplexity,
    softmax_theta,
    unit_rows,
    word_shares,
)
from ingestion.topic_models import load, required_topics
from ingestion.topic_quality import Presence, coherence, diversity, npmi, topics_per_chunk
from ingestion.topic_terms import Vocabulary, count_words, telling_terms, topic_labels
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document
from tests.ingesting import run

EMBEDDER = HashingEmbedder()
SUBJECTS = {
    "certificate": "certificate revocation issuer signature keys trust",
    "culvert": "culvert drainage pipe diameter flood channel",
    "payroll": "payroll salary employee overtime wages holiday",
}


@contextmanager
def quiet(what: str) -> Generator[Count]:
    yield lambda done, total: None


def nothing(done: int, total: int) -> None:
    pass


def filled(chunks: int = 12, collection: str = "default") -> MemoryStore:
    """A store with documents of three subjects, so many chunks each."""
    store = MemoryStore()
    drawn = np.random.default_rng(0)
    for name, words in SUBJECTS.items():
        texts = [
            " ".join([*drawn.permutation(words.split())[:4], name, f"clause {n}"])
            for n in range(chunks)
        ]
        store.write([make_document(name, *texts, collection=collection, scope=name)])
    return store


def fitted(store: MemoryStore, **options: object) -> object:
    chosen = FitOptions(**({"k": 3} | options))  # type: ignore[arg-type]
    return fit(store, EMBEDDER.fingerprint, Filter(), chosen, quiet)


# Formulas -----------------------------------------------------------------------------------------


def test_theta_is_the_softmax_of_cosines_over_the_temperature() -> None:
    centroids = np.array([[1, 0], [0, 1]], np.float32)
    vectors = np.array([[0.6, 0.8]], np.float32)

    theta = softmax_theta(vectors, centroids, 0.1)

    first, second = math.exp(6), math.exp(8)
    assert theta[0] == pytest.approx([first / (first + second), second / (first + second)])


def test_a_low_temperature_gives_one_topic_and_no_overflow() -> None:
    theta = softmax_theta(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), 1e-4)

    assert theta == pytest.approx(np.eye(2))


@given(st.integers(1, 6), st.integers(1, 5), st.floats(0.005, 5), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_theta_is_a_distribution_whatever_comes(n: int, k: int, t: float, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    vectors, centroids = (unit_rows(drawn.normal(size=(size, 8))) for size in (n, k))

    theta = softmax_theta(vectors, centroids, t)

    assert theta.dtype == np.float32
    assert (theta >= 0).all()
    assert theta.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-5)


def test_npmi_by_hand() -> None:
    # Of 8 chunks 4 have the one, 2 the other, 2 both: log(.25 / (.5 * .25)) / -log .25 = 1/2.
    assert npmi(4 / 8, 2 / 8, 2 / 8) == pytest.approx(0.5)
    assert npmi(0.5, 0.5, 0.25) == pytest.approx(0)  # independent
    assert npmi(0.5, 0.5, 0.5) == pytest.approx(1)  # always together
    assert npmi(0.5, 0.5, 0) == -1  # never together
    assert npmi(1, 1, 1) == 1


def test_coherence_is_the_mean_over_pairs_then_topics() -> None:
    # Columns a, b, c; chunks: ab, ab, c, -.
    words = sparse.csc_matrix(np.array([[2, 1, 0], [1, 1, 0], [0, 0, 3], [0, 0, 0]], np.float32))
    presence = Presence(words, {"a": 0, "b": 1, "c": 2})

    found = coherence([("a", "b", "c"), ("a", "b"), ("c", "unknown")], presence)

    first = (1 + -1 + -1) / 3
    assert found == pytest.approx((first + 1) / 2)
    assert coherence([("unknown",)], presence) is None


def test_diversity_is_the_share_of_different_terms() -> None:
    assert diversity([("a", "b", "c"), ("a", "d")]) == pytest.approx(4 / 5)
    assert diversity([("a",), ("a",)]) == pytest.approx(1 / 2)
    assert diversity([(), ()]) is None


def test_topics_per_chunk_is_exp_of_the_entropy() -> None:
    theta = np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0]], np.float32)

    assert topics_per_chunk(theta) == pytest.approx((2 + 1) / 2, abs=1e-4)


def test_words_of_topics_are_weighted_by_theta() -> None:
    theta = np.array([[1, 0], [0.5, 0.5]], np.float32)
    words = sparse.csr_matrix(np.array([[2, 0], [0, 4]], np.float32))

    beta = word_shares(theta, words)

    assert beta[0] == pytest.approx([2.01 / 4.02, 2.01 / 4.02])
    assert beta[1] == pytest.approx([0.01 / 2.02, 2.01 / 2.02])


def test_perplexity_is_of_the_mixture_of_topics() -> None:
    theta = np.array([[0.25, 0.75]], np.float32)
    beta = np.array([[0.9, 0.1], [0.5, 0.5]], np.float32)
    words = sparse.csr_matrix(np.array([[2, 1]], np.float32))

    found = log_perplexity(theta, beta, words)

    assert found == pytest.approx(-(2 * math.log(0.6) + math.log(0.4)) / 3)


def test_strongest_topics_are_three_at_most_and_weigh_enough_but_one_there_is_always() -> None:
    def numbers(*theta: float) -> list[int]:
        return [number for number, _ in strongest(np.array(theta, np.float32))]

    assert numbers(0.05, 0.7, 0.25) == [1, 2]
    assert numbers(0.2, 0.2, 0.2, 0.2, 0.2) == [0, 1, 2]
    assert numbers(*[0.08] * 10, 0.2) == [10]
    assert numbers(*[0.05] * 20) == [0]


def test_centroids_of_a_model_without_any_are_weighted_means() -> None:
    vectors = np.array([[1, 0], [0, 1]], np.float32)
    theta = np.array([[0.75, 0.25, 0], [0.25, 0.75, 0]], np.float32)

    found = weighted_centroids(theta, vectors)

    assert found[0] == pytest.approx(np.array([3, 1]) / math.sqrt(10))
    assert found[1] == pytest.approx(np.array([1, 3]) / math.sqrt(10))
    assert found[2] == pytest.approx(np.array([1, 1]) / math.sqrt(2))  # a topic that no chunk has


# k-means ------------------------------------------------------------------------------------------


def groups(n: int = 60, seed: int = 1) -> np.ndarray:
    drawn = np.random.default_rng(seed)
    middles = np.eye(3, 10)
    return unit_rows(middles[np.arange(n) % 3] + drawn.normal(size=(n, 10)) * 0.05)


def test_kmeans_finds_the_groups() -> None:
    vectors = groups()

    centroids = fit_centroids(vectors, 3, 0, nothing)

    nearest = (vectors @ centroids.T).argmax(axis=1)
    assert len({tuple(nearest[start::3]) for start in range(3)}) == 3
    assert all(len(set(nearest[start::3])) == 1 for start in range(3))
    assert np.linalg.norm(centroids, axis=1) == pytest.approx(np.ones(3))
    assert centroids.dtype == np.float32


def test_the_same_seed_gives_the_same_centroids_bit_for_bit() -> None:
    first = fit_centroids(groups(200), 7, 5, nothing)

    assert np.array_equal(first, fit_centroids(groups(200), 7, 5, nothing))
    assert not np.array_equal(first, fit_centroids(groups(200), 7, 6, nothing))


def test_no_topic_stays_empty_with_as_many_topics_as_chunks() -> None:
    vectors = groups(12)

    centroids = fit_centroids(vectors, 12, 0, nothing)

    assert sorted((vectors @ centroids.T).argmax(axis=1)) == list(range(12))


def test_fewer_different_chunks_than_topics_are_told() -> None:
    vectors = np.repeat(np.eye(2, dtype=np.float32), 5, axis=0)

    with pytest.raises(UsageError, match=r"Only 2 of the chunks differ, .* at most -k 2"):
        fit_centroids(vectors, 3, 0, nothing)


def test_the_temperature_that_foretells_words_best_is_chosen() -> None:
    # Each chunk has words of its own group only: the coldest is right. Words drawn from both
    # groups alike: the warmest is.
    vectors = groups(300)
    centroids = np.eye(3, 10, dtype=np.float32)
    own = sparse.csr_matrix(np.eye(3, dtype=np.float32)[np.arange(300) % 3] * 5)
    drawn = np.random.default_rng(0)
    alike = sparse.csr_matrix(drawn.poisson(3, size=(300, 3)).astype(np.float32))

    def theta_at(some: np.ndarray, temperature: float) -> np.ndarray:
        return softmax_theta(some, centroids, temperature)

    assert choose_temperature(theta_at, (0.05, 1, 20), vectors, own, 0) == 0.05
    assert choose_temperature(theta_at, (0.05, 1, 20), vectors, alike, 0) == 20
    assert choose_temperature(theta_at, (0.05, 1), vectors, own[:, :0], 0) is None


# Words --------------------------------------------------------------------------------------------


def test_words_are_counted_without_stop_words_and_numbers() -> None:
    vocabulary, counts = count_words(["The keys of 2024, keys!", "pipe"], 2)

    assert vocabulary.words == ("keys", "pipe")
    assert counts.toarray().tolist() == [[2, 0], [0, 1]]
    assert vocabulary.count(["a pipe, unknown"]).toarray().tolist() == [[0, 1]]


def test_texts_without_words_have_an_empty_vocabulary() -> None:
    vocabulary, counts = count_words(["1 2 3", "the"], 2)

    assert vocabulary.words == ()
    assert counts.shape == (2, 0)


def test_terms_are_those_that_the_other_topics_do_not_use() -> None:
    vocabulary = Vocabulary(("keys", "pipe", "shall"))
    words = sparse.csr_matrix(np.array([[3, 0, 3], [0, 3, 3], [0, 2, 0]], np.float32))

    terms = telling_terms(np.array([0, 1, 1]), 3, words, vocabulary)

    assert terms[0][0] == "keys"
    assert terms[1][0] == "pipe"
    assert terms[2] == ()
    assert topic_labels(terms) == ("keys-shall", "pipe-shall", "topic-3")


# Fitting ------------------------------------------------------------------------------------------


def test_topics_are_found_named_written_and_judged() -> None:
    store = filled()

    found = fitted(store)

    model = store.read_topics("default")
    assert model is not None
    assert model == found.model
    assert {label.split("-")[0] for label in model.labels} <= {
        word for words in SUBJECTS.values() for word in words.split()
    } | set(SUBJECTS)
    assert found.written == 36
    assert store.count_theta("default", model.fingerprint) == (36, 36)
    for count in store.count_topics(Filter()):
        assert (count.chunks, len(count.scopes)) == (12, 1)
    assert found.quality.coherence is not None
    assert found.quality.coherence > 0


def test_the_same_chunks_and_seed_give_the_same_fingerprint() -> None:
    first, again = fitted(filled()).model, fitted(filled()).model
    other, warmer = fitted(filled(), seed=3, k=5).model, fitted(filled(), temperature=0.5).model

    assert first.fingerprint == again.fingerprint
    assert len({first.fingerprint, other.fingerprint, warmer.fingerprint}) == 3


def test_an_empty_collection_has_no_topics_and_says_so() -> None:
    with pytest.raises(UsageError, match=r"holds no chunks .*milepost ingest"):
        fitted(MemoryStore())


def test_fewer_chunks_than_topics_are_told_with_what_to_do() -> None:
    store = filled()

    with pytest.raises(UsageError, match=r"36 chunks, fewer than 37 topics. Choose a smaller -k"):
        fitted(store, k=37)

    assert store.read_topics("default") is None


def test_topics_are_not_described_by_words_of_documents_that_may_not_be_seen() -> None:
    store = filled()
    store.write([make_document("memo", *["merger talks secret"] * 1, audience="staff")])

    model = fitted(store, k=4).model

    assert "merger" not in {term for terms in model.terms for term in terms}
    assert store.count_theta("default", model.fingerprint) == (37, 37)


def test_an_interrupted_fit_overwrites_nothing() -> None:
    store = filled()
    before = fitted(store).model

    @contextmanager
    def impatient(what: str) -> Generator[Count]:
        if what == "naming topics":
            raise KeyboardInterrupt
        yield nothing

    with pytest.raises(KeyboardInterrupt):
        fit(store, EMBEDDER.fingerprint, Filter(), FitOptions(k=5), impatient)

    assert store.read_topics("default") == before
    assert store.count_theta("default", before.fingerprint) == (36, 36)


def test_update_goes_on_where_writing_was_interrupted() -> None:
    store = filled()
    model = fitted(store).model
    lost = [chunk.id for item in list(store.items.values())[:1] for chunk in item.chunks]
    before = {id: store.theta.pop(id)[0] for id in lost}

    assert update(store, model, EMBEDDER.fingerprint, quiet) == 12
    assert update(store, model, EMBEDDER.fingerprint, quiet) == 0

    assert all(np.array_equal(store.theta[id][0], before[id]) for id in lost)


def test_topics_of_another_embedder_are_refused_with_what_to_do() -> None:
    model = fitted(filled()).model

    with pytest.raises(TopicsMismatch, match="milepost topics fit -C default"):
        load(model, "another")


def test_a_collection_without_topics_tells_how_to_find_some() -> None:
    with pytest.raises(TopicsMismatch, match=r"has no topics. Find some: milepost topics fit"):
        required_topics(MemoryStore(), "default")


# Ingestion ----------------------------------------------------------------------------------------


def test_new_chunks_get_their_topics_at_ingestion(tmp_path, monkeypatch) -> None:
    store = filled()
    model = fitted(store).model
    (tmp_path / "new.md").write_text("# Pipes\n\nThe culvert pipe diameter in a flood channel.\n")

    done = run(tmp_path, store=store)

    chunk = next(c for item in store.items.values() for c in item.chunks if "diameter in" in c.text)
    assert [outcome.status for outcome in done.outcomes] == ["read"]
    theta, mark = store.theta[chunk.id]
    assert mark == model.fingerprint
    assert "culvert" in model.terms[int(theta.argmax())]


def test_ingestion_refuses_topics_of_another_embedder_before_it_reads(tmp_path) -> None:
    store = filled()
    fitted(store)
    (tmp_path / "new.md").write_text("# Pipes\n\nPipes.\n")
    other = HashingEmbedder()
    other.fingerprint = "another"

    with pytest.raises(TopicsMismatch, match="milepost topics fit"):
        run(tmp_path, store=store, embedder=other)

    assert len(store.items) == 3


def test_a_collection_without_topics_is_ingested_as_before(tmp_path) -> None:
    store = MemoryStore()
    (tmp_path / "new.md").write_text("# Pipes\n\nPipes.\n")

    run(tmp_path, store=store)

    assert store.theta == {}


# Packages -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # of the packages
@pytest.mark.parametrize("model", ["fastopic", "etm"])
def test_models_of_packages_are_fitted_kept_and_applied_to_new_text(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastopic" if model == "fastopic" else "topmost")
    monkeypatch.setattr(topic_fastopic, "STEPS", 60)
    monkeypatch.setattr(topic_etm, "STEPS", 150)
    store = filled()

    found = fitted(store, model=model).model

    kept = store.read_topics("default")
    assert kept is not None
    topics = load(kept, EMBEDDER.fingerprint)
    text = "payroll salary overtime wages"
    theta = topics.theta(EMBEDDER.embed([text, "zzz"]), [text, "zzz"])
    assert theta.shape == (2, 3)
    assert theta.sum(axis=1) == pytest.approx(np.ones(2), abs=1e-5)
    assert np.linalg.norm(topics.centroids, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert topics.centroids.shape == (3, EMBEDDER.dimensions)
    assert found.fingerprint == fitted(filled(), model=model).model.fingerprint


@pytest.mark.filterwarnings("ignore")
def test_theta_of_fastopic_is_what_the_package_computes() -> None:
    fastopic = pytest.importorskip("fastopic")
    import torch

    network = fastopic.FASTopic(
        3, preprocess=object(), doc_embed_model=object(), device="cpu", theta_temp=0.7
    ).model
    network.init(5, 8)
    vectors = unit_rows(np.random.default_rng(0).normal(size=(20, 8)))
    points = network.topic_embeddings.detach().numpy()
    sums = topic_fastopic.log_sums(vectors, points, 0.7)
    ours = topic_models.DistanceTopics("fastopic", "", points, (), 0.7, points, sums)

    with torch.no_grad():
        theirs = network.get_theta(torch.tensor(vectors[:4]), torch.tensor(vectors)).numpy()

    assert ours.theta(vectors[:4], ()) == pytest.approx(theirs, rel=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_theta_of_etm_is_what_the_package_computes() -> None:
    topmost = pytest.importorskip("topmost")
    import torch

    network = topmost.ETM(3, 4, 2, 5).eval()
    layers = [network.encoder1[0], network.encoder1[2], network.fc21]
    pairs = tuple((one.weight.detach().numpy(), one.bias.detach().numpy()) for one in layers)
    none = np.zeros((2, 1), np.float32)
    ours = topic_models.EncoderTopics("etm", "", none, (), Vocabulary(("aaa", "bbb", "ccc")), pairs)

    with torch.no_grad():
        theirs = network.get_theta(torch.tensor([[2.0, 0, 1]])).numpy()

    assert ours.theta(np.zeros((1, 1), np.float32), ["ccc aaa aaa"]) == pytest.approx(theirs)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    for module in (topic_fastopic, topic_etm):
        monkeypatch.setattr(module.importlib, "import_module", missing)
        with pytest.raises(ConfigurationError, match=r"milepost\[topics\]"):
            module._package()


def test_an_unknown_kind_of_model_in_the_graph_is_refused() -> None:
    from dataclasses import replace

    model = replace(fitted(filled()).model, name="newer")

    with pytest.raises(TopicsMismatch, match="does not know"):
        load(model, EMBEDDER.fingerprint)
