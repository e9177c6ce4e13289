"""The command line on a real graph that holds the samples."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from neo4j import Driver

from graph.server.options import Connection

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


def milepost(
    *arguments: str, env: dict[str, str], cwd: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person would."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("milepost")), *arguments],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="session")
def cli_env(neo4j_server: Connection) -> dict[str, str]:
    """An environment in which the command line uses the tests' server."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("MILEPOST_")
    }
    return inherited | {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USERNAME": neo4j_server.username,
        "NEO4J_PASSWORD": neo4j_server.password,
        "COLUMNS": "120",
    }


@pytest.fixture(scope="module")
def samples(neo4j_driver: Driver, cli_env: dict[str, str]) -> Iterator[Run]:
    """The command line, on a graph into which the samples have been ingested."""
    neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
    done = milepost("ingest", "samples", env=cli_env)
    assert done.returncode == 0, done.stderr

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return milepost(*arguments, env=cli_env)

    run.ingested = done  # type: ignore[attr-defined]
    yield run
