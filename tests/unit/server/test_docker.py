from dataclasses import replace
from typing import Any

import pytest
import yaml

from graph.errors import ConfigurationError
from graph.server import config, docker, engine, jars
from graph.server.home import Ports
from graph.server.options import ServerOptions

LOCAL_ONLY = (
    "server.default_",
    "server.bolt.",
    "server.http.listen",
    "server.http.advertised",
    "server.memory.",
    "db.tx_log.",
)
"""Addresses and sizes, which differ in a container on purpose."""


@pytest.fixture
def service() -> dict[str, Any]:
    return yaml.safe_load(engine.COMPOSE_FILE.read_text())["services"]["neo4j"]


def test_compose_pins_the_version_that_the_jars_have(service: dict[str, Any]) -> None:
    assert service["image"] == f"${{MILEPOST_IMAGE:-{engine.pinned_image()}}}"
    assert jars.read_lock()[0] in engine.pinned_image()


def test_compose_publishes_ports_on_the_loopback_interface_only(service: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_compose_has_no_default_password(service: dict[str, Any]) -> None:
    assert service["environment"]["NEO4J_AUTH"].startswith("neo4j/${NEO4J_PASSWORD:?")


def test_compose_reads_no_variable_that_is_not_cleared_from_the_environment() -> None:
    text = engine.COMPOSE_FILE.read_text()
    names = {part.split(":")[0] for part in text.split("${")[1:]}

    assert names == set(engine.VARIABLES)


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ({"mine", engine.built_image(), engine.pinned_image()}, engine.built_image()),
        ({engine.pinned_image()}, engine.pinned_image()),
    ],
)
def test_an_image_that_is_there_is_not_fetched(
    options: ServerOptions, monkeypatch: pytest.MonkeyPatch, present: set[str], expected: str
) -> None:
    monkeypatch.setattr(engine, "has_image", lambda image: image in present)

    assert docker.choose_image(options) == expected


def test_an_image_that_is_asked_for_is_fetched_though_another_is_there(
    options: ServerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []
    monkeypatch.setattr(engine, "has_image", lambda image: image == engine.built_image())
    monkeypatch.setattr(engine, "pull", fetched.append)

    assert docker.choose_image(replace(options, image="theirs:1")) == "theirs:1"
    assert fetched == ["theirs:1"]


def test_a_password_that_a_compose_file_cannot_hold_is_refused(
    options: ServerOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "answers", lambda: True)
    monkeypatch.setattr(engine, "has_image", lambda image: True)
    monkeypatch.setattr(engine, "container", lambda project: None)

    with pytest.raises(ConfigurationError, match="choose another"):
        docker.start(replace(options, password="it's-a-secret"))


def test_compose_sets_what_keeps_the_local_server_private(
    service: dict[str, Any], options: ServerOptions
) -> None:
    """The two lists of settings are written down in two places and must not drift apart."""
    given = {
        name.removeprefix("NEO4J_").replace("__", "%").replace("_", ".").replace("%", "_"): value
        for name, value in service["environment"].items()
    }
    local = config.settings(options, Ports(bolt=1, http=2))
    own = {name: value for name, value in local.items() if not name.startswith(LOCAL_ONLY)}

    assert {name: given.get(name) for name in own} == own
