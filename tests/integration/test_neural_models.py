"""The loading code for learned models, with tiny ones that are made and saved here."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder, MultiVectorEncoder, SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding, Transformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
)

from graph.errors import ConfigurationError, ModelError
from router import late_interaction
from router.cross_encoder import ANSWER, FOREIGN, KNOWN, CrossEncoderModel
from router.late_interaction import LateInteraction, maxsim
from router.sparse import SparseModel

WORDS = ["bridge", "rail", "post", "height", "pension", "rule", "the", "of", "how", "high"]
WORDS += ["paris", "france", "capital", "asphalt", "layers"]
VOCABULARY = {
    word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
}


def save_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordPiece(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    ).save_pretrained(folder)


def save(kind: type, folder: Path, **config: object) -> Path:
    torch.manual_seed(0)
    settings = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        **config,
    )
    kind(settings).save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def save_cross(folder: Path, head: float = 1.0) -> Path:
    """A cross-encoder that ranks the known pair right, its head multiplied by a number."""
    save(BertForSequenceClassification, folder, num_labels=1)
    model = CrossEncoder(str(folder), device="cpu")
    answer, foreign = model.predict([(KNOWN, ANSWER), (KNOWN, FOREIGN)])
    weights = load_file(folder / "model.safetensors")
    factor = head if answer > foreign else -head
    weights |= {name: factor * w for name, w in weights.items() if name.startswith("classifier")}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.mark.parametrize("head", [0.0, -1.0])
def test_a_cross_encoder_that_cannot_tell_paris_from_asphalt_is_refused(
    tmp_path: Path, head: float
) -> None:
    with pytest.raises(ConfigurationError, match="does not rank"):
        CrossEncoderModel(save_cross(tmp_path / "cross", head))


def test_a_sparse_model_scores_texts_by_weighted_words(tmp_path: Path) -> None:
    model = SparseModel(save(BertForMaskedLM, tmp_path / "splade"))
    index = model.index(["bridge rail", "pension rule", "bridge rail"])

    scores = index.scores("bridge rail")

    assert scores.shape == (3,)
    assert scores[0] == pytest.approx(scores[2])
    expected = model.question("bridge rail") @ model.index(["pension rule"])._weights.T
    assert scores[1] == pytest.approx(float(expected.todense()[0, 0]), rel=1e-5)


def test_a_sparse_index_without_texts_has_no_scores(tmp_path: Path) -> None:
    model = SparseModel(save(BertForMaskedLM, tmp_path / "splade"))

    assert model.index([]).scores("bridge").shape == (0,)


def test_half_a_character_in_a_question_changes_nothing(tmp_path: Path) -> None:
    sparse = SparseModel(save(BertForMaskedLM, tmp_path / "splade")).index(["bridge rail"])
    late = LateInteraction(make_encoder(tmp_path))
    cross = CrossEncoderModel(save_cross(tmp_path / "cross"))

    assert sparse.scores("rail \ud800") == pytest.approx(sparse.scores("rail "))
    for model in (late, cross):
        broken, whole = (model.scores(q, ["bridge rail"]) for q in ("rail \ud800", "rail "))
        assert broken == pytest.approx(whole)


def test_a_cross_encoder_scores_pairs(tmp_path: Path) -> None:
    model = CrossEncoderModel(save_cross(tmp_path / "cross"))

    scores = model.scores("how high", ["bridge rail", "pension rule", "bridge rail"])

    assert scores.shape == (3,)
    assert scores[0] == pytest.approx(scores[2], abs=1e-6)
    assert scores[0] != pytest.approx(scores[1], abs=1e-7)
    assert model.scores("how high", []).shape == (0,)


def test_a_cross_encoder_that_gives_no_number_is_an_error(tmp_path: Path) -> None:
    model = CrossEncoderModel(save_cross(tmp_path / "cross"))
    with torch.no_grad():
        model._model.model.classifier.bias.fill_(float("nan"))

    with pytest.raises(ModelError, match="not finite"):
        model.scores("how high", ["bridge rail"])


def test_a_model_without_the_head_it_needs_is_refused_instead_of_filled_with_chance(
    tmp_path: Path,
) -> None:
    plain = save(BertModel, tmp_path / "plain")

    with pytest.raises(ConfigurationError, match="MILEPOST_CROSS_ENCODER_MODEL"):
        CrossEncoderModel(plain)
    with pytest.raises(ConfigurationError, match="MILEPOST_SPARSE_MODEL"):
        SparseModel(plain)


def test_a_classifier_with_several_outputs_is_no_reranker(tmp_path: Path) -> None:
    folder = save(BertForSequenceClassification, tmp_path / "three", num_labels=3)

    with pytest.raises(ConfigurationError, match="3 values"):
        CrossEncoderModel(folder)


@pytest.mark.parametrize("load", [SparseModel, CrossEncoderModel, LateInteraction])
def test_a_folder_without_model_says_which_setting_named_it(tmp_path: Path, load: type) -> None:
    with pytest.raises(ConfigurationError, match="MILEPOST_"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (SparseModel, BertForMaskedLM),
        (CrossEncoderModel, BertForSequenceClassification),
        (LateInteraction, BertModel),
    ],
)
def test_weights_that_were_cut_short_say_which_setting_named_them(
    tmp_path: Path, load: type, kind: type
) -> None:
    folder = save(kind, tmp_path / "cut")
    (folder / "model.safetensors").write_bytes(b"cut")

    with pytest.raises(ConfigurationError, match="MILEPOST_"):
        load(folder)


def make_encoder(tmp_path: Path) -> Path:
    plain, folder = save(BertModel, tmp_path / "plain"), tmp_path / "encoder"
    transformer = Transformer(str(plain))
    pooling = Pooling(transformer.get_embedding_dimension())
    SentenceTransformer(modules=[transformer, pooling], device="cpu").save(str(folder))
    return folder


def test_late_interaction_takes_token_vectors_of_any_encoder(tmp_path: Path) -> None:
    model = LateInteraction(make_encoder(tmp_path))

    scores = model.scores("bridge rail", ["bridge rail", "pension", "", "bridge rail post height"])

    # Each of the two words finds itself, and nothing is nearer; float16 rounds.
    assert scores[0] == pytest.approx(2.0, abs=5e-3)
    assert scores[1] < scores[0]
    assert scores[2] == 0


def test_token_vectors_are_made_once(tmp_path: Path) -> None:
    model = LateInteraction(make_encoder(tmp_path))
    first = model.scores("bridge", ["rail post", "pension"])
    model._encoder = OnlyQuestions(model._encoder)  # type: ignore[assignment]

    assert model.scores("bridge", ["pension", "rail post"]).tolist() == first[::-1].tolist()


def test_the_texts_that_were_not_asked_for_longest_are_forgotten_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One word of 32 float16 numbers is 64 bytes: two texts fit.
    monkeypatch.setattr(late_interaction, "MOST_BYTES", 128)
    model = LateInteraction(make_encoder(tmp_path))
    for text in ("bridge", "rail", "bridge", "post"):
        model.scores("how", [text])

    assert model._bytes == 128
    model._encoder = OnlyQuestions(model._encoder)  # type: ignore[assignment]
    model.scores("how", ["bridge", "post"])
    with pytest.raises(AssertionError):
        model.scores("how", ["rail"])


class OnlyQuestions:
    def __init__(self, encoder: object) -> None:
        self.encoder = encoder

    def encode(self, texts: list[str], *, question: bool) -> object:
        assert question
        return self.encoder.encode(texts, question=True)  # type: ignore[attr-defined]


def test_a_token_vector_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    model = LateInteraction(make_encoder(tmp_path))
    with torch.no_grad():
        model._encoder._model[0].model.embeddings.LayerNorm.bias.fill_(float("nan"))

    with pytest.raises(ModelError, match="not finite"):
        model.scores("bridge", ["rail"])


def test_a_model_trained_for_late_interaction_keeps_its_projection(tmp_path: Path) -> None:
    plain, folder = save(BertModel, tmp_path / "plain"), tmp_path / "multi"
    saved = MultiVectorEncoder(str(plain), device="cpu", local_files_only=True)
    saved.save(str(folder))

    model = LateInteraction(folder)

    texts = ["bridge rail", "pension"]
    expected = saved.similarity(saved.encode_query(["rail post"]), saved.encode_document(texts))
    assert model.scores("rail post", texts) == pytest.approx(expected[0].numpy(), abs=5e-3)


def test_the_projection_of_stanfords_colbert_is_used(tmp_path: Path) -> None:
    folder = save(BertModel, tmp_path / "colbert")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["HF_ColBERT"]}))
    weights = {f"bert.{k}": v for k, v in load_file(folder / "model.safetensors").items()}
    weights["linear.weight"] = torch.eye(16, 32)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    model = LateInteraction(folder)

    (vectors,) = model._encoder.encode(["bridge rail"], question=False)
    assert vectors.shape[1] == 16


def test_word_vectors_without_context_are_refused(tmp_path: Path) -> None:
    save_tokenizer(tmp_path / "words")
    tokenizer = Tokenizer.from_file(str(tmp_path / "words" / "tokenizer.json"))
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu")
    model.save(str(tmp_path / "static"))

    with pytest.raises(ConfigurationError, match="tokens in their context"):
        LateInteraction(tmp_path / "static")


def test_maxsim_sums_the_best_cosine_of_each_word() -> None:
    question = np.array([[1, 0], [0, 1]], np.float32)
    passage = np.array([[0.6, 0.8], [-1, 0]], np.float32)

    # max(.6, -1) + max(.8, 0)
    assert maxsim(question, passage) == pytest.approx(1.4)
    assert maxsim(question, np.empty((0, 2), np.float32)) == 0
