import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from graph.errors import ConfigurationError, ModelError
from graph.model import Vectors
from ingestion.embed import ModelEmbedder, unit_vectors
from ingestion.model_files import EncoderConfig, find_model, fingerprint
from ingestion.onnx_export import check_same
from ingestion.onnx_model import OnnxModel, batches_by_length


class LengthModel:
    """Gives each text the vector (its length, 1), and keeps what it was given."""

    def __init__(self, query_prompt: str = "", passage_prompt: str = "", window: int = 16) -> None:
        self.config = EncoderConfig(2, window, query_prompt, passage_prompt)
        self.tokenizer = Tokenizer(WordLevel({"?": 0, "[C]": 1, "[S]": 2}, unk_token="?"))
        self.tokenizer.pre_tokenizer = Whitespace()
        self.tokenizer.post_processor = TemplateProcessing(
            single="[C] $A [S]", special_tokens=[("[C]", 1), ("[S]", 2)]
        )
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.seen += texts
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def embedder(model: LengthModel) -> ModelEmbedder:
    return ModelEmbedder(model, "lengths", "v1")


def test_vectors_get_unit_length_and_keep_their_direction() -> None:
    vectors = embedder(LengthModel()).embed(["four", "a"])

    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[0] / vectors[0][1], [4, 1])
    assert vectors.dtype == np.float32


def test_questions_and_passages_get_their_own_prompts() -> None:
    model = LengthModel(query_prompt="query: ", passage_prompt="passage: ")

    embedder(model).embed(["one"])
    embedder(model).embed_query("two")

    assert model.seen == ["passage: one", "query: two"]


def test_special_tokens_and_the_prompt_take_room_from_the_passage() -> None:
    assert embedder(LengthModel(window=16)).max_tokens == 14
    assert embedder(LengthModel(window=16, passage_prompt="two words ")).max_tokens == 12


def test_a_prompt_that_fills_the_window_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="use another model"):
        embedder(LengthModel(window=4, passage_prompt="one two three"))


def test_offsets_cover_a_text_far_longer_than_the_window() -> None:
    offsets = embedder(LengthModel(window=16)).token_offsets("word " * 100)

    assert len(offsets) == 100
    assert offsets[-1] == (495, 499)


def test_no_texts_give_no_vectors() -> None:
    assert embedder(LengthModel()).embed([]).shape == (0, 2)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_vector_that_is_not_finite_or_zero_is_an_error_that_names_the_text(value: float) -> None:
    vectors = np.array([[1, 0], [value, 0]], dtype=np.float32)

    with pytest.raises(ModelError, match="'the second text'"):
        unit_vectors(vectors, ["the first text", "the second text"], 2)


def test_only_the_beginning_of_a_long_text_is_named() -> None:
    with pytest.raises(ModelError) as raised:
        unit_vectors(np.zeros((1, 2), np.float32), ["begins " + "x" * 10_000], 2)

    assert "begins" in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (2,)])
def test_vectors_of_another_size_are_an_error(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="shape"):
        unit_vectors(np.ones(shape, np.float32), ["a", "b"], 2)


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 600))
def test_batches_hold_each_row_once_and_keep_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(batches_by_length(lengths, budget))

    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= budget


@given(st.lists(st.integers(1, 300), max_size=60))
def test_batches_go_from_long_to_short_so_that_little_is_padding(lengths: list[int]) -> None:
    rows = [row for batch in batches_by_length(lengths, 512) for row in batch]

    assert [lengths[row] for row in rows] == sorted(lengths, reverse=True)


def test_an_exported_model_with_other_vectors_is_refused() -> None:
    reference = np.eye(3, dtype=np.float32)
    check_same(reference * 2, reference)

    with pytest.raises(ModelError, match="other vectors"):
        check_same(reference + np.float32(0.02), reference)
    with pytest.raises(ModelError, match="other vectors"):
        check_same(reference * np.float32(np.nan), reference)


def test_a_broken_exported_model_is_an_error_that_says_what_to_delete(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="delete the folder"):
        OnnxModel(tmp_path)


def make_model_folder(folder: Path, **changed: str) -> Path:
    files = {
        "modules.json": json.dumps([{"path": "", "type": "T"}, {"path": "1_Pooling", "type": "P"}]),
        "config.json": "{}",
        "tokenizer.json": "{}",
        "config_sentence_transformers.json": '{"prompts": {}}',
        "1_Pooling/config.json": '{"pooling_mode_mean_tokens": true}',
        "model.safetensors": "weights",
        "README.md": "about",
    }
    for name, content in (files | changed).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(
    "file",
    ["model.safetensors", "1_Pooling/config.json", "config_sentence_transformers.json"],
)
def test_the_fingerprint_changes_with_weights_pooling_and_prompts(
    tmp_path: Path, file: str
) -> None:
    one = make_model_folder(tmp_path / "one")
    other = make_model_folder(tmp_path / "other", **{file: '{"other": true}'})

    assert fingerprint(one) != fingerprint(other)


def test_the_fingerprint_does_not_depend_on_place_or_readme(tmp_path: Path) -> None:
    one = make_model_folder(tmp_path / "one")
    other = make_model_folder(tmp_path / "other", **{"README.md": "else", "onnx/a.onnx": "x"})

    assert fingerprint(one) == fingerprint(other)


def test_the_default_model_is_found_without_network() -> None:
    assert (find_model("all-MiniLM-L6-v2") / "model.safetensors").is_file()
    assert find_model("sentence-transformers/all-MiniLM-L6-v2") == find_model("all-MiniLM-L6-v2")


def test_a_path_that_does_not_exist_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="neither a folder nor the name"):
        find_model(str(tmp_path / "no" / "model"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no embedding model"):
        find_model(str(tmp_path))
