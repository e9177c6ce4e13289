"""Runs an exported embedding model with OpenVINO in bfloat16, for many passages at once.

Processors with instructions for bfloat16 multiply twice as many numbers in it as in float32. The
figures are in eval/LOG.md: 1.7 times the speed, at vectors whose cosine to those of ONNX Runtime is
above .9999. That is far nearer than any two models are, so both have one fingerprint, and
vectors of either may stand in one graph and one cache. Questions are embedded by ONNX Runtime,
which is loaded sooner.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import local
from typing import Any

from graph.model import Vectors
from ingestion.onnx_export import PROBES, lowest_cosine
from ingestion.onnx_model import MODEL_FILE, Ids, Input, OnnxModel, cores

MIN_COSINE = 0.999
"""Between the vectors of both; measured on 350 passages the lowest is .99997."""


def faster_model(folder: Path, model: OnnxModel, notify: Callable[[str], None]) -> OnnxModel:
    """Return the model as OpenVINO runs it, where that is faster; otherwise the model given.

    Args:
        folder: Of the exported model.
        model: The same model, as ONNX Runtime runs it.
        notify: Told in one line where OpenVINO is there and cannot be used.
    """
    if find_spec("openvino") is None:
        return model
    try:
        session = _session(folder / MODEL_FILE)
    except RuntimeError as error:
        notify(f"OpenVINO cannot run the embedding model ({error}): ONNX Runtime does, slower.")
        return model
    if session is None:
        return model
    found = OnnxModel(folder, session)
    lowest = lowest_cosine(found.encode(PROBES), model.encode(PROBES))
    if lowest >= MIN_COSINE:  # NaN must fail too
        return found
    notify(
        f"OpenVINO gives other vectors than the embedding model (cosine {lowest:.4f}): it is not "
        "used, ONNX Runtime embeds, slower."
    )
    return model


class OpenVinoSession:
    """A compiled model, with what `OnnxModel` uses of a session of ONNX Runtime."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self._own = local()  # a request holds its inputs, so each thread has one

    def get_inputs(self) -> Sequence[Input]:
        """Return the inputs that the model has."""
        return [_Named(port.get_any_name()) for port in self._compiled.inputs]

    def run(self, outputs: None, inputs: Mapping[str, Ids]) -> Sequence[Vectors]:
        """Return all outputs."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
        return [self._own.request.infer(inputs)[0]]


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name


def _session(file: Path) -> OpenVinoSession | None:
    """Compile the model; None where the processor has no instructions for bfloat16."""
    import openvino

    core: Any = openvino.Core()
    if "BF16" not in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"):
        return None
    options = {
        "INFERENCE_PRECISION_HINT": "bf16",
        # As with ONNX Runtime, each thread computes a batch of its own.
        "PERFORMANCE_HINT": "THROUGHPUT",
        "NUM_STREAMS": cores(),
        "INFERENCE_NUM_THREADS": cores(),
    }
    return OpenVinoSession(core.compile_model(str(file), "CPU", options))
