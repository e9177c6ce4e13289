"""Keeps vectors by model and text in the user's cache folder, so that a text is embedded once.

One SQLite file for all models and collections; several processes may use it at once. Whatever is
wrong with the file costs time, never an ingestion: a broken one is made anew, one that cannot be
written is not used, and both are said.
"""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np

from graph.model import Vector
from graph.ports import Embedder

T = TypeVar("T")

MAX_BYTES = 2 * 1024**3
"""Above this size the oldest vectors are dropped; room for a million of 384 numbers."""

_FILE = "vectors.sqlite3"
_BUSY_SECONDS = 30.0
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_CREATE = "CREATE TABLE IF NOT EXISTS vectors (key TEXT NOT NULL UNIQUE, vector BLOB NOT NULL)"
_SELECT = "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
_INSERT = "INSERT OR REPLACE INTO vectors (key, vector) VALUES (?, ?)"
_OLDEST = "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY rowid LIMIT ?)"


class VectorCache:
    """Vectors of one model by the digest of their text; from `open_cache`."""

    def __init__(
        self, file: Path, model: str, dimensions: int, notify: Callable[[str], None]
    ) -> None:
        self._file = file
        self._model = model
        self._dimensions = dimensions
        self._notify = notify
        self._connection: sqlite3.Connection | None = None
        self._is_new = False

    def open(self) -> None:
        """Open the file, or make it."""
        try:
            self._connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            self._do_without(error)

    def close(self) -> None:
        """Close the file; nothing is kept afterwards."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, digests: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors that are known, by digest of the text."""
        keys = {self._key(digest): digest for digest in digests}
        found = self._try(lambda connection: _select(connection, list(keys)), {})
        vectors = {keys[key]: _vector(blob) for key, blob in found.items()}
        return {digest: vector for digest, vector in vectors.items() if self._is_whole(vector)}

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors, by digest of the text."""
        rows = [(self._key(digest), v.astype("<f4").tobytes()) for digest, v in vectors.items()]
        self._try(lambda connection: _insert(connection, rows), None)

    def prune(self, max_bytes: int = MAX_BYTES) -> int:
        """Drop the oldest vectors, of any model, until the rest fits; return how many were."""
        return self._try(lambda connection: _drop_oldest(connection, max_bytes), 0)

    def _key(self, digest: str) -> str:
        return blake2b(f"{self._model}\0{digest}".encode(), digest_size=16).hexdigest()

    def _is_whole(self, vector: Vector) -> bool:
        # NaN fails the comparison too, so a damaged row never reaches the graph.
        return vector.size == self._dimensions and bool(abs(np.linalg.norm(vector) - 1) < 1e-3)

    def _try(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        if self._connection is None:
            return otherwise
        try:
            return action(self._connection)
        except sqlite3.Error as error:
            self._do_without(error)
            return otherwise

    def _do_without(self, error: sqlite3.Error | OSError) -> None:
        self.close()
        if getattr(error, "sqlite_errorcode", None) in _BROKEN and not self._is_new:
            self._notify(f"The vector cache {self._file} is broken and is made anew.")
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self._file}{suffix}").unlink(missing_ok=True)
            self._is_new = True
            self.open()
        else:
            self._notify(
                f"Vectors are not kept for the next run: the cache {self._file} cannot be used "
                f"({error}). Free disk space, or set another cache folder."
            )

    def _connect(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._file, timeout=_BUSY_SECONDS)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_CREATE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _vector(blob: bytes) -> Vector:
    whole = len(blob) // 4 * 4  # a damaged row may be of any length
    return np.frombuffer(blob[:whole], dtype="<f4")


def _select(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, bytes]:
    return dict(connection.execute(_SELECT, (json.dumps(keys),)))


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, bytes]]) -> None:
    with connection:
        connection.executemany(_INSERT, rows)


def _drop_oldest(connection: sqlite3.Connection, max_bytes: int) -> int:
    rows = int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    used = (pages - free) * size
    if used <= max_bytes:
        return 0
    with connection:
        return connection.execute(_OLDEST, (-(-rows * (used - max_bytes) // used),)).rowcount


@contextmanager
def open_cache(
    folder: Path, embedder: Embedder, notify: Callable[[str], None]
) -> Generator[VectorCache]:
    """Open the cache for an embedder's vectors; at the end bound its size and close it.

    Args:
        folder: The user's cache folder.
        embedder: Whose vectors to keep.
        notify: Told in one line when the cache cannot be used.
    """
    cache = VectorCache(folder / _FILE, embedder.fingerprint, embedder.dimensions, notify)
    cache.open()
    try:
        yield cache
    finally:
        cache.prune()
        cache.close()


def embed_cached(
    embedder: Embedder, cache: VectorCache | None, texts: Mapping[str, str]
) -> dict[str, Vector]:
    """Return the vector of each text, computing only those that the cache does not know.

    Args:
        embedder: Computes them.
        cache: Of the same embedder; None computes all.
        texts: By the digest that identifies the text.

    Raises:
        ModelError: As `Embedder.embed`.
    """
    known = cache.get(texts) if cache else {}
    missing = [digest for digest in texts if digest not in known]
    computed = embedder.embed([texts[digest] for digest in missing])
    new = dict(zip(missing, computed, strict=True))
    if cache and new:
        cache.put(new)
    return known | new
