"""Backups of the local server's graph: Neo4j's own dump format, which any server of it loads."""

import shutil
import tempfile
from pathlib import Path
from typing import IO

from graph.errors import ServerError, UsageError
from graph.server import jars, java, local
from graph.server.home import Home
from graph.server.options import Progress, ServerOptions, silent

DATABASE = "neo4j"
"""The only one that the Community edition has beside its own."""


def backup(options: ServerOptions, file: Path, progress: Progress = silent) -> None:
    """Write the graph to a file; a server that runs is stopped for it and started again.

    Raises:
        UsageError: There is no graph yet.
        ServerError: The file cannot be written, or the dump failed; no half file is left.
    """
    home = local.home_of(options)
    if not home.graph.exists():
        raise UsageError(f"There is no graph in {home.root} yet: nothing to back up.")
    partial = file.with_name(f"{file.name}.partial")
    was_running = local.stop(options, progress)
    try:
        progress(f"Writing {file}", None, None)
        with home.locked(progress, options.start_seconds):
            _dump(home, options, partial)
        partial.replace(file)
    except OSError as error:
        raise ServerError(
            f"Cannot write {file} ({error.strerror}): choose another place."
        ) from error
    finally:
        partial.unlink(missing_ok=True)
        if was_running:
            local.start(options, progress)


def restore(options: ServerOptions, file: Path, progress: Progress = silent) -> None:
    """Replace the graph by a backup and start the server.

    Raises:
        ServerError: The file cannot be read or is no backup; the graph is then as it was.
    """
    home = local.home_of(options)
    if not home.graph.exists():
        local.start(options, progress)  # makes the folder, with a password of its own
    local.stop(options, progress)
    try:
        progress(f"Reading {file}", None, None)
        with home.locked(progress, options.start_seconds), file.open("rb") as source:
            _load(home, options, source)
    except OSError as error:
        raise ServerError(
            f"Cannot read {file} ({error.strerror}): name a file that `milepost db backup` wrote."
        ) from error
    finally:
        local.start(options, progress)


def _dump(home: Home, options: ServerOptions, file: Path) -> None:
    with file.open("wb") as target:
        command = ["database", "dump", DATABASE, "--to-stdout"]
        java.run_admin(home, _jars(options), command, stdout=target)


def _load(home: Home, options: ServerOptions, source: IO[bytes]) -> None:
    # Loading empties the graph before it looks at the file, so the graph is moved away meanwhile.
    folders = [home.root / "data" / part / DATABASE for part in ("databases", "transactions")]
    with tempfile.TemporaryDirectory(prefix="before-restore-", dir=home.root) as aside:
        kept = [folder.rename(Path(aside, folder.parent.name)) for folder in folders]
        command = ["database", "load", DATABASE, "--from-stdin", "--overwrite-destination"]
        try:
            java.run_admin(home, _jars(options), command, stdin=source)
        except ServerError:
            for folder, original in zip(folders, kept, strict=True):
                shutil.rmtree(folder, ignore_errors=True)
                original.rename(folder)
            raise


def _jars(options: ServerOptions) -> list[Path]:
    return jars.classpath(local.repository_of(options))
