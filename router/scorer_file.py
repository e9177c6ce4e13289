"""A trained scorer as one file: safetensors, with what it was trained for in its metadata."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graph.errors import ScorerMismatch, UsageError
from graph.ports import Topics

Kind = Literal["blend", "compass"]

_KEY = "milepost"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a scorer was trained for, and how."""

    kind: Kind
    embedder: str
    """Fingerprint of the embedder."""
    topics: str
    """Fingerprint of the topic model; empty for a scorer without topics, which fits any."""
    k: int
    """How many topics; 0 without."""
    features: tuple[str, ...] = ()
    """What a blend weighs, by name."""
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of the compass network."""
    summary: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How it was trained and what came of it, for people."""


def save(arrays: Mapping[str, NDArray[Any]], stamp: Stamp, path: Path) -> None:
    """Write the file, whole or not at all: what was there stays until the new one is complete.

    Raises:
        UsageError: It cannot be written there.
    """
    from safetensors.numpy import save as packed

    made = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    data = packed(made, {_KEY: json.dumps(asdict(stamp))})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".partial", delete=False) as file:
            partial = Path(file.name)
            try:
                file.write(data)
                file.close()
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"The scorer cannot be written to {path} ({error}). Name another file with --out."
        ) from error


def load(path: Path) -> tuple[dict[str, NDArray[Any]], Stamp]:
    """Read a scorer.

    Raises:
        UsageError: There is none, or the file is no scorer.
    """
    import safetensors
    from safetensors.numpy import load as unpacked

    if not path.is_file():
        raise UsageError(f"There is no trained scorer at {path}. Make one with `milepost train`.")
    try:
        data = path.read_bytes()
        written = _stamp(data)
        written["features"] = tuple(written["features"])
        return unpacked(data), Stamp(**written)
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is no scorer that this version of Milepost can read ({error}). Train one anew "
            "with `milepost train`."
        ) from error


def _stamp(data: bytes) -> dict[str, Any]:
    """Return what stands in the metadata: the format begins with the length of a JSON header."""
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"][_KEY])


def require_fit(stamp: Stamp, embedder: str, topics: Topics | None, path: Path) -> None:
    """Refuse a scorer that was trained for another embedder or other topics.

    Raises:
        ScorerMismatch: It was; says which.
    """
    again = "Train one for this collection with `milepost train`."
    if stamp.embedder != embedder:
        raise ScorerMismatch(
            f"The scorer {path} was trained for the embedder {stamp.embedder}, and the graph's is "
            f"{embedder}. {again}"
        )
    if not stamp.k:
        return
    if topics is None:
        raise ScorerMismatch(
            f"The scorer {path} weighs topics, and the collection has none. Run `milepost topics "
            "fit`, then `milepost train`."
        )
    if len(topics.centroids) != stamp.k:
        raise ScorerMismatch(
            f"The scorer {path} was trained for {stamp.k} topics, and the collection has "
            f"{len(topics.centroids)}. {again}"
        )
    if topics.fingerprint != stamp.topics:
        raise ScorerMismatch(
            f"The scorer {path} was trained for the topic model {stamp.topics}, and the "
            f"collection's is {topics.fingerprint}. {again}"
        )
