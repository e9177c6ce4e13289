"""Uploaded files on their way into the graph: one at a time, each with a status to ask for.

Jobs are kept in memory. After a restart their ids are unknown; what was ingested stays, and the
same upload again changes nothing that is there.
"""

import re
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from app.http.errors import Refusal, log_problem, problem
from app.http.logs import log
from graph.errors import MilepostError
from graph.model import FileOutcome

if TYPE_CHECKING:
    from app.wiring import App

JobStatus = Literal["queued", "running", "done", "failed"]

_KEPT = 1_000
"""Jobs whose status can be asked for; older ones are forgotten."""
_WAITING = 100
"""Uploads that may wait; each is a file on the disk."""
_LEFT_SECONDS = 24 * 3600
"""Age of a file that no server still waits to ingest."""
_NAMES_OF_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.I)


@dataclass(frozen=True, slots=True)
class Job:
    """One upload."""

    id: str
    owner: str
    """Name of the key that uploaded it."""
    file: str
    """The name that the client gave it: a label only."""
    status: JobStatus
    created_at: str
    """ISO 8601, UTC."""
    finished_at: str | None = None
    outcome: FileOutcome | None = None
    """What became of the file."""
    message: str = ""
    """Why it failed and what to do, or what a person should know although it was read."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has arrived, and what the client says about it."""

    path: Path
    """Where it has arrived."""
    label: str
    """The name that the client gave it."""
    collection: str
    given: Mapping[str, str]
    """Scope, series, edition, year, title: keys and values of a scope map."""
    audience: str | None
    """None keeps what the file has in the graph; a new one is public."""


class Jobs:
    """Ingests uploads in a thread of its own. Safe to use from several threads."""

    def __init__(self, app: "App") -> None:
        """Name the application; nothing runs yet."""
        self._app = app
        self._folder = app.settings.data_dir / "uploads"
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = Lock()
        self._worker: ThreadPoolExecutor | None = None

    def start(self) -> None:
        """Be ready for uploads, and delete files that a killed server left behind."""
        for left in self._folder.glob("arriving/*"):
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                left.unlink(missing_ok=True)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="ingest")

    def stop(self) -> None:
        """Finish the file in hand and drop those that wait."""
        if self._worker is not None:
            self._worker.shutdown(cancel_futures=True)

    def arriving(self) -> Path:
        """Return a new path for a file that arrives."""
        folder = self._folder / "arriving"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / uuid4().hex

    def add(self, upload: Upload, owner: str) -> Job:
        """Let a file be ingested when those before it are.

        Raises:
            Refusal: Too many wait.
        """
        assert self._worker is not None
        job = Job(uuid4().hex, owner, upload.label, "queued", _now())
        with self._lock:
            waiting = sum(job.status == "queued" for job in self._jobs.values())
            if waiting >= _WAITING:
                raise Refusal(
                    429,
                    "too_many_uploads",
                    f"{waiting} uploads wait. Send it again later.",
                    {"Retry-After": "60"},
                )
            self._jobs[job.id] = job
            while len(self._jobs) > _KEPT:
                self._jobs.popitem(last=False)
        self._worker.submit(self._run, job, upload)
        return job

    def find(self, id: str, owner: str) -> Job:
        """Return a job of a caller.

        Raises:
            Refusal: The caller has none of that id.
        """
        with self._lock:
            job = self._jobs.get(id)
        if job is None or job.owner != owner:
            raise Refusal(404, "unknown_job", "There is no such job. Jobs end with the server.")
        return job

    def forget(self, uri: str) -> None:
        """Delete a document's file, if it was uploaded here."""
        root = self._folder.absolute().as_uri()
        for path in self._folder.glob("files/*/*"):
            if uri.startswith(f"{root}/") and path.absolute().as_uri() == uri:
                path.unlink(missing_ok=True)

    def _keep(self, job: Job) -> None:
        with self._lock:
            if job.id in self._jobs:
                self._jobs[job.id] = job

    def _run(self, job: Job, upload: Upload) -> None:
        self._keep(replace(job, status="running"))
        try:
            outcome = self._ingest(job, upload)
        except Exception as error:
            found = problem(error)
            log_problem(error, found)
            self._keep(replace(job, status="failed", finished_at=_now(), message=found.message))
            if not isinstance(error, MilepostError):
                raise
        else:
            status: JobStatus = "failed" if outcome.status == "refused" else "done"
            log.info("ingested", job=job.id, status=outcome.status, chunks=outcome.chunks)
            self._keep(
                replace(
                    job,
                    status=status,
                    finished_at=_now(),
                    outcome=outcome,
                    message=outcome.reason,
                )
            )
        finally:
            upload.path.unlink(missing_ok=True)

    def _ingest(self, job: Job, upload: Upload) -> FileOutcome:
        """Put the file where it stays and ingest it; a refused one leaves the one before it."""
        place = "\0".join((job.owner, upload.collection, upload.given.get("scope", "")))
        folder = self._folder / "files" / sha256(place.encode()).hexdigest()[:16]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / safe_name(upload.label)
        before = upload.path.with_suffix(".before")
        if target.exists():
            target.replace(before)
        upload.path.replace(target)
        refused = True
        try:
            outcome = self._read(target, upload)
            refused = outcome.status == "refused"
        finally:
            if refused:
                target.unlink(missing_ok=True)
                if before.exists():
                    before.replace(target)
            before.unlink(missing_ok=True)
        return outcome

    def _read(self, path: Path, upload: Upload) -> FileOutcome:
        import yaml

        from ingestion.pipeline import IngestOptions, ingest
        from ingestion.vector_cache import open_cache

        scope_map = upload.path.with_suffix(".yaml")
        rule = {"glob": "*", **upload.given}
        scope_map.write_text(yaml.safe_dump({"rules": [rule]}), "utf-8")
        options = IngestOptions(upload.collection, upload.audience, scope_map)
        app = self._app
        try:
            with open_cache(app.settings.cache_dir, app.embedder, _warn) as cache:
                run = ingest(
                    [path],
                    store=app.store,
                    embedder=app.embedder,
                    cache=cache,
                    options=options,
                    progress=_Silent(),
                )
        finally:
            scope_map.unlink(missing_ok=True)
        return next(one for one in run.outcomes if one.uri == path.absolute().as_uri())


class _Silent:
    """Shows no progress: the job's status is asked for."""

    def started(self, files: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""

    def embedded(self, chunks: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""

    def done(self, outcome: FileOutcome, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""


def safe_name(label: str) -> str:
    """Return a file name for what a client wrote: one part of a path, readable on any system."""
    text = unicodedata.normalize("NFKC", label.replace("\\", "/")).replace("\\", "/")
    text = re.sub(r"[^\w.() -]+", "_", text.rpartition("/")[2]).strip(" .")
    stem, dot, ending = text.rpartition(".")
    cut = f"{stem[:100]}{dot}{ending[:20]}" if dot else text[:100]
    if not cut.strip("_. ") or _NAMES_OF_DEVICES.match(cut):
        return f"document_{cut}"
    return cut


def _warn(message: str) -> None:
    log.warning("vector_cache", reason=message)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
