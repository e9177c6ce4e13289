import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from graph.server import process
from graph.server.home import Home

PROGRAM = "import signal, time; {}; print('ready', flush=True); time.sleep(60)"
DEAF = PROGRAM.format("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
POLITE = PROGRAM.format("pass")


@pytest.fixture
def child(request: pytest.FixtureRequest, home: Home) -> Iterator[psutil.Process]:
    """A process whose command line is like that of the server of this home."""
    command = [sys.executable, "-c", request.param, f"@{home.arguments}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout
        started.stdout.readline()
        yield psutil.Process(started.pid)
        started.kill()


def write_pid(home: Home, text: str) -> None:
    (home.root / "run").mkdir()
    (home.root / "run" / "neo4j.pid").write_text(text)


@pytest.mark.parametrize("child", [POLITE], indirect=True)
@pytest.mark.parametrize("stale", ["", "not a number", "4194304", str(os.getpid())])
def test_a_server_is_found_whatever_the_pid_file_says(
    child: psutil.Process, home: Home, stale: str
) -> None:
    write_pid(home, stale)

    assert process.find(home) == child


def test_another_program_that_has_the_pid_by_now_is_not_the_server(home: Home) -> None:
    write_pid(home, str(os.getpid()))

    assert process.find(home) is None


@pytest.mark.parametrize("child", [POLITE], indirect=True)
def test_a_dead_server_that_nobody_has_waited_for_does_not_run(
    child: psutil.Process, home: Home
) -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie

    assert process.find(home) is None


@pytest.mark.parametrize("child", [POLITE], indirect=True)
def test_a_server_is_asked_to_end(child: psutil.Process) -> None:
    assert process.stop(child)
    assert not child.is_running()


@pytest.mark.parametrize("child", [DEAF], indirect=True)
def test_a_server_that_does_not_listen_is_killed(child: psutil.Process) -> None:
    assert not process.stop(child, seconds=0.1)
    assert not child.is_running()
