import pytest

from graph.errors import ServerError
from graph.server.probe import PortTaken, explain_death

START = "2026-01-01 INFO  Starting...\n"


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("java.io.IOException: No space left on device", "the disk is full"),
        ("Error: Could not reserve enough space for object heap", "too little memory"),
        ("Terminating due to java.lang.OutOfMemoryError: Java heap space", "too little memory"),
        ("Caused by: FileLockException: Lock file has been locked by another process", "another"),
        ("Caused by: java.nio.file.AccessDeniedException: /data", "may not write"),
    ],
)
def test_a_known_cause_of_death_is_quoted_with_what_to_do(line: str, advice: str) -> None:
    error = explain_death(f"{START}{line}\nINFO Stopped.\n", "console.log")

    assert advice in str(error)
    assert line in str(error)
    assert "console.log" in str(error)


@pytest.mark.parametrize(
    "line",
    [
        "Errors$NativeIoException: bind(..) failed with error(-98): Address already in use",
        "PortBindException: Address 127.0.0.1:7474 is already in use, cannot bind to it.",
    ],
)
def test_a_taken_port_is_told_apart(line: str) -> None:
    assert isinstance(explain_death(START + line, "console.log"), PortTaken)


def test_an_unknown_cause_of_death_is_the_innermost_one() -> None:
    text = (
        f"{START}ERROR Failed to start\n  Caused by: A: one\n  Caused by: B: two\nINFO Stopped.\n"
    )

    assert "It says: Caused by: B: two" in str(explain_death(text, "console.log"))


def test_an_empty_log_still_gives_one_line() -> None:
    error = explain_death("", "console.log")

    assert isinstance(error, ServerError)
    assert "\n" not in str(error)
