"""Make a home folder ready for a start: configuration, arguments and, once, the password."""

from collections.abc import Sequence
from pathlib import Path

from graph.server import config, java
from graph.server.home import Home, Ports
from graph.server.options import Connection, ServerOptions
from graph.server.ports import LOOPBACK

USERNAME = "neo4j"


def prepare(
    home: Home,
    options: ServerOptions,
    ports: Ports,
    jars: Sequence[Path],
    extra: Sequence[str] = (),
) -> Connection:
    """Write all that a server needs before it starts; return how it will be reached.

    Args:
        home: Folder of a server that is not running.
        options: Memory.
        ports: Where it shall listen.
        jars: Its class path.
        extra: More options for Java.

    Raises:
        ServerError: The folder is not writable, or the password is lost.
    """
    home.create()
    settings = config.settings(options, ports)
    (home.conf / "neo4j.conf").write_text(config.render(settings), "utf-8")
    java.write_arguments(home.arguments, java.server_arguments(home, jars, options.heap_mb, extra))
    password = home.password()
    if not home.graph.exists():
        java.run_admin(home, jars, ["dbms", "set-initial-password", "--", password])
    return connection(password, ports)


def connection(password: str, ports: Ports) -> Connection:
    """Return how the server on these ports is reached."""
    return Connection(
        kind="local",
        uri=f"bolt://{LOOPBACK}:{ports.bolt}",
        username=USERNAME,
        password=password,
        browser=f"http://{LOOPBACK}:{ports.http}/browser/",
    )
