"""The Docker command line: is there an engine, is there an image, run compose."""

import functools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from graph.errors import ServerError
from graph.server import jars

COMPOSE_FILE = Path(__file__).parents[2] / "docker-compose.yml"
VARIABLES = ("NEO4J_PASSWORD", "MILEPOST_IMAGE", "MILEPOST_BOLT_PORT", "MILEPOST_HTTP_PORT")
"""What the compose file reads."""

_ANSWER_SECONDS = 10
_COMMAND_SECONDS = 300
_PULL_SECONDS = 1800


def answers() -> bool:
    """Tell whether a Docker engine answers."""
    return _run(["docker", "version"], _ANSWER_SECONDS).returncode == 0


def pinned_image() -> str:
    """Return the official image, as docker-compose.yml names it."""
    return f"neo4j:{jars.read_lock()[0]}-community"


def built_image() -> str:
    """Return the image that docker/build.sh makes."""
    return f"milepost/neo4j:{jars.read_lock()[0]}"


def has_image(image: str) -> bool:
    """Tell whether an image is on this machine."""
    return _run(["docker", "image", "inspect", image], _COMMAND_SECONDS).returncode == 0


def pull(image: str) -> None:
    """Fetch an image.

    Raises:
        ServerError: The registry cannot be reached or has no such image.
    """
    done = _run(["docker", "pull", "--quiet", image], _PULL_SECONDS)
    if done.returncode:
        raise ServerError(
            f"Docker cannot fetch {image} ({_last_line(done.stderr)}): build the image with "
            "docker/build.sh, or set MILEPOST_SERVER=local."
        )


def container(project: str) -> str | None:
    """Return the id of the project's running Neo4j container."""
    filters = (
        f"label=com.docker.compose.project={project}",
        "label=com.docker.compose.service=neo4j",
    )
    command = ["docker", "ps", "--quiet", "--filter", filters[0], "--filter", filters[1]]
    return _run(command, _COMMAND_SECONDS).stdout.strip() or None


def logs(project: str) -> str:
    """Return what the project's last Neo4j container printed."""
    labels = f"label=com.docker.compose.project={project}"
    listed = _run(["docker", "ps", "--all", "--quiet", "--filter", labels], _COMMAND_SECONDS)
    names = listed.stdout.split()
    if not names:
        return ""
    done = _run(["docker", "logs", "--tail", "200", names[0]], _COMMAND_SECONDS)
    return done.stdout + done.stderr


def compose(project: str, variables: Path, command: Sequence[str]) -> str:
    """Run a compose command on the project; return what it printed.

    Args:
        project: Its name; containers and volumes are named after it.
        variables: File with the values of `VARIABLES`.
        command: Such as ["up", "--detach"].

    Raises:
        ServerError: There is no compose, or it failed.
    """
    # A variable in the caller's environment would win over the file's value.
    unset = [part for name in VARIABLES for part in ("-u", name)]
    files = ["-p", project, "-f", str(COMPOSE_FILE), "--env-file", str(variables)]
    done = _run(["env", *unset, *_compose_command(), *files, *command], _COMMAND_SECONDS)
    if done.returncode:
        raise ServerError(
            f"docker compose {command[0]} failed: {_last_line(done.stderr)}. "
            "Mend that, or set MILEPOST_SERVER=local."
        )
    return done.stdout


def has_compose() -> bool:
    """Tell whether compose is installed, as a plugin or by itself."""
    return _find_compose() is not None


@functools.cache
def _find_compose() -> tuple[str, ...] | None:
    if _run(["docker", "compose", "version"], _ANSWER_SECONDS).returncode == 0:
        return ("docker", "compose")
    return ("docker-compose",) if shutil.which("docker-compose") else None


def _compose_command() -> tuple[str, ...]:
    found = _find_compose()
    if found:
        return found
    raise ServerError(
        "Docker answers but has no compose: install the compose plugin, "
        "or set MILEPOST_SERVER=local."
    )


def _run(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command; one that is not there or does not end has failed like any other."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, 127, "", f"{command[0]} is not installed")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no end after {seconds:.0f} seconds")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
