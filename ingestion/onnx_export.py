"""Turns a sentence-transformers model into an ONNX file, once, and proves that it is the same.

The whole model is exported, with its own pooling and normalisation, so nothing of it is written
a second time here. Loading the file with ONNX Runtime takes half a second, where importing torch
and sentence-transformers takes ten or more.
"""

import shutil
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graph.errors import ModelError
from graph.model import Vectors
from ingestion.onnx_model import CONFIG_FILE, MODEL_FILE, TOKENIZER_FILE, OnnxModel
from ingestion.torch_model import TorchModel

if TYPE_CHECKING:
    import torch

MIN_COSINE = 0.9999
"""Between the vectors of the exported and the original model; rounding alone gives .999999."""

PROBES = (
    "Milepost",
    "What is the minimum assurance level?",
    "SECTION 203 - EXCAVATION AND EMBANKMENT. 203.01 Description: This work consists of "
    "excavation and embankment, including the hauling and disposal of all material encountered.",
    "Résumé, naïve, Straße, 中文, ½, “quoted”, e-mail@example.gov, A/B, $1,234.50",
    "word " * 700,
)
"""Different lengths in one batch (padding), capitals and accents, one longer than any window."""

_OPSET = 17
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_ABANDONED_AFTER_SECONDS = 3600.0


def export(model_folder: Path, target: Path) -> None:
    """Write model, tokenizer and configuration into `target`, a folder that appears when whole.

    Raises:
        ModelError: The exporter cannot express the model, or the result gives other vectors.
        ConfigurationError: The folder holds no model that sentence-transformers can load.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target.parent)
    partial = Path(tempfile.mkdtemp(suffix=".partial", dir=target.parent))
    try:
        model = TorchModel(model_folder)
        model.tokenizer.save(str(partial / TOKENIZER_FILE))
        model.config.save(partial / CONFIG_FILE)
        _trace(model, partial / MODEL_FILE)
        check_same(OnnxModel(partial).encode(PROBES), model.encode(PROBES))
        _move(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_same(exported: Vectors, reference: Vectors) -> None:
    """Compare vectors of the same texts, both (n, d), by the cosine of each pair.

    Raises:
        ModelError: A cosine is below `MIN_COSINE`.
    """
    lowest = lowest_cosine(exported, reference)
    if not lowest >= MIN_COSINE:  # NaN must fail too
        raise ModelError(
            f"The ONNX form of the embedding model gives other vectors (cosine {lowest:.4f}): "
            "it is not used, the model runs through sentence-transformers."
        )


def lowest_cosine(vectors: Vectors, others: Vectors) -> float:
    """Return the lowest cosine of the pairs of rows, both (n, d)."""
    products = (vectors * others).sum(axis=1)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(others, axis=1)
    return float((products / lengths).min())


def _trace(model: TorchModel, file: Path) -> None:
    import torch

    features = {
        name: value
        for name, value in model.features(PROBES).items()
        if name in _INPUTS and isinstance(value, torch.Tensor)
    }
    inputs = list(features)
    axes = {name: {0: "texts", 1: "tokens"} for name in inputs} | {"embedding": {0: "texts"}}
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of what `check_same` tests
        try:
            torch.onnx.export(
                _as_module(model, inputs),
                tuple(features.values()),
                str(file),
                input_names=inputs,
                output_names=["embedding"],
                dynamic_axes=axes,
                opset_version=_OPSET,
                dynamo=False,  # the newer exporter needs another package and gives no faster file
            )
        except (RuntimeError, TypeError, ValueError) as error:
            raise ModelError(
                f"The embedding model cannot be exported to ONNX ({error}): it runs through "
                "sentence-transformers."
            ) from error


def _as_module(model: TorchModel, inputs: list[str]) -> "torch.nn.Module":
    """Give the model a signature of tensors only, as the exporter wants it."""
    import torch

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model.model

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            features = dict(zip(inputs, tensors, strict=True))
            return self.model(features)["sentence_embedding"]

    return Encoder()


def _move(partial: Path, target: Path) -> None:
    try:
        partial.rename(target)
    except OSError:
        if not target.is_dir():  # otherwise another process was faster, with the same result
            raise


def _remove_abandoned(folder: Path) -> None:
    """Remove what exports that were killed have left behind."""
    for path in folder.glob("*.partial"):
        if time.time() - path.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
