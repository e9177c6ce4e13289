"""Counts and times in Prometheus' text format."""

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_HITS = (0, 1, 5, 10, 20, 50, 100, 1000)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """What one server has done so far."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "milepost_http_requests",
            "Requests by method, route and status.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "milepost_http_request_seconds",
            "Time from a request to the end of its response.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "milepost_stage_seconds",
            "Time of each stage of a search or an answer.",
            ["stage"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._hits = Histogram(
            "milepost_hits",
            "Passages found by a search.",
            ["system"],
            buckets=_HITS,
            registry=self._registry,
        )
        self.running = Gauge(
            "milepost_http_requests_running",
            "Requests that are being served.",
            registry=self._registry,
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request whose response has ended."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def found(self, system: str, hits: int) -> None:
        """Count the passages of a search."""
        self._hits.labels(system).observe(hits)

    def stages(self, timings_ms: Mapping[str, float]) -> None:
        """Count the times of the stages of a search or an answer."""
        for stage, milliseconds in timings_ms.items():
            self._stages.labels(stage).observe(milliseconds / 1000)

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self._registry)
