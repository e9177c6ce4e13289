"""The configuration that a local server runs with."""

from graph.server.home import Ports
from graph.server.options import ServerOptions
from graph.server.ports import LOOPBACK

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "style-src 'self' 'unsafe-inline'",
        "connect-src 'self' ws://127.0.0.1:*",
        "base-uri 'none'",
        "object-src 'none'",
        "frame-ancestors 'none'",
    )
)
"""What Neo4j Browser may load and talk to: this machine, where Neo4j's default also lets it reach
four services that count its users."""


def settings(options: ServerOptions, ports: Ports) -> dict[str, str]:
    """Return Neo4j's settings: this machine only, no calls home, fit for a laptop.

    The names are those of Neo4j's operations manual, but for the two `internal` ones, without
    which every stop waits ten seconds for network threads that have nothing left to do.
    """
    return {
        "server.default_listen_address": LOOPBACK,
        "server.default_advertised_address": LOOPBACK,
        "server.bolt.listen_address": f"{LOOPBACK}:{ports.bolt}",
        "server.bolt.advertised_address": f"{LOOPBACK}:{ports.bolt}",
        "server.http.listen_address": f"{LOOPBACK}:{ports.http}",
        "server.http.advertised_address": f"{LOOPBACK}:{ports.http}",
        "server.http.x_forward.enabled": "false",
        "server.memory.heap.max_size": f"{options.heap_mb}m",
        "server.memory.pagecache.size": f"{options.page_cache_mb}m",
        # Usage reports, the fleet manager and its broadcasts, and the Browser's own reports.
        "dbms.usage_report.enabled": "false",
        "dbms.fleet_manager.enabled": "false",
        "server.fleet_discovery.enabled": "false",
        "client.allow_telemetry": "false",
        "dbms.security.http_static_content_security_policy_header": CONTENT_SECURITY_POLICY,
        # The query log would keep the questions that people ask.
        "db.logs.query.enabled": "OFF",
        # 256 MB of log are preallocated for each of two databases otherwise.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "64m",
        "db.tx_log.rotation.retention_policy": "1 days 256M",
        "internal.dbms.bolt.netty_server_shutdown_timeout": "100ms",
        "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
    }


def render(settings: dict[str, str]) -> str:
    """Return the text of a neo4j.conf."""
    lines = [f"{name}={value}" for name, value in settings.items()]
    return "\n".join(["# Written by Milepost at every start; changes are lost.", *lines, ""])
