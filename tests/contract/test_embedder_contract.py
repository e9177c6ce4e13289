"""What every embedder must do; the same tests for the fake one and for the default model."""

import numpy as np
import pytest

from app import settings
from graph.ports import Embedder
from ingestion.embed import load_embedder
from tests.fakes import HashingEmbedder

TEXTS = [
    "The assurance level is chosen by the agency.",
    "Asphalt is laid hot, " * 100,
    "§ 401.4-2(b): Résumé, naïve, 中文 — “quoted”",
    "Rails",
]


@pytest.fixture(scope="module")
def model() -> Embedder:
    return load_embedder("all-MiniLM-L6-v2", settings.load().cache_dir, lambda message: None)


@pytest.fixture(params=["fake", "model"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "fake":
        return HashingEmbedder()
    found: Embedder = request.getfixturevalue("model")
    return found


def test_passages_become_unit_vectors_in_the_order_given(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)

    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert embedder.embed([text])[0] @ vector > 0.99999


def test_a_question_becomes_one_unit_vector(embedder: Embedder) -> None:
    vector = embedder.embed_query("Which assurance level?")

    assert vector.shape == (embedder.dimensions,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_a_question_is_nearest_to_the_passage_that_answers_it(embedder: Embedder) -> None:
    query = embedder.embed_query("who has chosen the assurance level of the agency")

    assert int(np.argmax(embedder.embed(TEXTS) @ query)) == 0


def test_no_passages_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_offsets_name_pieces_of_the_text_in_order_however_long_it_is(embedder: Embedder) -> None:
    text = " ".join(TEXTS) * 3

    offsets = embedder.token_offsets(text)

    assert len(offsets) > embedder.max_tokens
    assert all(0 <= start < end <= len(text) for start, end in offsets)
    assert offsets == sorted(offsets)
    covered = {position for start, end in offsets for position in range(start, end)}
    assert all(i in covered for i, character in enumerate(text) if character.isalnum())


def test_an_empty_text_has_no_tokens(embedder: Embedder) -> None:
    assert embedder.token_offsets("") == []


def test_the_model_reads_max_tokens_and_no_more(model: Embedder) -> None:
    words = ["road"] * (model.max_tokens + 50)
    full = model.embed([" ".join(words[: model.max_tokens])])[0]

    assert len(model.token_offsets(" ".join(words[: model.max_tokens]))) == model.max_tokens
    assert model.embed([" ".join(words)])[0] @ full > 0.99999
    assert model.embed([" ".join(words[: model.max_tokens - 1])])[0] @ full < 0.999999
    differing = [*words[: model.max_tokens - 1], "fish"]
    assert model.embed([" ".join(differing)])[0] @ full < 0.9999


def test_padding_does_not_change_a_vector(model: Embedder) -> None:
    short = model.embed(["Rails"])[0]

    assert model.embed(["Rails", "Asphalt is laid hot, " * 20])[0] @ short > 0.99999


def test_a_question_of_100_kilobytes_is_cut_not_refused(model: Embedder) -> None:
    assert np.isfinite(model.embed_query("what is asphalt? " * 6000)).all()
