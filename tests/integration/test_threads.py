"""Threads in the databases that keep them, other than a file."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from app.settings import Settings
from app.threads import open_threads
from graph.errors import UsageError
from graph.model import Filter
from graph.server import ports
from graph.server.options import Connection
from graph.store import GraphStore
from tests.unit.agents.test_threads import turn

STAFF = Filter(audiences=("public", "staff"))


def check_threads(settings: Settings) -> None:
    """Keep, list, hide and delete, each time as another process would see it."""
    with open_threads(settings) as threads:
        threads.add("page", "a", turn("first?"))
        threads.add("page", "a", turn("secret?", "staff"))
        threads.add("other", "a", turn("mine?"))
    with open_threads(settings) as threads:
        assert [one["asked"] for one in threads.turns("page", "a", STAFF)] == ["first?", "secret?"]
        assert [one["asked"] for one in threads.turns("page", "a", Filter())] == ["first?"]
        assert [(one.id, one.turns) for one in threads.list("page", STAFF)] == [("a", 2)]
        threads.delete("page", "a")
        with pytest.raises(UsageError):
            threads.turns("page", "a", STAFF)
        assert [one["asked"] for one in threads.turns("other", "a", STAFF)] == ["mine?"]
        threads.delete("other", "a")


@pytest.mark.neo4j
def test_threads_are_kept_in_the_graphs_own_neo4j(
    neo4j_server: Connection, graph_store: GraphStore, tmp_path: Path
) -> None:
    check_threads(
        Settings(  # type: ignore[call-arg]
            data_dir=tmp_path,
            threads=SecretStr("neo4j"),
            neo4j_uri=neo4j_server.uri,
            neo4j_username=neo4j_server.username,
            neo4j_password=SecretStr(neo4j_server.password),
        )
    )

    assert graph_store.status().chunks == 0


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[str]:
    """The address of a Postgres of the test's own."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    program = shutil.which("pg_ctl") or (str(found[-1]) if found else None)
    if program is None:
        pytest.skip("no Postgres is installed here")
    # It refuses to run as root.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder, port = tmp_path / "pg", ports.choose(27_900)
    folder.mkdir()
    if user:
        for one in (folder, *folder.parents[:3]):
            one.chmod(0o755)
        shutil.chown(folder, "postgres")
    initdb = str(Path(program).with_name("initdb"))
    data = folder / "data"
    subprocess.run([*user, initdb, "-D", data, "-A", "trust", "-U", "me"], check=True)
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    log = folder / "log"
    subprocess.run(
        [*user, program, "-D", data, "-w", "-l", log, "-o", options, "start"], check=True
    )
    try:
        yield f"postgresql://me@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*user, program, "-D", data, "-m", "immediate", "stop"], check=True)


def test_threads_are_kept_in_postgres(postgres: str, tmp_path: Path) -> None:
    check_threads(
        Settings(data_dir=tmp_path, threads=SecretStr(postgres))  # type: ignore[call-arg]
    )
