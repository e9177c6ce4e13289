"""The server's process: started apart from ours, found again, and stopped."""

import subprocess
from pathlib import Path

import psutil

from graph.errors import ServerError
from graph.server import java
from graph.server.home import Home

_SHELL = Path("/bin/sh")
_POLITE_SECONDS = 60
"""Time to write a checkpoint; Neo4j itself waits up to 10 s for open transactions."""

_KILL_SECONDS = 10


def launch(home: Home, executable: Path) -> psutil.Process:
    """Start Java on the home's argument file, in a session of its own, and return at once.

    The shell in between ends immediately, so that the server is nobody's child here: it outlives
    the caller, gets none of its signals, and leaves no zombie in a caller that lives on.
    """
    if not _SHELL.exists():
        raise ServerError(
            "The local server needs a POSIX system: use Docker, or set NEO4J_URI to a server."
        )
    script = 'exec "$1" "@$2" >"$3" 2>&1 </dev/null & echo $!'
    started = subprocess.run(
        [_SHELL, "-c", script, "sh", executable, home.arguments, home.console],
        cwd=home.root,
        env=java.environment(home),
        stdout=subprocess.PIPE,
        start_new_session=True,
        check=True,
    )
    return psutil.Process(int(started.stdout))


def find(home: Home) -> psutil.Process | None:
    """Return the server that runs on a home folder, whoever started it.

    It is recognised by its command line: a process id in a file may be stale, or be another
    program's by now.
    """
    hint = _read_pid(home)
    if hint is not None and psutil.pid_exists(hint):
        process = psutil.Process(hint)
        if is_ours(process, home):
            return process
    return next((p for p in psutil.process_iter() if is_ours(p, home)), None)


def is_ours(process: psutil.Process, home: Home) -> bool:
    """Tell whether a process is alive and runs the server of this home folder."""
    try:
        return f"@{home.arguments}" in process.cmdline()  # a zombie's is empty
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def stop(process: psutil.Process, seconds: float = _POLITE_SECONDS) -> bool:
    """End a server: ask, wait, and kill it if need be; tell whether it went by itself."""
    try:
        process.terminate()
        process.wait(seconds)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        process.kill()
        process.wait(_KILL_SECONDS)
        return False
    return True


def _read_pid(home: Home) -> int | None:
    try:
        return int((home.root / "run" / "neo4j.pid").read_text("utf-8"))
    except (OSError, ValueError):
        return None  # not there, or half written: every process is looked at instead
