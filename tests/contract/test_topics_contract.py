"""What every store promises of topics; the same tests run in memory and on a real Neo4j."""

from dataclasses import replace

import numpy as np
import pytest

from graph.errors import StoreError, TopicsMismatch
from graph.model import Filter, IngestedDocument, SearchRequest, TopicModel
from graph.ports import Store
from graph.topics import stacked
from tests.fakes import HashingEmbedder
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
TEXTS = ("asphalt paving", "bridge rail", "bridge paving")
THETA = np.array([[0.9, 0.06, 0.04], [0.05, 0.95, 0.0], [0.4, 0.5, 0.1]], np.float32)


def make_topics(fingerprint: str = "one", k: int = 3, collection: str = "default") -> TopicModel:
    return TopicModel(
        collection=collection,
        name="kmeans",
        fingerprint=fingerprint,
        embedder=EMBEDDER.fingerprint,
        centroids=EMBEDDER.embed([f"word{n}" for n in range(k)]),
        temperature=0.1,
        terms=tuple((f"word{n}", "other") for n in range(k)),
        labels=tuple(f"label {n}" for n in range(k)),
        fitted_at="2026-01-01T00:00:00+00:00",
        summary='{"chunks": 3}',
        arrays=b"PK\x00\xff",
    )


def make_item(**properties: object) -> IngestedDocument:
    return make_document("spec", *TEXTS, **properties)


def ids(item: IngestedDocument) -> list[str]:
    return [chunk.id for chunk in item.chunks]


def fill(store: Store, fingerprint: str = "one", **properties: object) -> IngestedDocument:
    item = make_item(**properties)
    store.write([item])
    store.write_topics(make_topics(fingerprint))
    store.write_theta("default", ids(item), THETA, fingerprint)
    return item


def test_topics_come_back_as_they_were_written(store: Store) -> None:
    written = make_topics()

    store.write_topics(written)

    read = store.read_topics("default")
    assert read is not None
    assert np.array_equal(read.centroids, written.centroids)
    assert read.centroids.dtype == np.float32
    same = {"centroids": np.zeros(0)}
    assert replace(read, **same).__repr__() == replace(written, **same).__repr__()


def test_a_collection_has_no_topics_until_they_are_written(store: Store) -> None:
    store.write_topics(make_topics(collection="other"))

    assert store.read_topics("default") is None


def test_new_topics_take_the_place_of_the_old(store: Store) -> None:
    fill(store, "one")

    store.write_topics(make_topics("two", k=2))

    read = store.read_topics("default")
    assert read is not None
    assert (read.fingerprint, len(read.labels)) == ("two", 2)
    assert store.count_topics(Filter()) == []


def test_candidates_bring_vector_and_topics_in_one_search(store: Store) -> None:
    item = fill(store)
    vector = EMBEDDER.embed_query("bridge")

    found = store.search(
        SearchRequest(Filter(), 10, vector=vector, with_vectors=True, with_topics=True)
    )

    by_id = {candidate.passage.chunk_id: candidate for candidate in found}
    for id, theta, embedding in zip(ids(item), THETA, item.vectors, strict=True):
        candidate = by_id[id]
        assert candidate.theta is not None
        assert candidate.vector is not None
        assert np.array_equal(candidate.theta, theta)
        assert candidate.vector == pytest.approx(embedding, abs=1e-6)
        assert candidate.topics_fingerprint == "one"


def test_candidates_bring_no_topics_unless_asked(store: Store) -> None:
    fill(store)

    found = store.search(SearchRequest(Filter(), 10, text="bridge", with_vectors=True))

    assert found
    assert {(c.theta, c.topics_fingerprint) for c in found} == {(None, None)}


def test_chunks_bring_their_topics_when_asked(store: Store) -> None:
    item = fill(store)

    (batch,) = store.chunks("default", with_vectors=False, with_topics=True)
    (without,) = store.chunks("default")

    assert [chunk.id for chunk in batch.chunks] == ids(item)
    assert np.array_equal(stacked(batch.theta, batch.topics_fingerprints, make_topics()), THETA)
    assert without.theta == without.topics_fingerprints == ()


def test_a_chunk_without_topics_is_found_and_named_in_the_error(store: Store) -> None:
    store.write([make_item()])
    store.write_topics(make_topics())

    found = store.search(SearchRequest(Filter(), 10, text="bridge", with_topics=True))

    assert {candidate.theta for candidate in found} == {None}
    with pytest.raises(TopicsMismatch, match=r"2 have no topics .* topics update"):
        stacked([c.theta for c in found], [c.topics_fingerprint for c in found], make_topics())


def test_topics_of_an_older_model_are_told_from_those_of_today(store: Store) -> None:
    item = fill(store, "one")
    store.write_topics(make_topics("two"))
    store.write_theta("default", ids(item)[:1], THETA[:1], "two")

    (batch,) = store.chunks("default", with_topics=True)

    assert batch.topics_fingerprints == ("two", "one", "one")
    assert store.count_theta("default", "two") == (3, 1)
    with pytest.raises(TopicsMismatch, match="2 those of another model"):
        stacked(batch.theta, batch.topics_fingerprints, make_topics("two"))


def test_only_chunks_of_the_collection_get_topics(store: Store) -> None:
    item = make_item(collection="other")
    store.write([item])
    store.write_topics(make_topics())

    written = store.write_theta("default", [*ids(item), "nobody"], THETA[[0, 1, 2, 0]], "one")

    assert written == 0
    assert store.count_theta("other", "one") == (3, 0)
    assert store.count_topics(Filter(collection="other")) == []


@pytest.mark.parametrize(
    "theta",
    [THETA[:2], THETA * 2, np.full((3, 3), np.nan, np.float32), -THETA, THETA[:, :0]],
    ids=["rows missing", "sums to 2", "not a number", "negative", "no topics"],
)
def test_what_is_no_distribution_is_refused(store: Store, theta: np.ndarray) -> None:
    item = fill(store)

    with pytest.raises(StoreError, match="none are stored"):
        store.write_theta("default", ids(item), theta, "two")

    assert store.count_theta("default", "one") == (3, 3)


def test_a_document_is_written_with_its_topics(store: Store) -> None:
    store.write_topics(make_topics())
    item = replace(make_item(), theta=THETA, topics_fingerprint="one")

    for _ in range(2):  # new, then replaced
        store.write([item])

        (batch,) = store.chunks("default", with_topics=True)
        assert np.array_equal(stacked(batch.theta, batch.topics_fingerprints, make_topics()), THETA)
        counts = {count.number: count.chunks for count in store.count_topics(Filter())}
        assert counts == {0: 2, 1: 2, 2: 1}


def test_a_document_that_is_written_without_topics_has_none(store: Store) -> None:
    fill(store)

    store.write([make_item()])

    assert store.count_theta("default", "one") == (3, 0)
    assert store.count_topics(Filter()) == []


def test_counts_are_of_the_strongest_topics_that_may_be_seen(store: Store) -> None:
    fill(store, scope="roads")
    secret = make_document("secret", "bridge load", audience="staff", scope="bridges")
    store.write([secret])
    store.write_theta("default", ids(secret), THETA[1:2], "one")

    seen = store.count_topics(Filter())
    all_of_it = store.count_topics(Filter(audiences=("public", "staff")))

    assert [(c.number, c.chunks, c.documents, c.scopes) for c in seen] == [
        (0, 2, 1, (("roads", 2),)),
        (1, 2, 1, (("roads", 2),)),
        (2, 1, 1, (("roads", 1),)),
    ]
    assert all_of_it[1].chunks == 3
    assert all_of_it[1].documents == 2
    assert all_of_it[1].scopes == (("roads", 2), ("bridges", 1))


def test_passages_of_a_topic_come_with_the_highest_weight_first(store: Store) -> None:
    fill(store)

    found = store.topic_passages(1, Filter(), 5)
    first = store.topic_passages(1, Filter(), 1)

    assert [(p.text, round(weight, 3)) for p, weight in found] == [
        ("bridge rail", 0.95),
        ("bridge paving", 0.5),
    ]
    assert first == found[:1]
    assert store.topic_passages(1, Filter(audiences=("staff",)), 5) == []


def test_a_removed_document_leaves_no_topics_of_its_own(store: Store) -> None:
    item = fill(store)

    store.remove([item.document.id])

    assert store.count_theta("default", "one") == (0, 0)
    assert store.count_topics(Filter()) == []
    assert store.read_topics("default") is not None
