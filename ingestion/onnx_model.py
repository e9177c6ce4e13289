"""Runs an exported embedding model with ONNX Runtime and the `tokenizers` library.

Batches go to one thread for each core, and each thread computes alone. Measured on two cores with
passages of 220 word pieces, against one batch that all cores share: the same work in a little more
than half the processor time, because threads that share a matrix product spin while they wait, and
because a small batch stays in the core's own cache.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from graph.errors import ModelError
from graph.model import Vectors
from ingestion.model_files import EncoderConfig

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "encoder.json"

BATCH_TOKENS = 512
"""Word pieces of one batch, padding counted; a longer text is a batch of its own."""

Ids = NDArray[np.int64]


class Input(Protocol):
    """An input of a model."""

    name: str


class Session(Protocol):
    """What is used of `onnxruntime.InferenceSession`, which has no types for it."""

    def get_inputs(self) -> Sequence[Input]:
        """Return the inputs that the model has."""
        ...

    def run(self, outputs: None, inputs: Mapping[str, Ids]) -> Sequence[Vectors]:
        """Return all outputs; several threads may call it at once."""
        ...


class OnnxModel:
    """An exported model, loaded from the folder that `ingestion.onnx_export` wrote.

    Args:
        folder: That folder.
        session: What runs the model; None opens one of ONNX Runtime.

    Raises:
        ModelError: A file of the folder is missing or broken.
    """

    def __init__(self, folder: Path, session: Session | None = None) -> None:
        try:
            self.config = EncoderConfig.load(folder / CONFIG_FILE)
            self.tokenizer = _tokenizer(folder / TOKENIZER_FILE)
            self._cutting = _tokenizer(folder / TOKENIZER_FILE)
            self._session = session or _session(folder / MODEL_FILE)
        except Exception as error:
            raise ModelError(
                f"The cached embedding model in {folder} is broken ({error}): delete the folder "
                "and run again."
            ) from error
        self._inputs = [node.name for node in self._session.get_inputs()]
        self._cutting.enable_truncation(self.config.max_length)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) float32, as the model gives them: no prompt is put before the texts."""
        ids = [encoding.ids for encoding in self._cutting.encode_batch(list(texts))]
        vectors = np.zeros((len(texts), self.config.dimensions), dtype=np.float32)
        batches = list(batches_by_length([len(row) for row in ids], BATCH_TOKENS))
        if len(batches) == 1:
            vectors[batches[0]] = self._run([ids[row] for row in batches[0]])
            return vectors
        pool = ThreadPoolExecutor(cores(), thread_name_prefix="embed")
        try:
            results = pool.map(self._run, ([ids[row] for row in batch] for batch in batches))
            for batch, result in zip(batches, results, strict=True):
                vectors[batch] = result
        finally:
            pool.shutdown(cancel_futures=True)
        return vectors

    def _run(self, rows: list[list[int]]) -> Vectors:
        width = max(len(row) for row in rows)
        ids: Ids = np.zeros((len(rows), width), dtype=np.int64)  # masked, so any id is padding
        mask: Ids = np.zeros((len(rows), width), dtype=np.int64)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        features = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids),
        }
        return self._session.run(None, {name: features[name] for name in self._inputs})[0]


def batches_by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Group row numbers so that texts of like length share a batch, and little is padding.

    Args:
        lengths: Word pieces of each text.
        budget: Largest size of a batch, its number of rows times its longest row.

    Yields:
        Row numbers, longest texts first; each row once.
    """
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    first = 0
    while first < len(order):
        rows = max(1, budget // max(1, lengths[order[first]]))
        yield order[first : first + rows]
        first += rows


def _session(file: Path) -> Session:
    import onnxruntime

    options = onnxruntime.SessionOptions()  # pyright: ignore[reportUnknownVariableType] - no stub
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(file),
        options,  # pyright: ignore[reportUnknownArgumentType] - as above
        providers=["CPUExecutionProvider"],
    )
    return cast(Session, session)


def _tokenizer(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
