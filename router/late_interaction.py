"""Late interaction: every word of the question finds its nearest word in the passage.

ColBERT, Khattab and Zaharia, SIGIR 2020.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError, ModelError
from graph.fold import fold
from graph.model import Vectors
from router.checkpoint import silence

SETTING = "MILEPOST_LATE_INTERACTION_MODEL"

MOST_BYTES = 512 * 1024**2
"""Token vectors that are remembered, in float16: some 4,000 passages of 160 word pieces."""

BATCH = 16


def maxsim(question: Vectors, passage: Vectors) -> float:
    """Return the sum over the question's tokens of the highest cosine with any of the passage's.

    Args:
        question: Shape (m, d), rows of unit length.
        passage: Shape (n, d), rows of unit length; without rows the score is 0.
    """
    if not len(question) or not len(passage):
        return 0.0
    return float((question @ passage.T).max(axis=1).sum())


class LateInteraction:
    """Scores passages with the token vectors of a sentence-transformers model.

    A model trained for it (MultiVectorEncoder, PyLate or Stanford's ColBERT) is used as such; of
    any other encoder the vectors of the word pieces are taken, special ones left out. Safe to use
    from several threads.
    """

    def __init__(self, folder: Path) -> None:
        """Load the model, without network.

        Raises:
            ConfigurationError: The folder holds no model that can be loaded.
        """
        self._encoder = _load(folder)
        self._known: OrderedDict[bytes, NDArray[np.float16]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the question's score with each text, shape (n,).

        Raises:
            ModelError: A score is not finite.
        """
        (asked,) = self._encoder.encode([fold(question)], question=True)
        vectors = self._vectors(texts)
        scores = np.array([maxsim(asked, one.astype(np.float32)) for one in vectors], np.float32)
        if not np.isfinite(scores).all():
            raise ModelError("The model gave a token vector that is not finite. Use another.")
        return scores

    def _vectors(self, texts: Sequence[str]) -> list[NDArray[np.float16]]:
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        missing = {key: t for key, t in zip(keys, texts, strict=True) if key not in found}
        if missing:
            made = self._encoder.encode(list(missing.values()), question=False)
            new = {key: v.astype(np.float16) for key, v in zip(missing, made, strict=True)}
            found |= new
            self._remember(new)
        return [found[key] for key in keys]

    def _remember(self, new: dict[bytes, NDArray[np.float16]]) -> None:
        with self._lock:
            for key, vectors in new.items():
                if key not in self._known:
                    self._known[key] = vectors
                    self._bytes += vectors.nbytes
            while self._bytes > MOST_BYTES and len(self._known) > 1:
                _, oldest = self._known.popitem(last=False)
                self._bytes -= oldest.nbytes


class _Tokens:
    """Token vectors of an encoder that was trained for whole texts."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._special = {int(id) for id in model.tokenizer.all_special_ids}

    def encode(self, texts: Sequence[str], *, question: bool) -> list[Vectors]:
        found: list[Any] = self._model.encode(
            list(texts),
            output_value=None,
            batch_size=BATCH,
            show_progress_bar=False,
            normalize_embeddings=False,
        )
        return [self._units(one) for one in found]

    def _units(self, one: Any) -> Vectors:
        ids = one["input_ids"].tolist()
        vectors = np.asarray(one["token_embeddings"].cpu().numpy(), np.float32)
        kept = [place for place, id in enumerate(ids) if id not in self._special]
        return _unit(vectors[: len(ids)][kept])


class _MultiVector:
    """Token vectors of an encoder that was trained for late interaction."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, texts: Sequence[str], *, question: bool) -> list[Vectors]:
        encode = self._model.encode_query if question else self._model.encode_document
        found: Any = encode(list(texts), batch_size=BATCH, show_progress_bar=False)
        return [_unit(np.asarray(one, np.float32)) for one in found]


def _load(folder: Path) -> _Tokens | _MultiVector:
    from safetensors import SafetensorError
    from sentence_transformers import MultiVectorEncoder, SentenceTransformer

    silence()
    try:
        if _is_multi_vector(folder):
            return _MultiVector(
                MultiVectorEncoder(str(folder), device="cpu", local_files_only=True)
            )
        model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        if not hasattr(model.tokenizer, "all_special_ids"):
            raise ValueError("it has no vectors of tokens in their context")
        return _Tokens(model)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise ConfigurationError(
            f"The folder {folder} holds no model that sentence-transformers can load ({error}). "
            f"Give another with {SETTING}."
        ) from error


def _is_multi_vector(folder: Path) -> bool:
    """Tell a model of MultiVectorEncoder, PyLate or Stanford's ColBERT from any other.

    An encoder for whole texts would be given a projection of chance by MultiVectorEncoder, and
    those of ColBERT would lose theirs in SentenceTransformer.
    """
    kind = _read(folder / "config_sentence_transformers.json").get("model_type")
    if kind is not None:
        return kind in ("MultiVectorEncoder", "ColBERT")
    return "HF_ColBERT" in (_read(folder / "config.json").get("architectures") or [])


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
