"""Tells quickly that Neo4j is away.

The store retries a lost connection for half a minute, which is right for a command and wrong for a
server: its threads would all wait. So it is asked, at most once a second, whether it is there.
"""

import time
from collections.abc import Callable
from threading import Lock

from graph.errors import StoreError

FRESH_SECONDS = 1.0


class GraphGate:
    """Lets requests through while the graph answers. Safe to use from several threads."""

    def __init__(
        self, ping: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Name what fails at once where the graph is away.

        Args:
            ping: `GraphStore.check_server`.
            clock: Seconds.
        """
        self._ping = ping
        self._clock = clock
        self._lock = Lock()
        self._asked_at = float("-inf")
        self._error: StoreError | None = None

    def check(self) -> None:
        """Go on if the graph answered within the last second, else ask it.

        Raises:
            StoreUnavailable: It does not answer.
            StoreError: It cannot be used.
        """
        with self._lock:
            if self._clock() - self._asked_at >= FRESH_SECONDS:
                self._error = self._ask()
                self._asked_at = self._clock()
            error = self._error
        if error is not None:
            raise error

    def _ask(self) -> StoreError | None:
        try:
            self._ping()
        except StoreError as error:
            return error
        return None
