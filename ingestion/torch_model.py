"""Runs an embedding model through sentence-transformers; slow to import, so only where needed.

`ingestion.onnx_export` uses it once for each model, as the source and as the reference. A model
that cannot be exported is used through it always.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graph.errors import ConfigurationError
from graph.model import Vectors
from ingestion.model_files import EncoderConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PASSAGE_PROMPTS = ("document", "passage", "corpus")
"""Names under which models keep the text to put before a passage, as sentence-transformers."""


class TorchModel:
    """A sentence-transformers model on the CPU, without network."""

    def __init__(self, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        try:
            self.model: SentenceTransformer = SentenceTransformer(
                str(folder),
                device="cpu",
                local_files_only=True,
                # The only attention that every version of the ONNX exporter can trace.
                model_kwargs={"attn_implementation": "eager"},
            )
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ConfigurationError(
                f"The folder {folder} holds no model that sentence-transformers can load "
                f"({error}): give another model."
            ) from error
        self.model.eval()
        self.config = self._config()
        self.tokenizer = self._tokenizer(folder)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32, as the model gives them: no prompt is put before the texts."""
        vectors = self.model.encode(list(texts), prompt="", show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)

    def features(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return what the model's first module reads of a batch: tensors (n, tokens) by name."""
        return self.model.preprocess(list(texts))

    def _tokenizer(self, folder: Path) -> "Tokenizer":
        """Return a copy of the tokenizer that neither cuts nor pads, as the model's own does."""
        from tokenizers import Tokenizer

        backend = cast("Tokenizer | None", getattr(self.model.tokenizer, "backend_tokenizer", None))
        if backend is None:
            raise ConfigurationError(
                f"The tokenizer in {folder} gives no character offsets, which cutting text into "
                "passages needs: give a model with a `tokenizer.json`."
            )
        tokenizer: Tokenizer = Tokenizer.from_str(backend.to_str())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def _config(self) -> EncoderConfig:
        prompts = self.model.prompts
        # sentence-transformers sets absent names to "", which would hide the next one.
        passage = next(filter(None, map(prompts.get, _PASSAGE_PROMPTS)), "")
        return EncoderConfig(
            dimensions=self.model.get_embedding_dimension() or 0,
            max_length=self.model.max_seq_length or 512,
            query_prompt=prompts.get("query") or "",
            passage_prompt=passage,
        )
