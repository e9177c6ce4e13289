import stat
from pathlib import Path

import pytest

from graph.errors import ServerError
from graph.server.home import Home, Ports
from graph.server.options import silent


def test_a_password_is_made_once_and_readable_by_its_owner_only(home: Home) -> None:
    password = home.password()

    assert len(password) >= 32
    assert home.password() == password
    assert stat.S_IMODE(home.password_file.stat().st_mode) == 0o600


def test_two_homes_have_different_passwords(tmp_path: Path) -> None:
    one, other = Home(tmp_path / "one"), Home(tmp_path / "other")
    one.create()
    other.create()

    assert one.password() != other.password()


def test_the_home_folder_is_closed_to_others(home: Home) -> None:
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


def test_a_lost_password_of_a_graph_is_an_error_that_names_the_file(home: Home) -> None:
    home.graph.mkdir(parents=True)

    with pytest.raises(ServerError, match=str(home.password_file)):
        home.password()


def test_an_empty_password_file_is_an_error(home: Home) -> None:
    home.password_file.write_text("\n")

    with pytest.raises(ServerError, match="is empty"):
        home.password()


def test_ports_are_remembered(home: Home) -> None:
    home.remember(Ports(bolt=7001, http=7002))

    assert home.ports() == Ports(bolt=7001, http=7002)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"bolt": 1}', '{"bolt": "x", "http": 2}'])
def test_a_broken_ports_file_is_as_good_as_none(home: Home, text: str) -> None:
    home.ports_file.write_text(text)

    assert home.ports() is None


def test_a_folder_that_cannot_be_made_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ServerError, match="MILEPOST_DATA_DIR"):
        Home(tmp_path / "file" / "neo4j").create()


def test_a_second_holder_of_the_lock_is_told_what_it_waits_for(home: Home) -> None:
    messages: list[str] = []

    def note(message: str, done: int | None, total: int | None) -> None:
        messages.append(message)

    with (
        home.locked(silent, 1),
        pytest.raises(ServerError, match="Another process"),
        home.locked(note, 0.01),
    ):
        pass

    assert messages == ["Waiting for another process that starts or stops this server"]


def test_the_lock_is_free_again_after_an_error(home: Home) -> None:
    with pytest.raises(KeyError), home.locked(silent, 1):
        raise KeyError

    with home.locked(silent, 0.01):
        pass
