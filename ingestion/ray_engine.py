"""Reads and embeds files on a Ray cluster, and gives the results in the files' order.

Each file is a Ray task that calls the same functions as a run on one machine; the driver writes
and reports. A task whose node dies is run again on another one, and so is a task whose result was
lost with its node, so the graph is the same as without the cluster. All nodes must see the files
under the same paths, and have Milepost installed.
"""

import importlib
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from graph.errors import ConfigurationError, MilepostError, ServerError
from graph.model import FileOutcome
from graph.ports import Embedder
from ingestion.chunk import embedded_text
from ingestion.identity import Task
from ingestion.parsed import ReadLimits
from ingestion.prepare import Plan, Prepared, prepare
from ingestion.read import Reader

LoadEmbedder = Callable[[], Embedder]
"""Loads the embedder in another process; picklable."""

_TRIES = 4
"""How often a task is run whose worker or node dies: a file may be what kills it."""
_AHEAD = 2
"""Tasks that wait for each processor of the cluster, beside the one that runs."""
_LOST = (
    "WorkerCrashedError",
    "NodeDiedError",
    "OutOfMemoryError",
    "ObjectLostError",
    "LocalRayletDiedError",
)
"""Ray's errors that are about one task, not about the cluster."""


@dataclass(frozen=True, slots=True)
class _Errand:
    """What is the same for all tasks; sent to the nodes once."""

    collection: str
    audience: str | None
    limits: ReadLimits
    fingerprint: str
    """Of the embedder that the driver has."""
    load: LoadEmbedder
    classifier: str


def read_on_ray(
    tasks: Iterable[Task], plan: Plan, jobs: int, *, address: str | None, load: LoadEmbedder
) -> Generator[Prepared | FileOutcome, None, None]:
    """Prepare and embed files on a cluster; the engine `ray` of `milepost ingest`.

    Args:
        tasks: What to read.
        plan: How.
        jobs: Processors to use where no cluster is named; 1 takes all of this machine.
        address: Of a cluster, such as "127.0.0.1:6379", "auto" or "ray://…"; None starts one on
            this machine for the time of the run.
        load: Loads the embedder on a node.

    Yields:
        One result for each task, in their order; documents with their vectors.

    Raises:
        ConfigurationError: Ray is not installed, or no cluster answers.
        ServerError: The cluster failed.
        ModelError: The embedder failed.
    """
    mark = plan.embedder.fingerprint
    errand = _Errand(plan.collection, plan.audience, plan.limits, mark, load, plan.classifier)
    with _connected(address, jobs) as ray:
        remote = ray.remote(num_cpus=1, max_retries=_TRIES - 1)(_prepare_and_embed)
        shared = ray.put(errand)
        most = max(2, int(ray.cluster_resources().get("CPU", 1)) * (1 + _AHEAD))
        waiting: deque[tuple[Task, Any]] = deque()
        for task in tasks:
            waiting.append((task, remote.remote(shared, task)))
            if len(waiting) >= most:
                yield _result(ray, *waiting.popleft())
        while waiting:
            yield _result(ray, *waiting.popleft())


@contextmanager
def _connected(address: str | None, jobs: int) -> Generator[Any]:
    """Give Ray, connected; what was started is stopped at the end."""
    # Ray tells its makers how it is used unless this is set before it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = _import_ray()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, object] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        processors = None if jobs == 1 else jobs
        options |= {"address": "local", "include_dashboard": False, "num_cpus": processors}
    else:
        options["address"] = address
    try:
        _knock(address)  # Ray itself goes on trying for minutes
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigurationError(
            f"No Ray cluster answers at {address or 'this machine'} ({first}). Check RAY_ADDRESS, "
            "or unset it to use this machine alone."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """Check that somebody listens at an address of host and port.

    Raises:
        OSError: Nobody does.
    """
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()


def _import_ray() -> ModuleType:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ConfigurationError(
            "The engine ray needs Ray: pip install 'milepost[ray]', or leave --engine out."
        ) from error


def _result(ray: Any, task: Task, reference: object) -> Prepared | FileOutcome:
    """Return a task's result, or the refusal of a file whose workers died again and again."""
    try:
        return ray.get(reference)
    except MilepostError:
        raise
    except ray.exceptions.RayTaskError as error:
        # An error of ours, raised on a node.
        raise (error.cause if isinstance(error.cause, MilepostError) else error) from error
    except ray.exceptions.RayError as error:
        if type(error).__name__ in _LOST or isinstance(error, ray.exceptions.ObjectLostError):
            return FileOutcome(
                task.file.uri,
                "refused",
                code="broken",
                reason=f"{_TRIES} workers died while they read it; repair or convert the file",
            )
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ServerError(
            f"The Ray cluster failed ({first}). Whole documents are in the graph; the same "
            "command goes on."
        ) from error


_kept: dict[tuple[str, ReadLimits], tuple[Embedder, Reader]] = {}
"""In a worker process: loading a model for each file would take longer than the file."""


def _prepare_and_embed(errand: _Errand, task: Task) -> Prepared | FileOutcome:
    key = (errand.fingerprint, errand.limits)
    if key not in _kept:
        embedder = errand.load()
        if embedder.fingerprint != errand.fingerprint:
            raise ConfigurationError(
                f"A node of the cluster has another embedder ({embedder.fingerprint}) than this "
                f"machine ({errand.fingerprint}): install the same version of Milepost on all."
            )
        _kept[key] = (embedder, Reader(errand.limits))
    embedder, reader = _kept[key]
    plan = Plan(errand.collection, errand.audience, embedder, errand.limits, errand.classifier)
    result = prepare(task, plan, reader)
    if isinstance(result, FileOutcome):
        return result
    texts = [embedded_text(chunk.heading, chunk.text) for chunk in result.chunks]
    return replace(result, vectors=embedder.embed(texts))
