"""Where threads are kept."""

import stat
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.settings import Settings
from app.threads import FILE, open_threads
from graph.errors import ConfigurationError
from graph.model import Filter
from tests.unit.agents.test_threads import turn


def settings(folder: Path, where: str = "sqlite") -> Settings:
    return Settings(data_dir=folder, threads=SecretStr(where))  # type: ignore[call-arg]


def test_threads_outlive_the_process_in_a_file_that_others_cannot_read(tmp_path: Path) -> None:
    with open_threads(settings(tmp_path / "data")) as threads:
        threads.add("page", "t", turn("kept?"))
    with open_threads(settings(tmp_path / "data")) as threads:
        assert [one["asked"] for one in threads.turns("page", "t", Filter())] == ["kept?"]

    assert stat.S_IMODE((tmp_path / "data" / FILE).stat().st_mode) == 0o600


def test_two_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    with open_threads(settings(tmp_path)) as one, open_threads(settings(tmp_path)) as other:
        for n in range(5):
            one.add("page", "a", turn(f"a{n}?"))
            other.add("page", "b", turn(f"b{n}?"))

        assert [len(one.turns("page", id, Filter())) for id in "ab"] == [5, 5]


@pytest.mark.parametrize("where", ["mysql://x", "", "postgres"])
def test_a_place_that_is_none_is_refused_with_those_there_are(tmp_path: Path, where: str) -> None:
    with (
        pytest.raises(ConfigurationError, match="sqlite, neo4j and postgresql"),
        open_threads(settings(tmp_path, where)),
    ):
        pass


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"this is no database" * 100)

    with pytest.raises(ConfigurationError, match=FILE), open_threads(settings(tmp_path)):
        pass


def test_a_postgres_that_does_not_answer_is_told_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg_pool")
    monkeypatch.setattr("app.threads._BUSY_SECONDS", 1)
    address = "postgresql://me:hunter2@127.0.0.1:9/none"

    with (
        pytest.raises(ConfigurationError, match="does not answer") as caught,
        open_threads(settings(tmp_path, address)),
    ):
        pass

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("where", "package"),
    [
        ("postgresql://x/y", "langgraph.checkpoint.postgres"),
        ("neo4j", "langgraph.checkpoint.neo4j"),
    ],
)
def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with (
        pytest.raises(ConfigurationError, match=r"milepost\[threads\]"),
        open_threads(settings(tmp_path, where)),
    ):
        pass
