"""Ask a server whether it is there, and read from its log why it is not."""

import logging
import re
import time
from collections.abc import Callable

from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graph import cypher
from graph.errors import ServerError, StoreUnavailable
from graph.server.options import Connection
from graph.server.ports import is_open

_PAUSE = 0.1
_OPEN_SECONDS = 20
"""A graph is opened, recovery included, before the server listens; this is for good measure."""
_NO_LOG = logging.NullHandler()
_REASONS = (
    (r"No space left on device|Disk quota", "the disk is full: free some space"),
    (
        r"OutOfMemoryError|insufficient memory|Could not reserve|Cannot allocate memory",
        "there is too little memory: close other programs or give it less heap",
    ),
    (r"FileLockException|LockException", "another process uses its folder: stop that one first"),
    (r"AccessDenied|Permission denied", "it may not write to its folder: mend the rights"),
    (
        r"upgrade|downgrade|[Uu]nsupported.*version|StoreVersion",
        "the graph was written by another version of Neo4j: use that one, or `milepost db reset`",
    ),
)


def ask_version(connection: Connection) -> str:
    """Return the version of a server, by a query.

    Raises:
        StoreUnavailable: It does not answer, or refuses the password.
    """
    # A server that goes away while it is asked is no news to the user: see `explain_death`.
    logging.getLogger("neo4j").addHandler(_NO_LOG)
    auth = (connection.username, connection.password)
    try:
        with (
            GraphDatabase.driver(connection.uri, auth=auth, connection_timeout=5) as driver,
            driver.session() as session,
        ):
            return str(session.run(cypher.SERVER_VERSION).single(strict=True)["version"])
    except AuthError as error:
        raise StoreUnavailable(
            f"{connection.uri} refuses user {connection.username} with the password given: "
            f"{error.message or type(error).__name__}."
        ) from error
    except (DriverError, Neo4jError, ValueError, OSError) as error:
        raise _Unanswered(f"{connection.uri} does not answer: {error}") from error


class _Unanswered(StoreUnavailable):
    """The server does not answer, which may change while it starts."""


def wait_for_answer(
    connection: Connection, seconds: float, is_alive: Callable[[], bool]
) -> str | None:
    """Ask until the server answers; return its version, or None once it has died or time is up.

    Raises:
        StoreUnavailable: It refuses the password.
        ServerError: It runs, but cannot open the graph.
    """
    deadline = time.monotonic() + seconds
    opening = None
    while time.monotonic() < deadline and is_alive():
        try:
            return ask_version(connection)
        except _Unanswered as error:
            if isinstance(error.__cause__, Neo4jError):  # what listens is up, the graph is not
                opening = opening or time.monotonic()
                _give_up_after(_OPEN_SECONDS, opening, error)
            time.sleep(_PAUSE)
    return None


def _give_up_after(seconds: float, since: float, error: StoreUnavailable) -> None:
    if time.monotonic() - since > seconds:
        raise ServerError(
            "Neo4j runs but cannot open the graph, which seems damaged (its debug.log says why): "
            "restore a backup with `milepost db restore`, or remove it with `milepost db reset`."
        ) from error


def wait_for_browser(port: int, is_alive: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until the HTTP port is open, which is the last step of a start.

    A server that is stopped before that ends abruptly and must recover at its next start.
    """
    deadline = time.monotonic() + seconds
    while is_alive() and not is_open(port) and time.monotonic() < deadline:
        time.sleep(_PAUSE)


class PortTaken(ServerError):
    """Another program took the port between its choice and the server's use of it."""


def explain_death(text: str, where: str) -> ServerError:
    """Return an error that quotes the line of a server's log which says why it ended.

    Args:
        text: What the server printed.
        where: The log's file, or the command that prints it.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if "already in use" in text:
        return PortTaken(f"Another program took Neo4j's port: start again (log: {where}).")
    for pattern, advice in _REASONS:
        found = next((line for line in reversed(lines) if re.search(pattern, line)), None)
        if found:
            return ServerError(f"Neo4j did not start: {advice}. It says: {found} (log: {where})")
    causes = [line for line in lines if re.search(r"Caused by|ERROR|Error|Exception", line)]
    last = (causes or lines or ["nothing"])[-1]
    return ServerError(f"Neo4j did not start. It says: {last} (log: {where})")
