import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ingestion.discover import (
    DocumentMeans,
    class_tfidf,
    discover,
    mean_vectors,
    nmi,
    purity,
    scope_names,
)
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
ROADS = ["Asphalt paving is laid hot.", "Asphalt paving of roads.", "Hot asphalt for paving roads."]
BONDS = ["A bond pays interest.", "Interest of a municipal bond.", "The bond pays yearly interest."]


def documents(texts: list[str], labels: list[str] | None = None) -> DocumentMeans:
    ids = tuple(f"d{n}" for n in range(len(texts)))
    return DocumentMeans(
        ids=ids,
        labels=tuple(labels or ["all"] * len(texts)),
        chunks=(1,) * len(texts),
        means=EMBEDDER.embed(texts),
        texts=list(zip(ids, texts, strict=True)),
    )


def of_vectors(means: NDArray[np.float32]) -> DocumentMeans:
    ids = tuple(f"d{n}" for n in range(len(means)))
    texts = [(id, "paving") for id in ids]
    return DocumentMeans(ids, ("all",) * len(ids), (1,) * len(ids), means, texts)


def test_documents_of_two_subjects_part_and_are_named_by_them() -> None:
    found = discover(documents(ROADS + BONDS, ["a"] * 3 + ["b"] * 3), k=2)

    assert [scope.documents for scope in found.scopes] == [("d0", "d1", "d2"), ("d3", "d4", "d5")]
    roads, bonds = found.scopes
    assert roads.terms[0] == "asphalt"
    assert roads.name.startswith("asphalt-paving")
    assert bonds.name.startswith("bond-interest")
    assert (found.purity, found.document_purity, found.nmi) == (1.0, 1.0, 1.0)
    assert found.assignment["d4"] == bonds.name
    assert found.tried == ()


def test_the_number_of_scopes_with_the_highest_silhouette_is_chosen() -> None:
    found = discover(documents(ROADS + BONDS))

    assert [one.k for one in found.tried] == [2, 3, 4]
    assert max(found.tried, key=lambda one: one.silhouette).k == len(found.scopes) == 2


def test_the_same_documents_and_seed_give_the_same_scopes() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 16)).astype(np.float32)

    assert discover(of_vectors(vectors), seed=7) == discover(of_vectors(vectors), seed=7)


def test_the_example_is_nearest_to_the_centroid() -> None:
    angles = np.radians([0, 10, 30])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    # The centroid points to about 13 degrees.
    assert discover(of_vectors(vectors), k=1).scopes[0].example == "d1"


def test_scopes_come_by_their_number_of_documents() -> None:
    found = discover(documents([*BONDS[:1], *ROADS]), k=2)

    assert [len(scope.documents) for scope in found.scopes] == [3, 1]


@pytest.mark.parametrize("k", [None, 1, 5])
def test_one_document_is_one_scope(k: int | None) -> None:
    found = discover(documents(["Asphalt paving."]), k=k)

    assert [scope.documents for scope in found.scopes] == [("d0",)]
    assert found.scopes[0].name == "asphalt-paving"


def test_no_more_scopes_than_different_documents() -> None:
    assert len(discover(documents(ROADS), k=10).scopes) == 3
    assert len(discover(documents(ROADS[:1] * 6), k=3).scopes) == 1
    assert len(discover(documents(ROADS[:1] * 6)).scopes) == 1


def test_a_document_whose_vectors_cancel_out_is_left_out() -> None:
    vectors = np.array([[1, 0], [0, 0], [0, 1]], np.float32)

    found = discover(of_vectors(vectors), k=2)

    assert found.left_out == ("d1",)
    assert sorted(found.assignment) == ["d0", "d2"]
    assert discover(of_vectors(np.zeros((2, 3), np.float32))).scopes == ()


def test_documents_without_words_get_a_name_all_the_same() -> None:
    found = discover(documents(["1 2 3", "4 5 6 and the"]), k=2)

    assert [scope.name for scope in found.scopes] == ["scope-1", "scope-2"]
    assert [scope.terms for scope in found.scopes] == [(), ()]


def test_stop_words_numbers_and_addresses_name_nothing() -> None:
    text = "The 42 rules of https://example.gov/policy about 2024 are in the certificate."

    (scope,) = discover(documents([text]), k=1).scopes

    assert set(" ".join(scope.terms).split()) == {"rules", "certificate"}


def test_a_number_of_scopes_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        discover(documents(ROADS), k=0)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1.0])] * 3), min_size=1, max_size=12),
    st.one_of(st.none(), st.integers(1, 15)),
)
def test_every_document_is_in_one_scope_or_left_out(
    rows: list[tuple[float, ...]], k: int | None
) -> None:
    found = discover(of_vectors(np.array(rows, np.float32)), k=k)

    placed = [id for scope in found.scopes for id in scope.documents]
    assert sorted([*placed, *found.left_out]) == sorted(f"d{n}" for n in range(len(rows)))
    assert len({scope.name for scope in found.scopes}) == len(found.scopes)
    assert len(found.scopes) <= (k or 30)
    assert all(scope.example in scope.documents for scope in found.scopes)


def test_means_are_of_unit_length_and_in_the_order_asked_for() -> None:
    store = MemoryStore()
    items = [make_document(name, f"{name} one", f"{name} two") for name in ("a", "b", "c")]
    store.write(items)
    ids = [items[2].document.id, items[0].document.id]

    means = mean_vectors(store.chunks("default"), ids)

    total = items[2].vectors.sum(axis=0)
    np.testing.assert_allclose(means[0], total / np.linalg.norm(total), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), [1, 1], atol=1e-6)


def test_purity_is_the_share_of_the_most_frequent_label_of_each_cluster() -> None:
    labels = ["a", "a", "b", "b", "b", "c"]
    clusters = [0, 0, 0, 1, 1, 1]

    # Two of three are a in the first cluster, two of three are b in the second.
    assert purity(labels, clusters) == (2 + 2) / 6
    # With weights: a 1 + 1 against b 5; b 1 + 1 against c 3.
    assert purity(labels, clusters, [1, 1, 5, 1, 1, 3]) == (5 + 3) / 12
    assert purity([], []) == 1.0


def test_nmi_is_twice_the_shared_information_over_both_entropies() -> None:
    labels, clusters = ["a", "a", "b", "b"], [0, 0, 0, 1]
    shared = (
        2 / 4 * math.log((2 / 4) / (3 / 4 * 2 / 4))
        + 1 / 4 * math.log((1 / 4) / (3 / 4 * 2 / 4))
        + 1 / 4 * math.log((1 / 4) / (1 / 4 * 2 / 4))
    )
    entropies = math.log(2) - (3 / 4 * math.log(3 / 4) + 1 / 4 * math.log(1 / 4))

    assert nmi(labels, clusters) == pytest.approx(2 * shared / entropies)
    assert nmi(labels, [1, 1, 0, 0]) == pytest.approx(1.0)
    assert nmi([], []) == 1.0


def test_a_term_tells_of_a_class_by_its_share_there_and_its_rarity_elsewhere() -> None:
    first, second = class_tfidf([{"bond": 3, "page": 1}, {"road": 1, "page": 1}])

    mean = (4 + 2) / 2
    assert first["bond"] == pytest.approx(math.sqrt(3 / 4) * math.log(1 + mean / 3))
    assert first["page"] == pytest.approx(math.sqrt(1 / 4) * math.log(1 + mean / 2))
    assert second["road"] == pytest.approx(math.sqrt(1 / 2) * math.log(1 + mean / 1))


def test_names_say_each_word_once_and_differ() -> None:
    policy = ("certificate policy", "policies", "certificate", "issuance", "key")

    assert scope_names([policy]) == ["certificate-policy-issuance"]
    assert scope_names([policy, policy, policy]) == [
        "certificate-policy-issuance",
        "certificate-policy-issuance-key",
        "certificate-policy-issuance-3",
    ]
    assert scope_names([(), ()]) == ["scope-1", "scope-2"]
