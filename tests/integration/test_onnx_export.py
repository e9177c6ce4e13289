"""Exports small models with random weights: importing torch is what takes the time here."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from graph.errors import ConfigurationError, ModelError
from ingestion import onnx_export
from ingestion.embed import ModelEmbedder, load_embedder
from ingestion.model_files import find_model
from ingestion.onnx_model import OnnxModel
from ingestion.torch_model import TorchModel

TEXTS = ["Rails", "Asphalt is laid hot, " * 30, "Résumé 中文", "What is the Assurance Level?"]
PROMPTS = {"query": "question: ", "passage": "passage: "}


def make_model(folder: Path, pooling: str, *, normalized: bool, window: int = 64) -> Path:
    from transformers import BertConfig, BertModel, set_seed

    set_seed(7)
    config = BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(find_model("all-MiniLM-L6-v2") / name, folder / name)
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalized else [])]
    modules = [
        {
            "idx": n,
            "name": str(n),
            "path": f"{n}_{kind}" if n else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for n, kind in enumerate(kinds)
    ]
    pooling_config = {"word_embedding_dimension": 32, f"pooling_mode_{pooling}": True}
    if pooling != "mean_tokens":
        pooling_config["pooling_mode_mean_tokens"] = False
    for name, content in {
        "modules.json": modules,
        "1_Pooling/config.json": pooling_config,
        "sentence_bert_config.json": {"max_seq_length": window, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": PROMPTS},
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / "tiny", "cls_token", normalized=False)


@pytest.fixture(scope="module")
def cache_folder(model_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    load_embedder(str(model_folder), folder, lambda message: None)
    return folder


@pytest.fixture
def messages() -> list[str]:
    return []


def exported_folder(cache_folder: Path) -> Path:
    [folder] = (cache_folder / "models").iterdir()
    return folder


def assert_same_as_sentence_transformers(embedder: ModelEmbedder, folder: Path) -> None:
    reference = TorchModel(folder).model
    passages = reference.encode(TEXTS, prompt=PROMPTS["passage"], normalize_embeddings=True)
    query = reference.encode_query(TEXTS[3], normalize_embeddings=True)

    assert (embedder.embed(TEXTS) * np.asarray(passages)).sum(axis=1).min() > 0.9999
    assert embedder.embed_query(TEXTS[3]) @ np.asarray(query) > 0.9999


def test_prompts_and_cls_pooling_give_the_vectors_of_sentence_transformers(
    model_folder: Path, cache_folder: Path
) -> None:
    embedder = load_embedder(str(model_folder), cache_folder, print)

    assert (embedder.name, embedder.dimensions, embedder.max_tokens) == ("tiny", 32, 64 - 2 - 2)
    assert isinstance(embedder._model, OnnxModel)
    assert_same_as_sentence_transformers(embedder, model_folder)


def test_max_pooling_and_normalisation_are_exported_too(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny", "max_tokens", normalized=True, window=32)

    embedder = load_embedder(str(folder), tmp_path, lambda message: None)

    assert isinstance(embedder._model, OnnxModel)
    assert_same_as_sentence_transformers(embedder, folder)


def test_a_model_is_exported_once(
    model_folder: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    monkeypatch.setattr(onnx_export, "TorchModel", None)  # exporting again would fail

    load_embedder(str(model_folder), cache_folder, messages.append)

    assert messages == []


def test_a_broken_export_is_made_again_and_said(
    model_folder: Path, cache_folder: Path, messages: list[str]
) -> None:
    file = exported_folder(cache_folder) / "model.onnx"
    file.write_bytes(file.read_bytes()[:1000])

    embedder = load_embedder(str(model_folder), cache_folder, messages.append)

    assert "made again" in messages[0]
    assert np.isfinite(embedder.embed_query("a")).all()


def test_a_model_whose_export_differs_runs_through_sentence_transformers(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messages: list[str]
) -> None:
    def differ(*_: object) -> None:
        raise ModelError("it gives other vectors")

    monkeypatch.setattr(onnx_export, "check_same", differ)
    embedder = load_embedder(str(model_folder), tmp_path, messages.append)

    assert "it gives other vectors" in messages[-1]
    assert isinstance(embedder._model, TorchModel)
    assert_same_as_sentence_transformers(embedder, model_folder)
    assert (embedder.max_tokens, len(embedder.token_offsets("word " * 100))) == (60, 100)
    messages.clear()
    load_embedder(str(model_folder), tmp_path, messages.append)
    assert messages == []  # and is not exported again


def test_an_export_that_failed_leaves_no_part_behind(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(onnx_export, "check_same", interrupt)
    with pytest.raises(KeyboardInterrupt):
        onnx_export.export(model_folder, tmp_path / "models" / "target")

    assert list((tmp_path / "models").iterdir()) == []


def test_what_a_killed_export_left_is_removed_later(model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "old.partial").mkdir()
    (tmp_path / "new.partial").mkdir()
    os.utime(tmp_path / "old.partial", (0, 0))

    onnx_export.export(model_folder, tmp_path / "target")

    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.partial", "target"]


def test_a_folder_that_no_library_can_load_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")

    with pytest.raises(ConfigurationError, match="give another model"):
        load_embedder(str(tmp_path / "model"), tmp_path, lambda message: None)
