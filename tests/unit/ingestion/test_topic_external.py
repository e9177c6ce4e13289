"""Topics that were made elsewhere: what is read, and what is refused."""

import json
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from graph.errors import UsageError
from graph.model import Filter
from ingestion.topic_external import export_chunks, nearest_temperature, read_external
from ingestion.topic_fit import FitOptions, fit
from ingestion.topic_kmeans import softmax_theta
from ingestion.topic_models import load
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
TEXTS = ("certificate keys", "culvert pipe", "payroll wages")
THETA = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])


@contextmanager
def quiet(what: str):
    yield lambda done, total: None


def filled() -> tuple[MemoryStore, list[str]]:
    item = make_document("doc", *TEXTS)
    store = MemoryStore()
    store.write([item])
    return store, [chunk.id for chunk in item.chunks]


def make_files(folder: Path, ids: list[str], theta: object = THETA, **more: object) -> Path:
    file = folder / "found.npz"
    centroids = {"centroids": more.pop("centroids")} if "centroids" in more else {}
    np.savez(file, theta=np.asarray(theta), **centroids)  # type: ignore[arg-type]
    described = {"source": "CEMTM", "chunk_ids": ids, "terms": [["keys"], ["pipe", "culvert"]]}
    file.with_suffix(".json").write_text(json.dumps(described | more))
    return file


def fitted(store: MemoryStore, file: Path):
    options = FitOptions(model="external", file=file)
    return fit(store, EMBEDDER.fingerprint, Filter(), options, quiet)


def test_chunks_keep_the_theta_of_the_file_and_new_text_gets_one_by_the_centroids(
    tmp_path: Path,
) -> None:
    store, ids = filled()

    model = fitted(store, make_files(tmp_path, ids)).model

    for id, theta in zip(ids, THETA, strict=True):
        assert store.theta[id][0] == pytest.approx(theta, abs=1e-6)
    assert model.terms == (("keys",), ("pipe", "culvert"))
    assert model.labels == ("keys", "pipe-culvert")
    assert json.loads(model.summary)["source"] == "CEMTM"
    theta = load(model, EMBEDDER.fingerprint).theta(EMBEDDER.embed(["Part 1\n" + TEXTS[0]]), [""])
    assert theta[0, 0] > 0.5


def test_chunks_that_the_file_leaves_out_get_theta_by_the_centroids(tmp_path: Path) -> None:
    store, ids = filled()
    file = make_files(tmp_path, ids[:2], THETA[:2], centroids=np.eye(2, EMBEDDER.dimensions) * 3)

    found = fitted(store, file)

    assert found.written == 3
    assert np.array_equal(found.model.centroids, np.eye(2, EMBEDDER.dimensions, dtype=np.float32))
    assert store.theta[ids[2]][0].sum() == pytest.approx(1)


def test_the_temperature_is_the_one_nearest_to_the_given_theta() -> None:
    drawn = np.random.default_rng(0)
    vectors, centroids = np.float32(drawn.normal(size=(50, 6))), np.eye(3, 6, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    found = nearest_temperature(softmax_theta(vectors, centroids, 0.15), vectors, centroids)

    assert found == 0.15


@pytest.mark.parametrize(
    ("theta", "more", "says"),
    [
        (THETA[:2], {}, r"shape \(2, 2\), but there are 3 chunk ids"),
        (THETA[:, 0], {}, r"shape \(3,\)"),
        (THETA * 2, {}, "row 0 of theta is no distribution"),
        (THETA - [[0, 0], [0, 0], [0.6, -0.6]], {}, "row 2 of theta is no distribution"),
        (THETA * np.nan, {}, "not finite"),
        (np.array([["a", "b"]] * 3), {}, "no numbers"),
        (THETA, {"terms": [["keys"]]}, "2 topics, but there are 1 terms"),
        (THETA, {"labels": ["a"]}, "2 topics, but there are 1 labels"),
        (THETA, {"labels": ["a", "a"]}, "the same label"),
        (THETA, {"terms": "keys"}, "terms"),
        (THETA, {"extra": 1}, "extra"),
        (THETA, {"centroids": np.ones((3, 4))}, "but there are 2 topics"),
        (THETA, {"centroids": np.zeros((2, 4))}, "a centroid is zero"),
        (THETA, {"centroids": np.ones((2, 4))}, "4 dimensions and the collection's vectors 256"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    tmp_path: Path, theta: np.ndarray, more: dict[str, object], says: str
) -> None:
    store, ids = filled()
    file = make_files(tmp_path, ids, theta, **more)

    with pytest.raises(UsageError, match=says):
        fitted(store, file)

    assert store.topics == store.theta == {}


def test_unknown_and_repeated_chunks_are_refused(tmp_path: Path) -> None:
    store, ids = filled()

    with pytest.raises(UsageError, match="1 of its 3 chunk ids are not in the collection"):
        fitted(store, make_files(tmp_path, [*ids[:2], "unknown"]))
    with pytest.raises(UsageError, match="there twice"):
        fitted(store, make_files(tmp_path, [*ids[:2], ids[0]]))


def test_files_that_are_missing_or_broken_are_told(tmp_path: Path) -> None:
    store, ids = filled()
    file = make_files(tmp_path, ids)

    with pytest.raises(UsageError, match="There is no file"):
        read_external(tmp_path / "none.npz")
    with pytest.raises(UsageError, match="need --file"):
        fit(store, "", Filter(), FitOptions(model="external"), quiet)
    file.with_suffix(".json").write_text("{")
    with pytest.raises(UsageError, match="no JSON"):
        read_external(file)
    file.with_suffix(".json").unlink()
    with pytest.raises(UsageError, match="There is no file"):
        read_external(file)
    for broken in (b"", b"PK\x03\x04 broken", b"\x80\x04N."):
        file.write_bytes(broken)
        with pytest.raises(UsageError, match="no npz"):
            read_external(file)
    np.savez(file, other=np.ones(2))
    make_files(tmp_path, ids)
    np.savez(file, other=np.ones(2))
    with pytest.raises(UsageError, match="no array 'theta', only other"):
        read_external(file)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    _, ids = filled()
    file = make_files(tmp_path, ids)
    np.savez(file, theta=np.array([{"a": 1}], dtype=object))

    with pytest.raises(UsageError, match="pickles"):
        read_external(file)


def test_what_is_exported_is_what_a_model_is_fitted_on(tmp_path: Path) -> None:
    store, ids = filled()
    store.write([make_document("memo", "merger talks", audience="staff")])
    file = tmp_path / "chunks.npz"

    written = export_chunks(store, Filter(), file, lambda done, total: None)

    with np.load(file, allow_pickle=False) as arrays:
        assert arrays["chunk_ids"].tolist() == ids
        assert arrays["texts"].tolist() == list(TEXTS)
        assert arrays["vectors"].shape == (3, EMBEDDER.dimensions)
    assert written == 3
    with pytest.raises(UsageError, match="no chunks"):
        export_chunks(store, Filter(collection="none"), file, lambda done, total: None)
