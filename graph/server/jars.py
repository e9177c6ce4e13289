"""Fetch the jars of the Neo4j server from a Maven repository and check them against the lock.

A company's own repository is used when jgo's configuration file names one under [repositories].
"""

import errno
import hashlib
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from graph.errors import ServerError
from graph.server.options import Progress, silent

if TYPE_CHECKING:
    from jgo.maven import MavenContext

LOCK = Path(__file__).with_name("neo4j.lock")
MEGABYTE = 1_000_000
_ATTEMPTS = 3
_CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class Jar:
    """One file of the lock."""

    sha256: str
    size: int
    """Bytes."""
    group: str
    artifact: str
    version: str
    classifier: str
    """Such as "linux-x86_64"; empty for most."""

    def path(self, repository: Path) -> Path:
        """Return where a Maven repository keeps it."""
        classifier = f"-{self.classifier}" if self.classifier else ""
        folder = repository.joinpath(*self.group.split("."), self.artifact, self.version)
        return folder / f"{self.artifact}-{self.version}{classifier}.jar"


def format_lock(version: str, jars: list[Jar]) -> str:
    """Return the text of a lock file: the server's version, then one tab-separated jar a line."""
    lines = ["\t".join(str(value) for value in astuple(jar)) for jar in jars]
    return "\n".join([f"neo4j {version}", *lines, ""])


@cache
def read_lock() -> tuple[str, tuple[Jar, ...]]:
    """Return the pinned server version and its jars."""
    head, *lines = LOCK.read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return head.removeprefix("neo4j "), tuple(Jar(row[0], int(row[1]), *row[2:]) for row in rows)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def classpath(repository: Path) -> list[Path]:
    """Return the paths of all jars, installed or not, in the order of the lock."""
    return [jar.path(repository) for jar in read_lock()[1]]


def missing(repository: Path) -> list[Jar]:
    """Return the jars that are not there in full length."""
    return [jar for jar in read_lock()[1] if _size(jar.path(repository)) != jar.size]


def install(repository: Path, progress: Progress = silent) -> None:
    """Fetch the jars that are missing; what an interrupted call left behind is fetched again.

    Raises:
        ServerError: No network, no space or no right to write, or a file that is not the pinned
            one.
    """
    if not missing(repository):
        return
    try:
        repository.mkdir(parents=True, exist_ok=True)
        with FileLock(repository.parent / f"{repository.name}.lock"):
            _fetch_all(missing(repository), repository, progress)
    except OSError as error:
        raise ServerError(_explain(error, repository)) from error


def _fetch_all(jars: list[Jar], repository: Path, progress: Progress) -> None:
    # jgo takes a quarter of a second to import and is needed only here.
    from jgo.config import GlobalSettings
    from jgo.maven import MavenContext

    mirrors = GlobalSettings.load().repositories or None
    context = MavenContext(repo_cache=repository, remote_repos=mirrors, timeout=60)
    total, done = sum(jar.size for jar in jars), 0
    title = f"Fetching Neo4j {read_lock()[0]}, {len(jars)} files, {total // MEGABYTE} MB"
    progress(title, 0, total)
    pool = ThreadPoolExecutor(_CONNECTIONS)
    try:
        running = {pool.submit(_fetch, jar, context): jar for jar in jars}
        for future in as_completed(running):
            future.result()
            done += running[future].size
            progress(title, done, total)
    finally:
        pool.shutdown(cancel_futures=True)


def _fetch(jar: Jar, context: "MavenContext") -> None:
    import stamina  # both are needed only here
    from requests import RequestException

    path = jar.path(context.repo_cache)
    component = context.project(jar.group, jar.artifact).at_version(jar.version)
    try:
        # Of some 240 files over a long line one connection is easily dropped.
        for attempt in stamina.retry_context(on=RequestException, attempts=_ATTEMPTS):
            with attempt:
                path.unlink(missing_ok=True)
                component.artifact(classifier=jar.classifier).resolve()
    except RuntimeError as error:  # what jgo raises where no repository has the file
        raise ServerError(
            f"No Maven repository has {path.name}: {error}. Check the [repositories] in jgo's "
            "configuration file, or use a server of your own through NEO4J_URI."
        ) from error
    if digest(path) != jar.sha256:
        path.unlink()
        raise ServerError(
            f"{path.name} is not the file that Milepost pins (its SHA-256 differs) and was "
            "removed. Try again; if it stays so, check the proxy or mirror in between."
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _explain(error: OSError, repository: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"No disk space left in {repository}: free 500 MB or set MILEPOST_CACHE_DIR."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
        return (
            f"Cannot write to {repository} ({error.strerror}): "
            "make it writable or set MILEPOST_CACHE_DIR."
        )
    return (
        f"Neo4j could not be fetched ({type(error).__name__}): check network and proxy and try "
        "again; without internet access use docker/README.md or set NEO4J_URI."
    )
