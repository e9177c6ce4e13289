import numpy as np
import pytest

from agents.memory import RememberingEmbedder
from graph.model import Vector, Vectors
from tests.fakes import HashingEmbedder


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: list[str]) -> Vectors:
        self.embedded += texts
        return super().embed(texts)

    def embed_query(self, text: str) -> Vector:
        return -super().embed_query(text)


def test_vectors_are_those_of_the_embedder_in_the_order_asked_for() -> None:
    memory = RememberingEmbedder(CountingEmbedder())
    memory.embed(["b"])

    assert np.array_equal(memory.embed(["a", "b", "a"]), HashingEmbedder().embed(["a", "b", "a"]))


def test_a_text_is_embedded_once() -> None:
    embedder = CountingEmbedder()
    memory = RememberingEmbedder(embedder)
    memory.embed(["a", "b", "a"])
    memory.embed(["b", "c"])

    assert embedder.embedded == ["a", "b", "c"]


def test_a_question_is_embedded_once_and_not_taken_for_a_passage() -> None:
    embedder = CountingEmbedder()
    memory = RememberingEmbedder(embedder)
    question = memory.embed_query("a")

    assert np.array_equal(memory.embed_query("a"), question)
    assert embedder.embedded == ["a"]
    assert np.array_equal(memory.embed(["a"])[0], -question)


def test_the_oldest_vectors_are_forgotten() -> None:
    embedder = CountingEmbedder()
    memory = RememberingEmbedder(embedder, capacity=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        memory.embed([text])

    assert embedder.embedded == ["a", "b", "c", "b"]


def test_nothing_gives_an_empty_batch() -> None:
    assert RememberingEmbedder(HashingEmbedder()).embed([]).shape == (0, 256)


def test_what_is_remembered_cannot_be_changed() -> None:
    vector = RememberingEmbedder(HashingEmbedder()).embed_query("a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 5


def test_it_describes_itself_as_the_embedder_does() -> None:
    memory = RememberingEmbedder(HashingEmbedder())

    assert (memory.name, memory.dimensions, memory.fingerprint) == ("hashing", 256, "hashing-256")
    assert memory.token_offsets("a b") == [(0, 1), (2, 3)]
