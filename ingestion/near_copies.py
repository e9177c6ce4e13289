"""Near copies: documents whose text is almost the same, found by MinHash signatures.

A document is the set of its five-word shingles. The smallest values of 128 hash functions over
that set are its signature; the share of equal places in two signatures estimates the share of
shingles in common (Broder, "On the resemblance and containment of documents", 1997). Signatures
that agree in a whole band of places are compared, others are not (locality-sensitive hashing).
"""

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SIMILAR = 0.8
"""From this share of shingles in common on, two documents are near copies."""
FEWEST_SHINGLES = 20
"""Texts with fewer different shingles are too short to say anything."""

_PERMUTATIONS = 128
_SHINGLE = 5
_ROWS = 4
"""Places in a band: of pairs that have .8 in common, fewer than one in 10^7 shares no band."""
_AT_ONCE = 8_192
"""Shingles hashed at once: 128 times as many numbers are in memory."""
_WORD = re.compile(r"\w+")

_Hashes = NDArray[np.uint64]


def minhash(text: str) -> bytes:
    """Return the signature of a text: 128 values of 32 bits; empty for a very short text."""
    shingles = _shingles(text)
    if len(shingles) < FEWEST_SHINGLES:
        return b""
    factors, terms = _functions()
    smallest = np.full(_PERMUTATIONS, np.iinfo(np.uint64).max, np.uint64)
    for start in range(0, len(shingles), _AT_ONCE):
        part = shingles[start : start + _AT_ONCE, None] * factors + terms
        np.minimum(smallest, part.min(axis=0), out=smallest)
    return (smallest >> np.uint64(32)).astype("<u4").tobytes()


@dataclass(frozen=True, slots=True)
class NearCopy:
    """The nearest of the documents that came before."""

    uri: str
    similarity: float
    """Share of shingles in common, estimated; the standard error is below .04."""


class NearCopies:
    """The signatures of all documents so far."""

    def __init__(self, known: Iterable[tuple[str, bytes]] = ()) -> None:
        """Take in documents that are there already, as address and signature."""
        self._signatures: dict[str, NDArray[np.uint32]] = {}
        self._bands: dict[tuple[int, bytes], list[str]] = {}
        for uri, signature in known:
            self.add(uri, signature)

    def add(self, uri: str, signature: bytes) -> None:
        """Take in a document, in place of an older version of it."""
        values = np.frombuffer(signature, "<u4")
        if len(values) != _PERMUTATIONS:
            self._signatures.pop(uri, None)
            return
        self._signatures[uri] = values
        for band in _bands(signature):
            self._bands.setdefault(band, []).append(uri)

    def nearest(self, uri: str, signature: bytes) -> NearCopy | None:
        """Return the most similar of the other documents; of equals the first by address."""
        values = np.frombuffer(signature, "<u4")
        if len(values) != _PERMUTATIONS:
            return None
        others = {other for band in _bands(signature) for other in self._bands.get(band, ())}
        others = sorted((others - {uri}) & self._signatures.keys())
        if not others:
            return None
        equal = np.stack([self._signatures[other] for other in others]) == values
        shares = equal.mean(axis=1)
        best = int(shares.argmax())
        similarity = round(float(shares[best]), 3)
        return NearCopy(others[best], similarity) if similarity >= SIMILAR else None


def _shingles(text: str) -> _Hashes:
    """Return the different hashes of all runs of five words, in ascending order."""
    words = [_word_hash(word) for word in _WORD.findall(text.lower())]
    hashes = np.array(words, np.uint64)
    count = len(hashes) - _SHINGLE + 1
    if count < 1:
        return np.zeros(0, np.uint64)
    mixed = np.zeros(count, np.uint64)
    for place in range(_SHINGLE):
        mixed = (mixed ^ hashes[place : place + count]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed)


@lru_cache(maxsize=65_536)
def _word_hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1)
def _functions() -> tuple[_Hashes, _Hashes]:
    """Return odd factors and terms of h(x) = (a x + b) mod 2^64; its upper half is used."""
    random = np.random.default_rng(1997)  # fixed: stored signatures must stay comparable
    factors = random.integers(0, 2**63, _PERMUTATIONS, np.uint64) * np.uint64(2) + np.uint64(1)
    return factors, random.integers(0, 2**63, _PERMUTATIONS, np.uint64)


def _bands(signature: bytes) -> Iterable[tuple[int, bytes]]:
    size = _ROWS * 4
    return ((start, signature[start : start + size]) for start in range(0, len(signature), size))
