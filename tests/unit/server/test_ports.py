import socket

import pytest

from graph.errors import ServerError
from graph.server import ports


def test_a_free_port_is_taken_as_wished(taken_port: socket.socket) -> None:
    port = taken_port.getsockname()[1]
    taken_port.close()

    assert ports.choose(port) == port


def test_a_port_in_use_is_passed_over(taken_port: socket.socket) -> None:
    port = taken_port.getsockname()[1]

    assert port < ports.choose(port) <= port + 200


def test_a_port_that_is_bound_but_not_yet_listening_is_in_use() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))

        assert not ports.is_free(bound.getsockname()[1])


def test_a_port_given_away_is_not_given_twice(taken_port: socket.socket) -> None:
    port = taken_port.getsockname()[1]
    taken_port.close()

    assert ports.choose(port, besides=port) > port


def test_where_no_port_is_free_the_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda port: False)

    with pytest.raises(ServerError, match="MILEPOST_BOLT_PORT"):
        ports.choose(65_500)
