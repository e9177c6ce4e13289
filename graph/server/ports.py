"""Choose ports on the loopback interface."""

import socket

from graph.errors import ServerError

LOOPBACK = "127.0.0.1"
_TRIES = 200


def is_open(port: int) -> bool:
    """Tell whether something listens on a port."""
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex((LOOPBACK, port)) == 0


def is_free(port: int) -> bool:
    """Tell whether a server may listen on a port."""
    with socket.socket() as server:
        # Without it a port that was in use a minute ago counts as taken.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((LOOPBACK, port))
        except OSError:
            return False
    return not is_open(port)


def choose(wish: int, *, besides: int | None = None) -> int:
    """Return the wished port or the next free one above it.

    Args:
        wish: 1 to 65535.
        besides: A port that is already given away.

    Raises:
        ServerError: None of the next 200 is free.
    """
    for port in range(wish, min(wish + _TRIES, 65_536)):
        if port != besides and is_free(port):
            return port
    raise ServerError(
        f"No free port from {wish} on: stop what listens there, "
        "or set MILEPOST_BOLT_PORT and MILEPOST_HTTP_PORT."
    )
