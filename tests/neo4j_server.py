"""Finds a real Neo4j for the tests: one that is given, a container, or a local server."""

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from app import settings
from graph.errors import ServerError
from graph.server import docker, engine, local
from graph.server.options import Connection, ServerOptions
from graph.server.probe import ask_version

FIRST_PORT = 27_700
"""Far from the ports of a server that the developer may be running."""


def options_for(folder: Path) -> ServerOptions:
    """A server of the tests' own, in a folder of its own; only the jars are the user's."""
    return ServerOptions(
        data_dir=folder,
        cache_dir=settings.load().cache_dir,
        bolt_port=FIRST_PORT,
        http_port=FIRST_PORT + 300,
        heap_mb=768,
        page_cache_mb=256,
        prefer="local",
        project="milepost-tests",
    )


@contextmanager
def running_server(folder: Path) -> Generator[Connection]:
    """A server for as long as the context lasts."""
    image = None if given_server() else available_image()
    if given := given_server():
        yield given
    elif image:
        with running_container(image) as connection:
            yield connection
    else:
        with running_locally(options_for(folder)) as connection:
            yield connection


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


def available_image() -> str | None:
    """An image that a Docker engine here has or can fetch; None where there is neither."""
    if not engine.answers():
        return None
    try:
        return docker.choose_image(options_for(Path()))
    except ServerError:
        return None


@contextmanager
def running_container(image: str) -> Generator[Connection]:
    """A container of the image, started by testcontainers, on a port of Docker's choice."""
    from testcontainers.community.neo4j import Neo4jContainer
    from testcontainers.core.config import testcontainers_config

    # Its reaper is one more image, which an engine without a registry cannot get.
    testcontainers_config.ryuk_disabled = True
    testcontainers_config.max_tries = 300  # seconds; a busy machine starts Java slowly
    container = Neo4jContainer(image, password=secrets.token_urlsafe(16))
    for name, value in (
        ("server_memory_heap_max__size", "768m"),
        ("server_memory_pagecache_size", "256m"),
        ("dbms_usage__report_enabled", "false"),
        ("server_fleet__discovery_enabled", "false"),
    ):
        container.with_env(f"NEO4J_{name}", value)
    with container:
        connection = Connection(
            kind="docker",
            uri=container.get_connection_url(),
            username=container.username,
            password=container.password,
        )
        ask_version(connection)
        yield connection


@contextmanager
def running_locally(options: ServerOptions) -> Generator[Connection]:
    """A local server, stopped at the end."""
    try:
        yield local.start(options)
    finally:
        local.stop(options)
