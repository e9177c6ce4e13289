from dataclasses import replace

import pytest

from graph.errors import ConfigurationError, ServerError, UsageError
from graph.server import docker, engine, local, locate
from graph.server.options import Connection, Progress, ServerOptions, silent


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "answers", lambda: False)
    # The machine that runs the tests may have an engine, and a graph in it, as after `make demo`.
    monkeypatch.setattr(engine, "container", lambda project: None)


@pytest.fixture
def an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "answers", lambda: True)


def use_local(options: ServerOptions) -> None:
    local.home_of(options).graph.mkdir(parents=True)


def use_docker(options: ServerOptions) -> None:
    file = options.data_dir / "docker" / options.project / "compose.env"
    file.parent.mkdir(parents=True)
    file.touch()


@pytest.mark.usefixtures("an_engine")
def test_a_named_server_comes_before_docker(options: ServerOptions) -> None:
    named = replace(options, uri="bolt://example.org", password="secret-word")

    assert locate.locate(named) == Connection(
        kind="remote", uri="bolt://example.org", username="neo4j", password="secret-word"
    )


@pytest.mark.usefixtures("an_engine")
def test_docker_comes_before_a_local_server(options: ServerOptions) -> None:
    assert locate.choose(options) == "docker"


@pytest.mark.usefixtures("no_engine")
def test_without_docker_there_is_the_local_server(options: ServerOptions) -> None:
    assert locate.choose(options) == "local"


@pytest.mark.usefixtures("an_engine")
def test_a_local_graph_is_not_left_behind_when_docker_appears(options: ServerOptions) -> None:
    use_local(options)

    assert locate.choose(options) == "local"


@pytest.mark.usefixtures("no_engine")
def test_a_graph_in_docker_is_not_left_behind_when_docker_is_down(options: ServerOptions) -> None:
    use_docker(options)

    assert locate.choose(options) == "docker"
    with pytest.raises(ServerError, match="start Docker"):
        locate.locate(options)


@pytest.mark.usefixtures("an_engine")
def test_a_server_that_is_asked_for_is_used(options: ServerOptions) -> None:
    use_local(options)

    assert locate.choose(replace(options, prefer="docker")) == "docker"
    assert locate.choose(replace(options, prefer="local")) == "local"


@pytest.mark.usefixtures("an_engine")
def test_without_a_registry_a_local_server_is_used_and_told(
    options: ServerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(options: ServerOptions, progress: Progress) -> str:
        raise ServerError("no such host")

    connection = Connection(kind="local", uri="bolt://127.0.0.1:1", username="", password="")
    monkeypatch.setattr(docker, "choose_image", refuse)
    monkeypatch.setattr(local, "start", lambda options, progress: connection)
    messages: list[str] = []

    found = locate.locate(options, lambda message, done, total: messages.append(message))

    assert found == connection
    assert messages == ["no such host Using a local server instead."]


def test_an_address_without_a_password_is_a_wrong_setting(options: ServerOptions) -> None:
    with pytest.raises(ConfigurationError, match="NEO4J_PASSWORD"):
        locate.locate(replace(options, uri="bolt://example.org"))


@pytest.mark.parametrize("action", [locate.stop, locate.reset])
def test_a_named_server_is_neither_stopped_nor_emptied(
    options: ServerOptions, action: object
) -> None:
    assert callable(action)
    with pytest.raises(UsageError, match="unset NEO4J_URI"):
        action(replace(options, uri="bolt://example.org", password="x"), silent)


@pytest.mark.usefixtures("no_engine")
def test_nothing_is_found_where_nothing_was_started(options: ServerOptions) -> None:
    assert locate.find(options) is None
    assert not options.data_dir.exists()


def test_a_password_does_not_show_in_a_traceback(options: ServerOptions) -> None:
    connection = Connection(kind="local", uri="", username="", password="secret-word")

    assert "secret-word" not in repr(connection) + repr(replace(options, password="secret-word"))
