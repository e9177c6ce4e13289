"""Learned sparse retrieval (SPLADE: Formal et al., SIGIR 2021) with any SparseEncoder model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import ConfigurationError, ModelError
from graph.fold import fold
from router.checkpoint import require_head, silence

BATCH = 8
"""Texts read at once: each word piece has a number for the whole vocabulary, so 32 take 4 GB."""
SETTING = "MILEPOST_SPARSE_MODEL"


class SparseModel:
    """A model of sentence-transformers that gives each word of its vocabulary a weight."""

    def __init__(self, folder: Path) -> None:
        """Load the model, without network.

        Raises:
            ConfigurationError: The folder holds no such model.
        """
        require_head(folder, "ForMaskedLM", SETTING)
        from safetensors import SafetensorError
        from sentence_transformers import SparseEncoder

        silence()
        try:
            self._model = SparseEncoder(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ConfigurationError(
                f"The folder {folder} holds no SPLADE model that sentence-transformers can load "
                f"({error}). Give another with {SETTING}."
            ) from error

    def index(self, texts: Sequence[str]) -> "SparseIndex":
        """Encode all texts; minutes for tens of thousands.

        Raises:
            ModelError: A weight is not finite.
        """
        if not texts:
            # The model is the surest to know the size of its vocabulary.
            return SparseIndex(self, self._encoded([""], question=False)[:0])
        return SparseIndex(self, self._encoded(texts, question=False))

    def question(self, text: str) -> Any:
        """Return a question's weights, a sparse matrix of shape (1, vocabulary)."""
        return self._encoded([fold(text)], question=True)

    def _encoded(self, texts: Sequence[str], *, question: bool) -> Any:
        import scipy.sparse

        matrices: Any = scipy.sparse  # it has no stubs
        encode = self._model.encode_query if question else self._model.encode_document
        rows: list[Any] = []
        for start in range(0, len(texts), BATCH):
            found: Any = encode(
                list(texts[start : start + BATCH]),
                show_progress_bar=False,
                convert_to_sparse_tensor=False,
            )
            dense = np.asarray(found.cpu().numpy(), np.float32)
            if not np.isfinite(dense).all():
                raise ModelError("The sparse model gave a weight that is not finite. Use another.")
            rows.append(matrices.csr_matrix(dense))
        return matrices.vstack(rows).tocsr()


class SparseIndex:
    """Texts as sparse weights."""

    def __init__(self, model: SparseModel, weights: Any) -> None:
        """Keep what a model made.

        Args:
            model: Encodes the questions.
            weights: Sparse, shape (n, vocabulary).
        """
        self._model = model
        self._weights = weights

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return the dot product of the question's weights with each text's, shape (n,)."""
        product = self._weights @ self._model.question(question).T
        return np.asarray(product.todense(), np.float32).ravel()
