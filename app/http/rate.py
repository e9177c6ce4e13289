"""A limit on requests: a token bucket for each caller."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

_CALLERS = 10_000
"""Buckets to keep; the one that was longest unused is dropped, and would be full again."""


class RateLimit:
    """Lets each caller make so many requests a minute, a quarter of them at once.

    Safe to use from several threads.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Set the limit.

        Args:
            per_minute: Requests; 0 sets no limit.
            clock: Seconds.
        """
        self._per_second = per_minute / 60
        self._most = max(1.0, per_minute / 4)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def take(self, caller: str) -> float:
        """Count a request.

        Returns:
            0 where it may go on, else the seconds after which the next one may.
        """
        if not self._per_second:
            return 0.0
        with self._lock:
            now = self._clock()
            left, at = self._buckets.pop(caller, (self._most, now))
            left = min(self._most, left + (now - at) * self._per_second)
            allowed = left >= 1
            self._buckets[caller] = (left - allowed, now)
            if len(self._buckets) > _CALLERS:
                self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second
