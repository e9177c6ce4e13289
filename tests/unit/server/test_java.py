import stat
from pathlib import Path

import pytest

from graph.server import java
from graph.server.home import Home


def test_an_argument_file_quotes_spaces_quotes_and_backslashes(tmp_path: Path) -> None:
    java.write_arguments(tmp_path / "args", ["-cp", 'a "b" \\c', "# no comment"])

    assert (tmp_path / "args").read_text() == '"-cp"\n"a \\"b\\" \\\\c"\n"# no comment"\n'


def test_an_argument_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    java.write_arguments(tmp_path / "args", ["secret"])

    assert stat.S_IMODE((tmp_path / "args").stat().st_mode) == 0o600


def test_java_options_of_the_callers_environment_do_not_reach_the_server(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")

    assert java.environment(home).keys() == {"NEO4J_HOME", "NEO4J_CONF", "LC_ALL"}


def test_the_server_is_given_its_heap_jars_and_home(home: Home) -> None:
    arguments = java.server_arguments(home, [Path("/a.jar"), Path("/b.jar")], 512, ["-Dx=y"])

    assert {"-Xmx512m", "/a.jar:/b.jar", "-Dx=y", f"--home-dir={home.root}"} <= set(arguments)
