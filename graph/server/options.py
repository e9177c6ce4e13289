"""What a Neo4j server is started with, and how one that runs is reached."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Progress = Callable[[str, int | None, int | None], None]
"""Told what is being done, and how many of how many bytes are; None where nothing is counted."""

Kind = Literal["remote", "docker", "local"]


def silent(message: str, done: int | None, total: int | None) -> None:
    """Report progress to nobody."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Which server to use and, if Milepost runs it, how."""

    data_dir: Path
    """Holds the graph, its logs and its password."""
    cache_dir: Path
    """Holds what can be fetched or made again: the jars and Java's cache of them."""
    uri: str | None = None
    """A server that somebody else runs; everything below `password` is then without effect."""
    username: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    """For `uri` and for Docker; the local server makes its own."""
    prefer: Literal["auto", "docker", "local"] = "auto"
    bolt_port: int = 7687
    """Wish; the next free port is taken, and remembered, where it is in use."""
    http_port: int = 7474
    java_home: Path | None = None
    """Java for the local server; None for what `java.find_runtime` finds."""
    heap_mb: int = 1024
    page_cache_mb: int = 512
    start_seconds: float = 180
    """How long a start may take, recovery of a large graph included."""
    image: str | None = None
    """Docker image; None for ours if it was built on this machine, else the one compose pins."""
    project: str = "milepost"
    """Name of the compose project: another one has a graph of its own."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A server that can be asked."""

    kind: Kind
    uri: str
    username: str
    password: str = field(repr=False)
    browser: str | None = None
    """Address of Neo4j Browser; None where it is not known."""
    version: str | None = None
    """Such as "2026.08.1"; None where nobody has asked yet."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What `milepost db status` tells."""

    kind: Kind
    running: bool
    uri: str | None = None
    browser: str | None = None
    version: str | None = None
    username: str = "neo4j"
    password_file: Path | None = None
    data: str | None = None
    """Where the graph is: a folder, or the name of a Docker volume."""
    data_mb: int | None = None
    log: str | None = None
    """A file, or the command that prints it."""
    pid: int | None = None
    java: str | None = None
    """Which Java runs it, and whether with vector instructions; known of a local server only."""
