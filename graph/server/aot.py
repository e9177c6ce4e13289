"""Java's ahead-of-time cache, which halves the time that a server takes to start.

It is written by a server that starts and stops once, in a folder of its own, and holds for these
jars and this Java runtime only (JEP 483 and 515).
"""

import hashlib
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from graph.errors import MilepostError, ServerError
from graph.server import java, ports, process
from graph.server.home import Home, Ports
from graph.server.java import Runtime
from graph.server.options import Progress, ServerOptions
from graph.server.prepare import prepare
from graph.server.probe import wait_for_answer, wait_for_browser

_KEPT = 3
"""Caches of other environments that share the folder; 125 MB each."""
_WRITE_SECONDS = 300
_RETRY_SECONDS = 24 * 3600
_FIRST_PORT = 27_600


def options(
    options: ServerOptions, runtime: Runtime, jars: Sequence[Path], progress: Progress
) -> list[str]:
    """Return the Java options that use the cache, which is made if there is none yet.

    A cache that cannot be made is no failure: the server starts without, and an empty file keeps
    other starts on the same day from trying again.
    """
    path = cache_file(options.cache_dir.resolve(), runtime, jars)
    if _is_wanted(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        progress("Preparing quick starts (once, about half a minute)", None, None)
        with FileLock(path.parent / "training.lock"):
            if _is_wanted(path):  # another process may have made it meanwhile
                _make_or_mark(path, options, runtime, jars, progress)
    return [f"-XX:AOTCache={path}"] if path.stat().st_size else []


def cache_file(cache_dir: Path, runtime: Runtime, jars: Sequence[Path]) -> Path:
    """Return the cache's path; its name changes with everything that it depends on."""
    image = runtime.home / "lib" / "modules"
    changed = str(image.stat().st_mtime_ns)
    key = [str(image), changed, *java.OPTIONS, *runtime.options, *map(str, jars)]
    name = hashlib.sha256("\n".join(key).encode()).hexdigest()[:16]
    return cache_dir / "aot" / f"{name}.aot"


def _is_wanted(path: Path) -> bool:
    if not path.exists():
        return True
    failed = path.stat().st_size == 0
    return failed and time.time() - _modified(path) > _RETRY_SECONDS


def _make_or_mark(
    path: Path,
    options: ServerOptions,
    runtime: Runtime,
    jars: Sequence[Path],
    progress: Progress,
) -> None:
    home = Home(path.parent / "training")
    try:
        _remove(home)  # what a killed process left behind
        _make(path, home, options, runtime, jars)
    except MilepostError as error:
        progress(f"Starts will take a little longer: {error}", None, None)
        path.touch()
    finally:
        _remove(home)
    newest_first = sorted(path.parent.glob("*.aot"), key=_modified, reverse=True)
    for old in newest_first[_KEPT:]:
        old.unlink()


def _make(
    path: Path, home: Home, options: ServerOptions, runtime: Runtime, jars: Sequence[Path]
) -> None:
    bolt = ports.choose(_FIRST_PORT)
    chosen = Ports(bolt=bolt, http=ports.choose(bolt + 1))
    made = home.root / path.name
    connection = prepare(
        home, options, chosen, jars, [*runtime.options, f"-XX:AOTCacheOutput={made}"]
    )
    server = process.launch(home, runtime.executable)
    try:
        wait_for_answer(connection, options.start_seconds, server.is_running)
        wait_for_browser(chosen.http, server.is_running)
    finally:
        process.stop(server, _WRITE_SECONDS)
    if not made.exists():
        raise ServerError(f"Java wrote no start-up cache to {path.parent}")
    made.replace(path)


def _remove(home: Home) -> None:
    server = process.find(home)
    if server is not None:
        process.stop(server, seconds=0)
    if home.root.exists():
        shutil.rmtree(home.root)


def _modified(path: Path) -> float:
    return path.stat().st_mtime
