"""An embedder that remembers: one question is embedded for route, search and answer only once."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np

from graph.model import Vector, Vectors
from graph.ports import Embedder

_QUESTION, _PASSAGE = "question", "passage"


class RememberingEmbedder:
    """An embedder (`graph.ports.Embedder`) that keeps the vectors it was asked for last.

    Popular questions lead to the same sentences again and again, and embedding is what an
    extractive answer takes longest for. Safe to use from several threads.
    """

    def __init__(self, embedder: Embedder, capacity: int = 20_000) -> None:
        """Wrap an embedder.

        Args:
            embedder: The one that embeds what is not remembered.
            capacity: Vectors to keep; 20,000 of 384 floats take 31 MB.
        """
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.fingerprint = embedder.fingerprint
        self.max_tokens = embedder.max_tokens
        self._embedder = embedder
        self._capacity = capacity
        self._vectors: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (n, d) float32, rows of unit length, in the order given.

        Raises:
            ModelError: The model failed or returned a vector that is not finite.
        """
        known = {text: self._recall(_PASSAGE, text) for text in texts}
        missing = [text for text, vector in known.items() if vector is None]
        if missing:
            for text, vector in zip(missing, self._embedder.embed(missing), strict=True):
                known[text] = self._keep(_PASSAGE, text, vector)
        rows = [vector for text in texts if (vector := known[text]) is not None]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def embed_query(self, text: str) -> Vector:
        """Embed a question: (d,) float32 of unit length.

        Raises:
            ModelError: As `embed`.
        """
        vector = self._recall(_QUESTION, text)
        if vector is None:
            vector = self._keep(_QUESTION, text, self._embedder.embed_query(text))
        return vector

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the [start, end) character offsets of each word piece, however long the text."""
        return self._embedder.token_offsets(text)

    def _recall(self, kind: str, text: str) -> Vector | None:
        with self._lock:
            if (kind, text) not in self._vectors:
                return None
            self._vectors.move_to_end((kind, text))
            return self._vectors[kind, text]

    def _keep(self, kind: str, text: str, vector: Vector) -> Vector:
        vector = vector.copy()  # a row of a batch would keep the whole batch in memory
        vector.flags.writeable = False
        with self._lock:
            self._vectors[kind, text] = vector
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)
        return vector
