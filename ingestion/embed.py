"""The embedder: texts in, checked unit vectors out, whatever runs the model.

`load_embedder` uses ONNX Runtime, with a file exported once for each model, and falls back to
sentence-transformers for a model that cannot be exported. Where many passages are to be embedded,
OpenVINO does it, if it is installed and the processor can compute in bfloat16.
"""

import shutil
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from graph.errors import ConfigurationError, ModelError
from graph.model import Vector, Vectors
from ingestion.model_files import EncoderConfig, find_model, fingerprint
from ingestion.onnx_model import OnnxModel

if TYPE_CHECKING:
    from tokenizers import Tokenizer

EXPORT_VERSION = 1
"""To be raised when the same model would be exported to another file."""

_NOT_EXPORTABLE = "not_exportable.txt"
_SHOWN_CHARACTERS = 60


class EncoderModel(Protocol):
    """A loaded model: what `ModelEmbedder` adds to it are prompts and checks."""

    config: EncoderConfig

    @property
    def tokenizer(self) -> "Tokenizer":
        """The model's tokenizer, without truncation."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32, as the model gives them."""
        ...


class ModelEmbedder:
    """An embedder (`graph.ports.Embedder`) around a loaded model.

    Args:
        model: The model.
        name: For people.
        fingerprint: Of the model's files.
        load_faster: Loads another form of the same model for passages, once there are some; None
            uses the model for them, too.
    """

    def __init__(
        self,
        model: EncoderModel,
        name: str,
        fingerprint: str,
        load_faster: Callable[[], EncoderModel] | None = None,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.dimensions = model.config.dimensions
        self.max_tokens = _passage_tokens(model)
        self._model = model
        self._tokenizer = model.tokenizer
        self._load_faster = load_faster

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (n, d) float32, rows of unit length, in the order given.

        Raises:
            ModelError: The model failed or returned a vector that is not finite, or zero.
        """
        return self._embed(self._passages, texts, self._model.config.passage_prompt)

    def embed_query(self, text: str) -> Vector:
        """Embed a question: (d,) float32 of unit length.

        Raises:
            ModelError: As `embed`.
        """
        return self._embed(self._model, [text], self._model.config.query_prompt)[0]

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the [start, end) character offsets of each word piece, however long the text."""
        return self._tokenizer.encode(text, add_special_tokens=False).offsets

    @cached_property
    def _passages(self) -> EncoderModel:
        return self._load_faster() if self._load_faster else self._model

    def _embed(self, model: EncoderModel, texts: Sequence[str], prompt: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return unit_vectors(model.encode([prompt + t for t in texts]), texts, self.dimensions)


def load_embedder(
    name: str, cache_folder: Path, notify: Callable[[str], None], *, bulk: bool = False
) -> ModelEmbedder:
    """Load an embedding model; the first time it is exported to ONNX, which takes half a minute.

    Args:
        name: The default model's name, a folder, or a model of the Hugging Face hub.
        cache_folder: Where exported models are kept, in its folder `models`.
        notify: Told in one line what is being waited for.
        bulk: Whether many passages will be embedded: OpenVINO then does that, where it is faster.

    Raises:
        ConfigurationError: There is no such model.
        ModelError: It cannot be downloaded or loaded.
    """
    folder = find_model(name)
    key = fingerprint(folder)
    target = cache_folder / "models" / f"{key[:32]}-{EXPORT_VERSION}"
    model = _exported(folder, target, notify)
    faster = None
    if bulk and isinstance(model, OnnxModel):
        from ingestion.openvino_model import faster_model

        faster = partial(faster_model, target, model, notify)
    return ModelEmbedder(model, Path(name).name, key, faster)


def unit_vectors(vectors: Vectors, texts: Sequence[str], dimensions: int) -> Vectors:
    """Check a model's vectors, (n, d), and give them unit length.

    Raises:
        ModelError: A vector has another size, is zero or is not finite; names the text.
    """
    if vectors.shape != (len(texts), dimensions):
        raise ModelError(
            f"The embedding model returned vectors of shape {vectors.shape} instead of "
            f"({len(texts)}, {dimensions}): use another model, or delete its cached copy."
        )
    lengths = np.linalg.norm(vectors, axis=1)
    broken = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if broken.size:
        beginning = texts[int(broken[0])][:_SHOWN_CHARACTERS]
        raise ModelError(
            f"The embedding model returned a vector that is zero or not finite for the text "
            f"that begins {beginning!r}: take the text out, or use another model."
        )
    return (vectors / lengths[:, np.newaxis]).astype(np.float32)


def _exported(folder: Path, target: Path, notify: Callable[[str], None]) -> EncoderModel:
    """Return the model as ONNX if that is possible, else as sentence-transformers runs it."""
    if (target / _NOT_EXPORTABLE).is_file():
        return _torch(folder)
    if target.is_dir():
        try:
            return OnnxModel(target)
        except ModelError as error:
            notify(f"{error} It is made again now.")
            shutil.rmtree(target)
    notify("Preparing the embedding model for this machine; this is done once (about a minute) …")
    from ingestion.onnx_export import export

    try:
        export(folder, target)
    except ModelError as error:
        notify(str(error))
        target.mkdir(parents=True, exist_ok=True)
        (target / _NOT_EXPORTABLE).write_text(str(error), encoding="utf-8")
        return _torch(folder)
    return OnnxModel(target)


def _torch(folder: Path) -> EncoderModel:
    from ingestion.torch_model import TorchModel

    return TorchModel(folder)


def _passage_tokens(model: EncoderModel) -> int:
    """Return how many word pieces of a passage the model reads, without prompt and special ones."""
    tokenizer = model.tokenizer
    prompt = tokenizer.encode(model.config.passage_prompt, add_special_tokens=False)
    special = tokenizer.num_special_tokens_to_add(is_pair=False)
    tokens = model.config.max_length - special - len(prompt.ids)
    if tokens < 1:
        raise ConfigurationError(
            f"The embedding model reads {model.config.max_length} word pieces at most, and its "
            "prompt takes all of them: use another model."
        )
    return tokens
