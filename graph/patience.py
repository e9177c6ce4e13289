"""Waits for a Neo4j that went away, so that a long run goes on once it is back.

The driver itself tries a transaction again for a while, in silence. This is for what lasts longer:
a server that is being restarted. Every transaction of the store may run twice, so it may wait.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from neo4j.exceptions import AuthError

from graph.errors import StoreUnavailable

T = TypeVar("T")

_PAUSE_SECONDS = 2.0
"""Between two looks whether the server is back."""


@dataclass(slots=True)
class Patience:
    """How long to wait, and who is told."""

    seconds: float
    """Longest wait for one transaction; 0 waits for nothing."""
    notify: Callable[[str], None]
    """Told in one line that a wait begins, and that it is over."""

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` again until the server answers.

        Ctrl-C ends the wait, and all waits after it.

        Raises:
            StoreUnavailable: It did not answer in time, or refuses the password.
        """
        import stamina  # only needed once something is written

        if self.seconds <= 0:  # which stamina takes for no limit at all
            return work()
        waiting = False
        timing = {"wait_initial": _PAUSE_SECONDS, "wait_max": _PAUSE_SECONDS, "wait_jitter": 0.0}
        try:
            for attempt in stamina.retry_context(
                _is_away, attempts=None, timeout=self.seconds, **timing
            ):
                if attempt.num == 2:
                    waiting = True
                    self.notify(
                        f"Neo4j does not answer. Waiting up to {_duration(self.seconds)} for it; "
                        "what was written so far is safe."
                    )
                with attempt:
                    result = work()
                    if waiting:
                        self.notify("Neo4j answers again; going on.")
                    return result
        except KeyboardInterrupt:
            self.seconds = 0
            raise
        raise AssertionError("stamina gave up without an error")


def _is_away(error: Exception) -> bool:
    return isinstance(error, StoreUnavailable) and not isinstance(error.__cause__, AuthError)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
