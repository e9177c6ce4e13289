"""Things that the tests of the server's parts share; none of them starts a server."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.server.home import Home
from graph.server.options import ServerOptions


@pytest.fixture
def taken_port() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "data" / "neo4j")
    home.create()
    return home


@pytest.fixture
def options(tmp_path: Path) -> ServerOptions:
    return ServerOptions(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
