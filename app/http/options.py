"""What a person may choose about the server, and which addresses are this machine's own."""

import ipaddress
from dataclasses import dataclass

from graph.errors import UsageError


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How the server treats its callers."""

    host: str = "127.0.0.1"
    """Address that it listens on."""
    requests_per_minute: int = 600
    """For each key, or each address where there is no key; 0 sets no limit."""
    cors_origins: tuple[str, ...] = ()
    """Web pages of these origins may call it from a browser; empty means none."""
    json_bytes: int = 1_000_000
    """Longest body of a request that is no upload."""
    upload_bytes: int = 50_000_000
    """Longest upload."""
    workers: int = 32
    """Answers that are made at the same time; further ones wait."""
    client_seconds: float = 30.0
    """How long a client may take to send or to receive one piece, before it is given up."""
    heartbeat_seconds: float = 15.0
    """Silence after which a stream gets a comment, so that no proxy cuts it."""


def is_loopback(host: str) -> bool:
    """Tell whether an address or name means this machine alone."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def check_origins(origins: tuple[str, ...]) -> None:
    """Refuse origins that are none.

    Raises:
        UsageError: One is "*", which would let any web page read with a visitor's rights, or has
            no scheme.
    """
    for origin in origins:
        if "*" in origin:
            raise UsageError(
                f"The origin {origin!r} would let every web page in: name the pages that may call, "
                "such as https://docs.example.org."
            )
        scheme, _, rest = origin.partition("://")
        if scheme not in ("http", "https") or not rest or "/" in rest:
            raise UsageError(
                f"{origin!r} is no origin: write scheme, host and port without a path, such as "
                "https://docs.example.org."
            )
