"""The local Neo4j server, lived through in order: started, killed, restarted, backed up, reset."""

import os
import signal
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from neo4j import GraphDatabase

from graph.errors import ServerError, StoreUnavailable
from graph.server import dump, jars, local, process
from graph.server.home import write_secret
from graph.server.options import Connection, ServerOptions
from tests.neo4j_server import options_for

pytestmark = pytest.mark.neo4j


@dataclass(frozen=True)
class FirstStart:
    """Two starts at once in a new folder, while the wished Bolt port is taken."""

    connections: list[Connection]
    messages: list[str]


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOptions]:
    folder = tmp_path_factory.mktemp("a folder with späces")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = options_for(folder)
        options = ServerOptions(
            data_dir=folder,
            cache_dir=options.cache_dir,
            heap_mb=options.heap_mb,
            page_cache_mb=options.page_cache_mb,
            bolt_port=taken.getsockname()[1],
            http_port=options.http_port + 100,
        )
        yield options
    local.stop(options)


@pytest.fixture(scope="module")
def first(options: ServerOptions) -> FirstStart:
    messages: list[str] = []
    home = local.home_of(options)
    home.create()
    # One in 64 of the passwords that are made up begins like this.
    write_secret(home.password_file, "-begins-with-a-dash")

    def start() -> Connection:
        return local.start(options, lambda message, done, total: messages.append(message))

    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(start) for _ in range(2)]
        return FirstStart([future.result() for future in futures], messages)


@pytest.fixture
def server(first: FirstStart, options: ServerOptions) -> Connection:
    """The server, running whatever the test before did."""
    return local.start(options)


def run(connection: Connection, statement: str) -> list[dict[str, object]]:
    auth = (connection.username, connection.password)
    with GraphDatabase.driver(connection.uri, auth=auth) as driver:
        return [record.data() for record in driver.execute_query(statement).records]


def server_process(options: ServerOptions) -> psutil.Process:
    found = process.find(local.home_of(options))
    assert found is not None
    return found


def test_two_starts_at_once_start_one_server(first: FirstStart) -> None:
    assert first.connections[0] == first.connections[1]
    assert sum(message.startswith("Starting") for message in first.messages) == 1


def test_a_server_that_was_started_answers_a_query(first: FirstStart) -> None:
    assert run(first.connections[0], "RETURN 1 AS one") == [{"one": 1}]
    assert first.connections[0].version == jars.read_lock()[0]


def test_where_the_wished_port_is_taken_another_is_used_and_told(
    first: FirstStart, options: ServerOptions
) -> None:
    assert not first.connections[0].uri.endswith(f":{options.bolt_port}")
    assert any(str(options.bolt_port) in message for message in first.messages)


def test_starting_a_running_server_changes_nothing(
    server: Connection, options: ServerOptions
) -> None:
    before = server_process(options).pid

    assert local.start(options) == server
    assert server_process(options).pid == before


def test_the_status_of_a_running_server_tells_its_address(
    server: Connection, options: ServerOptions
) -> None:
    found = local.status(options)

    assert (found.running, found.uri, found.browser) == (True, server.uri, server.browser)


def test_the_password_is_readable_by_its_owner_only(
    server: Connection, options: ServerOptions
) -> None:
    home = local.home_of(options)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (home.password_file, home.arguments)}

    assert home.password_file.read_text() == server.password
    assert modes == {0o600}


def test_the_server_listens_on_the_loopback_interface_only(
    server: Connection, options: ServerOptions
) -> None:
    connections = server_process(options).net_connections()
    listening = {c.laddr.ip for c in connections if c.status == psutil.CONN_LISTEN}

    assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}


def test_the_password_is_on_no_command_line(server: Connection, options: ServerOptions) -> None:
    assert server.password not in " ".join(server_process(options).cmdline())


def test_neo4j_browser_is_served(server: Connection) -> None:
    assert server.browser
    with urlopen(server.browser) as response:
        assert b"<html" in response.read().lower()


def test_a_wrong_password_in_the_file_is_named_and_nothing_is_waited_for(
    server: Connection, options: ServerOptions
) -> None:
    file = local.home_of(options).password_file
    file.write_text("wrong-password")
    try:
        with pytest.raises(StoreUnavailable, match=str(file)):
            local.start(options)
    finally:
        file.write_text(server.password)


def test_a_killed_server_starts_again_with_its_graph_on_the_same_port(
    server: Connection, options: ServerOptions
) -> None:
    run(server, "CREATE (:Note {text: 'kept'})")
    victim = server_process(options)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait(10)

    again = local.start(options)

    assert again == server
    assert run(again, "MATCH (n:Note) RETURN n.text AS text") == [{"text": "kept"}]


def test_a_stale_pid_file_stops_neither_status_nor_start(
    server: Connection, options: ServerOptions
) -> None:
    local.stop(options)
    pid_file = local.home_of(options).root / "run" / "neo4j.pid"
    pid_file.parent.mkdir(exist_ok=True)
    pid_file.write_text(str(os.getpid()))

    assert not local.status(options).running
    assert local.find(options) is None
    assert local.start(options) == server


def test_a_graph_comes_back_from_its_backup(
    server: Connection, options: ServerOptions, tmp_path: Path
) -> None:
    file = tmp_path / "graph.dump"
    run(server, "MATCH (n) DETACH DELETE n")
    run(server, "CREATE (:Note {text: 'backed up'})")

    dump.backup(options, file)
    run(server, "MATCH (n) DETACH DELETE n")
    dump.restore(options, file)

    assert run(server, "MATCH (n:Note) RETURN n.text AS text") == [{"text": "backed up"}]
    assert [path.name for path in tmp_path.iterdir()] == ["graph.dump"]


def test_a_file_that_is_no_backup_leaves_the_graph_as_it_was(
    server: Connection, options: ServerOptions, tmp_path: Path
) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Sir or Madam")
    before = run(server, "MATCH (n) RETURN count(n) AS nodes")

    with pytest.raises(ServerError, match="database load failed"):
        dump.restore(options, file)

    assert run(server, "MATCH (n) RETURN count(n) AS nodes") == before


def test_stopping_twice_tells_that_nothing_ran(server: Connection, options: ServerOptions) -> None:
    assert [local.stop(options), local.stop(options)] == [True, False]


def test_a_graph_without_its_password_file_is_not_given_a_new_one(
    server: Connection, options: ServerOptions
) -> None:
    home = local.home_of(options)
    local.stop(options)
    home.password_file.unlink()
    try:
        with pytest.raises(ServerError, match="is gone"):
            local.start(options)
    finally:
        home.password_file.write_text(server.password)


def test_reset_removes_the_graph_and_keeps_the_jars(
    first: FirstStart, options: ServerOptions
) -> None:
    assert local.reset(options)
    assert not local.home_of(options).root.exists()
    assert not jars.missing(local.repository_of(options))
    assert not local.reset(options)
