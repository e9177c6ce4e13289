"""Finds a real Neo4j for the tests: one that is given, a container, or a local server."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from app import settings
from graph.server import local
from graph.server.options import Connection, ServerOptions

FIRST_PORT = 27_700
"""Far from the ports of a server that the developer may be running."""


def local_options(folder: Path) -> ServerOptions:
    """A local server in a folder of its own; only the jars are shared with the user's."""
    return ServerOptions(
        data_dir=folder,
        cache_dir=settings.load().cache_dir,
        bolt_port=FIRST_PORT,
        http_port=FIRST_PORT + 300,
        heap_mb=768,
        page_cache_mb=256,
        prefer="local",
    )


def given_server() -> Connection | None:
    """The server that NEO4J_TEST_URI names; its graph is emptied by the tests."""
    uri = os.environ.get("NEO4J_TEST_URI")
    if not uri:
        return None
    return Connection(
        kind="remote",
        uri=uri,
        username=os.environ.get("NEO4J_TEST_USERNAME", "neo4j"),
        password=os.environ["NEO4J_TEST_PASSWORD"],
    )


@contextmanager
def running_server(folder: Path) -> Generator[Connection]:
    """A server for as long as the context lasts."""
    given = given_server()
    if given:
        yield given
        return
    options = local_options(folder)
    connection = local.start(options)
    try:
        yield connection
    finally:
        local.stop(options)
