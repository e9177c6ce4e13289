"""OpenVINO beside ONNX Runtime, with the default model; skipped where it cannot be faster."""

from pathlib import Path

import numpy as np
import pytest

from app import settings
from ingestion import openvino_model
from ingestion.embed import EXPORT_VERSION, ModelEmbedder, load_embedder
from ingestion.onnx_model import OnnxModel
from ingestion.openvino_model import OpenVinoSession, faster_model

TEXTS = [
    "Rails",
    "Asphalt is laid hot, " * 100,
    "§ 401.4-2(b): Résumé, naïve, 中文 — “quoted”, $1,234.50",
    "SECTION 203 - EXCAVATION AND EMBANKMENT. 203.01 Description: This work consists of hauling.",
    *(f"Table {n} | {n * 37} | {n / 7:.3f}" for n in range(40)),
]


@pytest.fixture(scope="module")
def plain() -> ModelEmbedder:
    return load_embedder("all-MiniLM-L6-v2", settings.load().cache_dir, print)


@pytest.fixture(scope="module")
def bulk() -> ModelEmbedder:
    openvino = pytest.importorskip("openvino")
    if "BF16" not in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        pytest.skip("the processor has no instructions for bfloat16")
    return load_embedder("all-MiniLM-L6-v2", settings.load().cache_dir, print, bulk=True)


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def folder(plain: ModelEmbedder) -> Path:
    name = f"{plain.fingerprint[:32]}-{EXPORT_VERSION}"
    return settings.load().cache_dir / "models" / name


def test_passages_get_the_vectors_of_onnx_runtime(
    plain: ModelEmbedder, bulk: ModelEmbedder
) -> None:
    cosines = (plain.embed(TEXTS) * bulk.embed(TEXTS)).sum(axis=1)

    assert isinstance(bulk._passages, OnnxModel)
    assert isinstance(bulk._passages._session, OpenVinoSession)
    assert cosines.min() > 0.999


def test_both_have_one_fingerprint_and_questions_the_same_vector(
    plain: ModelEmbedder, bulk: ModelEmbedder
) -> None:
    assert bulk.fingerprint == plain.fingerprint
    assert np.array_equal(bulk.embed_query(TEXTS[3]), plain.embed_query(TEXTS[3]))


def test_a_vector_is_the_same_again(bulk: ModelEmbedder) -> None:
    assert np.array_equal(bulk.embed(TEXTS), bulk.embed(TEXTS))


def test_a_question_alone_does_not_load_it(bulk: ModelEmbedder) -> None:
    fresh = load_embedder("all-MiniLM-L6-v2", settings.load().cache_dir, print, bulk=True)

    fresh.embed_query("Which rails?")

    assert "_passages" not in vars(fresh)


@pytest.mark.usefixtures("bulk")
def test_vectors_that_differ_are_not_used_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, messages: list[str], folder: Path
) -> None:
    model = OnnxModel(folder)
    monkeypatch.setattr(openvino_model, "MIN_COSINE", 1.1)

    assert faster_model(folder, model, messages.append) is model
    assert "other vectors" in messages[0]


def test_a_model_that_openvino_cannot_run_is_run_by_onnx_runtime_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, messages: list[str], folder: Path
) -> None:
    def fail(_: Path) -> None:
        raise RuntimeError("unsupported operation")

    monkeypatch.setattr(openvino_model, "_session", fail)
    monkeypatch.setattr(openvino_model, "find_spec", lambda name: name)
    model = OnnxModel(folder)

    assert faster_model(folder, model, messages.append) is model
    assert "unsupported operation" in messages[0]


@pytest.mark.parametrize("missing", ["library", "instructions"])
def test_without_openvino_or_bfloat16_onnx_runtime_embeds_and_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, messages: list[str], folder: Path, missing: str
) -> None:
    if missing == "library":
        monkeypatch.setattr(openvino_model, "find_spec", lambda name: None)
    else:
        monkeypatch.setattr(openvino_model, "find_spec", lambda name: name)
        monkeypatch.setattr(openvino_model, "_session", lambda file: None)
    model = OnnxModel(folder)

    assert faster_model(folder, model, messages.append) is model
    assert messages == []
