"""Java's ahead-of-time cache, which halves the time that a server takes to start.

It is written by a server that starts and stops once, in a folder of its own, and holds for these
jars and this Java runtime only (JEP 483 and 515).
"""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from graph.errors import MilepostError
from graph.server import java, ports, process
from graph.server.home import Home, Ports
from graph.server.options import Progress, ServerOptions
from graph.server.prepare import prepare
from graph.server.probe import wait_for_answer, wait_for_browser

_KEPT = 3
"""Caches of other environments that share the folder; 125 MB each."""
_WRITE_SECONDS = 300
_FIRST_PORT = 27_600


def options(options: ServerOptions, jars: Sequence[Path], progress: Progress) -> list[str]:
    """Return the Java options that use the cache, which is made if there is none yet.

    A cache that cannot be made is no failure: the server starts without, and the empty file
    keeps the next start from trying again.
    """
    path = cache_file(options.cache_dir, jars)
    if not path.exists():
        progress("Preparing quick starts (once, about half a minute)", None, None)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _make(path, options, jars)
        except MilepostError as error:
            progress(f"Starts will take a little longer: {error}", None, None)
            path.touch()
        _remove_old(path.parent)
    return [f"-XX:AOTCache={path}"] if path.stat().st_size else []


def cache_file(cache_dir: Path, jars: Sequence[Path]) -> Path:
    """Return the cache's path; its name changes with everything that it depends on."""
    runtime = java.JAVA.parent.parent / "lib" / "modules"
    key = [str(runtime), str(runtime.stat().st_mtime_ns), *java.OPTIONS, *map(str, jars)]
    name = hashlib.sha256("\n".join(key).encode()).hexdigest()[:16]
    return cache_dir / "aot" / f"{name}.aot"


def _make(path: Path, options: ServerOptions, jars: Sequence[Path]) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder).resolve() / "neo4j")
        made = Path(folder) / path.name
        bolt = ports.choose(_FIRST_PORT)
        chosen = Ports(bolt=bolt, http=ports.choose(bolt + 1))
        recording = [f"-XX:AOTCacheOutput={made}"]
        connection = prepare(home, replace(options, uri=None), chosen, jars, recording)
        server = process.launch(home)
        try:
            wait_for_answer(connection, options.start_seconds, server.is_running)
            wait_for_browser(chosen.http, server.is_running)
        finally:
            process.stop(server, _WRITE_SECONDS)
        if not made.exists():
            raise MilepostError("Java wrote no start-up cache")
        made.replace(path)


def _remove_old(folder: Path) -> None:
    newest_first = sorted(folder.glob("*.aot"), key=lambda p: p.stat().st_mtime, reverse=True)
    for path in newest_first[_KEPT:]:
        path.unlink()
