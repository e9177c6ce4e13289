"""Cross-encoder reranking (Nogueira and Cho 2019): question and passage read together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError, ModelError
from graph.fold import fold
from router.checkpoint import require_head, silence

BATCH = 16
SETTING = "MILEPOST_CROSS_ENCODER_MODEL"

KNOWN = "What is the capital of France?"
ANSWER = "Paris is the capital and largest city of France."
FOREIGN = "Asphalt is laid in layers, and each layer is compacted before the next."
"""An encoder of single texts, or a head without training, loads and scores, but orders nothing."""


class CrossEncoderModel:
    """A cross-encoder of sentence-transformers with one output."""

    def __init__(self, folder: Path) -> None:
        """Load the model, without network.

        Raises:
            ConfigurationError: The folder holds no such model.
        """
        require_head(folder, "ForSequenceClassification", SETTING)
        from safetensors import SafetensorError
        from sentence_transformers import CrossEncoder

        silence()
        try:
            self._model: Any = CrossEncoder(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ConfigurationError(
                f"The folder {folder} holds no cross-encoder that sentence-transformers can load "
                f"({error}). Give another with {SETTING}."
            ) from error
        if self._model.num_labels != 1:
            raise ConfigurationError(
                f"The model in {folder} gives {self._model.num_labels} values for a pair; a "
                "cross-encoder for ranking gives one. Give another."
            )
        answer, foreign = self.scores(KNOWN, [ANSWER, FOREIGN])
        if not answer > foreign:
            raise ConfigurationError(
                f"The model in {folder} does not rank: asked {KNOWN!r}, it scores {ANSWER!r} with "
                f"{answer:.4g} and a text about asphalt with {foreign:.4g}. It may be an encoder "
                f"of single texts, or not trained. Give another with {SETTING}."
            )

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the question's score with each text, shape (n,).

        Raises:
            ModelError: A score is not finite.
        """
        if not texts:
            return np.empty(0, np.float32)
        asked = fold(question)
        pairs = [(asked, text) for text in texts]
        found = self._model.predict(pairs, batch_size=BATCH, show_progress_bar=False)
        scores = np.asarray(found, np.float32).reshape(len(texts))
        if not np.isfinite(scores).all():
            raise ModelError("The cross-encoder gave a score that is not finite. Use another.")
        return scores
