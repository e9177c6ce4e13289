"""Topics that were made elsewhere, read from a file: any model, such as CEMTM, CWTM or DSL-Topic.

Those three, which the MCompassRAG paper compares, exist as their authors' research code only, not
as packages that are kept: Milepost does not run or imitate them. Fit them outside on what
`milepost topics export` writes, and bring back two files of one name:

    NAME.npz    theta (n, K): of each chunk, rows of at least 0 that sum to 1
                centroids (K, d), if the model has them in the embedder's space
    NAME.json   {"source": "CEMTM, …", "chunk_ids": [n ids], "terms": [K lists of words],
                 "labels": [K labels], if the model gives them}

The model itself stays outside, so theta of new text is softmax(cosine / T) by the centroids, with
the T that comes nearest to the given theta; the chunks in the file keep what the file says.
"""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from graph.errors import UsageError
from graph.model import Filter, Vectors
from graph.ports import Store
from ingestion.topic_found import Corpus, Found, weighted_centroids
from ingestion.topic_kmeans import TEMPERATURES, Count, softmax_theta, unit_rows


class _Described(BaseModel):
    """The JSON file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    chunk_ids: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExternalTopics:
    """What the two files say, each by itself and together free of contradictions."""

    source: str
    chunk_ids: tuple[str, ...]
    theta: Vectors
    """Shape (n, K)."""
    terms: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...] | None
    centroids: Vectors | None
    """Shape (K, d), rows of unit length."""


def read_external(file: Path) -> ExternalTopics:
    """Read and check topics.

    Args:
        file: The npz; the JSON lies beside it under the same name.

    Raises:
        UsageError: A file is missing, is of another form, or says something impossible.
    """
    arrays = _read_arrays(file)
    described = _read_described(file.with_suffix(".json"))
    theta = _checked_theta(file, arrays, len(described.chunk_ids))
    k = theta.shape[1]
    for name, found in (("terms", described.terms), ("labels", described.labels)):
        if found is not None and len(found) != k:
            raise _wrong(file, f"theta has {k} topics, but there are {len(found)} {name}")
    if len(set(described.chunk_ids)) != len(described.chunk_ids):
        raise _wrong(file, "a chunk id is there twice")
    if described.labels is not None and len(set(described.labels)) != k:
        raise _wrong(file, "two topics have the same label")
    return ExternalTopics(
        described.source,
        described.chunk_ids,
        theta,
        described.terms,
        described.labels,
        _checked_centroids(file, arrays, k),
    )


def found_elsewhere(file: Path, corpus: Corpus, temperature: float | None) -> Found:
    """Return topics from a file for these chunks.

    Raises:
        UsageError: See `read_external`; or it names chunks that the collection does not have, or
            has centroids of another size than the vectors.
    """
    given = read_external(file)
    places = {id: place for place, id in enumerate(corpus.chunk_ids)}
    if unknown := [id for id in given.chunk_ids if id not in places]:
        raise _wrong(
            file,
            f"{len(unknown):,} of its {len(given.chunk_ids):,} chunk ids are not in the "
            f"collection, such as {unknown[0]!r}; export the chunks again and fit the model on "
            "those",
        )
    vectors = corpus.vectors[[places[id] for id in given.chunk_ids]]
    centroids = given.centroids
    if centroids is None:
        centroids = weighted_centroids(given.theta, vectors)
    elif centroids.shape[1] != vectors.shape[1]:
        raise _wrong(
            file,
            f"its centroids have {centroids.shape[1]} dimensions and the collection's vectors "
            f"{vectors.shape[1]}; leave the centroids out, and means of the chunks are taken",
        )
    return Found(
        centroids=centroids,
        temperature=temperature or nearest_temperature(given.theta, vectors, centroids),
        terms=given.terms,
        labels=given.labels,
        theta=dict(zip(given.chunk_ids, given.theta, strict=True)),
        source=given.source,
    )


def nearest_temperature(theta: Vectors, vectors: Vectors, centroids: Vectors) -> float:
    """Return the temperature T for which softmax(cosine / T) comes nearest to theta.

    Nearest by the mean of KL(theta || softmax).

    Args:
        theta: Shape (n, K).
        vectors: Shape (n, d).
        centroids: Shape (K, d).
    """

    def cross_entropy(temperature: float) -> float:
        shares = np.maximum(softmax_theta(vectors, centroids, temperature), 1e-12)
        return float(-(theta * np.log(shares)).sum(axis=1).mean())

    return min(TEMPERATURES, key=cross_entropy)


def _read_arrays(file: Path) -> dict[str, NDArray[np.generic]]:
    try:
        # Opened here: NumPy leaves open what turns out to be no archive.
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            return dict(arrays)
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {file}. Give the npz with theta.") from error
    except (ValueError, zipfile.BadZipFile, EOFError, TypeError, AttributeError) as error:
        raise _wrong(file, "it is no npz, or holds pickles; write it with numpy.savez") from error


def _read_described(file: Path) -> _Described:
    try:
        return _Described.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise UsageError(f"There is no file {file}, which names chunks and terms.") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise _wrong(file, f"it is no JSON ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise _wrong(file, f"{where}: {first['msg']}") from error


def _checked_theta(file: Path, arrays: dict[str, NDArray[np.generic]], n: int) -> Vectors:
    if "theta" not in arrays:
        raise _wrong(file, f"it has no array 'theta', only {', '.join(arrays) or 'none at all'}")
    theta = _as_floats(file, "theta", arrays["theta"])
    if theta.ndim != 2 or theta.shape[1] < 1 or len(theta) != n or not n:
        raise _wrong(
            file,
            f"theta has the shape {theta.shape}, but there are {n:,} chunk ids: give a row each",
        )
    sums = theta.sum(axis=1)
    if (theta < 0).any() or not np.allclose(sums, 1, atol=1e-3):
        row = int(np.flatnonzero((theta < 0).any(axis=1) | ~np.isclose(sums, 1, atol=1e-3))[0])
        raise _wrong(
            file,
            f"row {row} of theta is no distribution (sum {sums[row]:.4f}, least "
            f"{theta[row].min():.4f}); each must be of at least 0 and sum to 1",
        )
    return (theta / sums[:, None]).astype(np.float32)


def _checked_centroids(
    file: Path, arrays: dict[str, NDArray[np.generic]], k: int
) -> Vectors | None:
    if "centroids" not in arrays:
        return None
    centroids = _as_floats(file, "centroids", arrays["centroids"])
    if centroids.ndim != 2 or len(centroids) != k:
        raise _wrong(file, f"centroids have the shape {centroids.shape}, but there are {k} topics")
    if not np.linalg.norm(centroids, axis=1).all():
        raise _wrong(file, "a centroid is zero")
    return unit_rows(centroids)


def _as_floats(file: Path, name: str, array: NDArray[np.generic]) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiu":
        raise _wrong(file, f"{name} holds no numbers")
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        raise _wrong(file, f"{name} holds numbers that are not finite")
    return floats


def _wrong(file: Path, what: str) -> UsageError:
    return UsageError(f"{file} cannot be used: {what}.")


def export_chunks(store: Store, where: Filter, file: Path, count: Count) -> int:
    """Write ids, texts and vectors of chunks as npz, and return how many there are.

    Raises:
        UsageError: There are none.
    """
    documents = store.list_documents(where)
    visible = {document.id for document, _ in documents}
    total = sum(chunks for _, chunks in documents)
    ids: list[str] = []
    texts: list[str] = []
    vectors: list[Vectors] = []
    for batch in store.chunks(where.collection):
        for place, chunk in enumerate(batch.chunks):
            if chunk.document_id in visible:
                ids.append(chunk.id)
                texts.append(chunk.text)
                vectors.append(batch.vectors[place])
        count(len(ids), total)
    if not ids:
        raise UsageError(
            f"Collection {where.collection!r} holds no chunks that you may see. Ingest some with "
            "`milepost ingest FOLDER`, or check --collection and --audience."
        )
    with file.open("wb") as target:
        np.savez_compressed(
            target,
            allow_pickle=False,
            chunk_ids=np.array(ids),
            texts=np.array(texts),
            vectors=np.stack(vectors),
        )
    return len(ids)
