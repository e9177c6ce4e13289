"""The loading code for learned models, with tiny ones that are made and saved here."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
)

from graph.errors import ConfigurationError, ModelError
from router.cross_encoder import CrossEncoderModel
from router.late_interaction import LateInteraction, maxsim
from router.sparse import SparseModel

WORDS = ["bridge", "rail", "post", "height", "pension", "rule", "the", "of", "how", "high"]
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


def test_a_sparse_model_scores_texts_by_weighted_words(tmp_path: Path) -> None:
    model = SparseModel(save(BertForMaskedLM, tmp_path / "splade"))
    index = model.index(["bridge rail", "pension rule", "bridge rail"])

    scores = index.scores("bridge rail")

    assert scores.shape == (3,)
    assert scores[0] == pytest.approx(scores[2])
    expected = model.question("bridge rail") @ model.index(["pension rule"])._weights.T
    assert scores[1] == pytest.approx(float(expected.todense()[0, 0]), rel=1e-5)


def test_a_cross_encoder_scores_pairs(tmp_path: Path) -> None:
    model = CrossEncoderModel(save(BertForSequenceClassification, tmp_path / "cross", num_labels=1))

    scores = model.scores("how high", ["bridge rail", "pension rule", "bridge rail"])

    assert scores.shape == (3,)
    assert scores[0] == pytest.approx(scores[2], abs=1e-6)
    assert scores[0] != pytest.approx(scores[1], abs=1e-7)
    assert model.scores("how high", []).shape == (0,)


def test_a_cross_encoder_that_gives_no_number_is_an_error(tmp_path: Path) -> None:
    model = CrossEncoderModel(save(BertForSequenceClassification, tmp_path / "cross", num_labels=1))
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


class OnlyQuestions:
    def __init__(self, encoder: object) -> None:
        self.encoder = encoder

    def encode(self, texts: list[str], *, question: bool) -> object:
        assert question
        return self.encoder.encode(texts, question=True)  # type: ignore[attr-defined]


def test_maxsim_sums_the_best_cosine_of_each_word() -> None:
    question = np.array([[1, 0], [0, 1]], np.float32)
    passage = np.array([[0.6, 0.8], [-1, 0]], np.float32)

    # max(.6, -1) + max(.8, 0)
    assert maxsim(question, passage) == pytest.approx(1.4)
    assert maxsim(question, np.empty((0, 2), np.float32)) == 0
