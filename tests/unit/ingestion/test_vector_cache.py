import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from graph.model import Vectors
from ingestion.vector_cache import VectorCache, embed_cached, open_cache
from tests.fakes import HashingEmbedder


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return super().embed(texts)


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def cache(tmp_path: Path, messages: list[str]) -> Iterator[VectorCache]:
    with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
        yield cache
    assert all("Vectors are not kept" not in message for message in messages)


def unit(seed: int, size: int = 256) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=size).astype(np.float32)
    return vector / np.linalg.norm(vector)


def test_a_vector_comes_back_bit_by_bit(cache: VectorCache) -> None:
    cache.put({"a": unit(1), "b": unit(2)})

    found = cache.get(["a", "b", "c"])

    assert set(found) == {"a", "b"}
    assert np.array_equal(found["a"], unit(1))


def test_vectors_outlive_the_process(tmp_path: Path, messages: list[str]) -> None:
    for _ in range(2):
        with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
            known = cache.get(["a"])
            cache.put({"a": unit(1)})

    assert np.array_equal(known["a"], unit(1))
    assert messages == []


def test_another_model_does_not_see_the_vectors(cache: VectorCache, tmp_path: Path) -> None:
    cache.put({"a": unit(1)})
    other = HashingEmbedder()
    other.fingerprint = "other"

    with open_cache(tmp_path, other, print) as cache_of_other:
        assert cache_of_other.get(["a"]) == {}


def test_the_same_text_is_embedded_once(cache: VectorCache) -> None:
    embedder = CountingEmbedder()

    first = embed_cached(embedder, cache, {"a": "one", "b": "two"})
    second = embed_cached(embedder, cache, {"b": "two", "c": "three"})

    assert embedder.embedded == ["one", "two", "three"]
    assert np.array_equal(first["b"], second["b"])
    assert np.array_equal(second["c"], embedder.embed_query("three"))


@pytest.mark.parametrize(
    "blob", [b"", b"abc", b"\0" * 1024, b"\xff" * 1024, unit(1, 255).tobytes()]
)
def test_a_damaged_vector_counts_as_unknown(
    cache: VectorCache, tmp_path: Path, blob: bytes
) -> None:
    cache.put({"a": unit(1)})
    with closing(sqlite3.connect(tmp_path / "vectors.sqlite3")) as connection, connection:
        connection.execute("UPDATE vectors SET vector = ?", (blob,))

    assert cache.get(["a"]) == {}


def test_a_broken_file_is_made_anew_and_said(tmp_path: Path, messages: list[str]) -> None:
    (tmp_path / "vectors.sqlite3").write_bytes(b"this is no database" * 100)

    with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
        cache.put({"a": unit(1)})
        assert set(cache.get(["a"])) == {"a"}

    assert len(messages) == 1
    assert "made anew" in messages[0]


def test_a_file_that_breaks_later_is_made_anew(tmp_path: Path, messages: list[str]) -> None:
    with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
        cache.put({f"{n}": unit(n) for n in range(50)})
    file = tmp_path / "vectors.sqlite3"
    file.write_bytes(file.read_bytes()[:4096] + b"\xa5" * 40_960)

    with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
        cache.get(["1"])
        cache.put({"a": unit(1)})
        assert set(cache.get(["a"])) == {"a"}

    assert "made anew" in messages[0]


def test_a_cache_that_cannot_be_written_is_said_and_done_without(
    tmp_path: Path, messages: list[str]
) -> None:
    (tmp_path / "file").write_text("where the folder should be")

    with open_cache(tmp_path / "file", HashingEmbedder(), messages.append) as cache:
        vectors = embed_cached(HashingEmbedder(), cache, {"a": "one"})

    assert set(vectors) == {"a"}
    assert len(messages) == 1
    assert "set another cache folder" in messages[0]


def test_pruning_drops_the_oldest_vectors(cache: VectorCache) -> None:
    for n in range(200):
        cache.put({f"{n}": unit(n)})

    dropped = cache.prune(max_bytes=100_000)

    kept = {int(name) for name in cache.get(f"{n}" for n in range(200))}
    assert kept == set(range(dropped, 200))
    assert 30 < len(kept) < 100


def test_several_writers_at_once_lose_nothing(tmp_path: Path, messages: list[str]) -> None:
    def write(writer: int) -> None:
        with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
            for n in range(20):
                cache.put({f"{writer}-{n}": unit(n)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))

    with open_cache(tmp_path, HashingEmbedder(), messages.append) as cache:
        assert len(cache.get(f"{writer}-{n}" for writer in range(4) for n in range(20))) == 80
    assert messages == []
