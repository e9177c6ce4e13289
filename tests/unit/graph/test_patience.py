import pytest
from neo4j.exceptions import AuthError

from graph import patience
from graph.errors import StoreError, StoreUnavailable
from graph.patience import Patience


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_PAUSE_SECONDS", 0.001)


class Server:
    """Is away for some calls, then answers."""

    def __init__(self, away: int, error: BaseException | None = None) -> None:
        self.left = away
        self.calls = 0
        self.error = error or StoreUnavailable("away")

    def __call__(self) -> str:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error
        return "answer"


def test_a_server_that_comes_back_is_waited_for_and_the_wait_is_said_once() -> None:
    said: list[str] = []

    assert Patience(60, said.append).run(Server(away=3)) == "answer"
    assert len(said) == 2
    assert "Waiting up to 60 seconds" in said[0]
    assert "answers again" in said[1]


def test_nothing_is_said_where_the_server_answers() -> None:
    said: list[str] = []

    assert Patience(600, said.append).run(Server(away=0)) == "answer"
    assert said == []


def test_a_server_that_stays_away_is_given_up_in_time() -> None:
    with pytest.raises(StoreUnavailable):
        Patience(0.05, lambda line: None).run(Server(away=10**9))


def test_a_refused_statement_or_password_is_not_waited_for() -> None:
    refused = StoreUnavailable("password")
    refused.__cause__ = AuthError()
    for error in (refused, StoreError("a statement")):
        server = Server(1, error)

        with pytest.raises(StoreError):
            Patience(60, lambda line: None).run(server)
        assert server.calls == 1


def test_after_ctrl_c_nothing_is_waited_for_any_more() -> None:
    patient = Patience(60, lambda line: None)
    with pytest.raises(KeyboardInterrupt):
        patient.run(Server(1, KeyboardInterrupt()))
    server = Server(away=1)

    with pytest.raises(StoreUnavailable):
        patient.run(server)
    assert server.calls == 1
