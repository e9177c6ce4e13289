"""Fetching jars, from a Maven repository on this machine that jgo's configuration file names."""

import functools
import gc
import hashlib
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graph.errors import ServerError
from graph.server import jars
from graph.server.jars import Jar

CONTENT = b"a jar, more or less" * 1000


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    drops = 0
    """Connections to drop without an answer before serving."""

    def do_GET(self) -> None:
        if QuietHandler.drops:
            QuietHandler.drops -= 1
            self.close_connection = True
            return
        super().do_GET()

    def log_message(self, *args: object) -> None:
        pass


def make_jar(name: str, content: bytes = CONTENT) -> Jar:
    return Jar(hashlib.sha256(content).hexdigest(), len(content), "org.example", name, "1.0", "")


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is served as the only Maven repository; two jars are locked and one is in."""
    folder = tmp_path / "remote"
    locked = (make_jar("one"), make_jar("two"))
    for jar in locked:
        jar.path(folder).parent.mkdir(parents=True)
        jar.path(folder).write_bytes(CONTENT)
    monkeypatch.setattr(jars, "read_lock", lambda: ("1.0", locked))
    handler = functools.partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        name_repository(tmp_path, monkeypatch, server.server_address[1])
        yield folder
        server.shutdown()
        thread.join()


def name_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    conf = tmp_path / ".config" / "jgo.conf"
    conf.parent.mkdir(exist_ok=True)
    conf.write_text(f"[repositories]\nours = http://127.0.0.1:{port}\n")
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "maven"


def test_missing_jars_are_fetched_and_counted(remote: Path, cache: Path) -> None:
    counted: list[tuple[int | None, int | None]] = []

    jars.install(cache, lambda message, done, total: counted.append((done, total)))

    size = len(CONTENT)
    assert [path.read_bytes() for path in jars.classpath(cache)] == [CONTENT, CONTENT]
    assert counted == [(0, 2 * size), (size, 2 * size), (2 * size, 2 * size)]


def test_a_dropped_connection_is_tried_again(
    remote: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QuietHandler, "drops", 2)

    jars.install(cache)

    assert QuietHandler.drops == 0
    assert not jars.missing(cache)


def test_jars_that_are_there_are_not_fetched_again(remote: Path, cache: Path) -> None:
    jars.install(cache)
    for path in remote.rglob("*.jar"):
        path.unlink()

    jars.install(cache)

    assert not jars.missing(cache)


def test_a_download_that_was_cut_off_is_taken_up_again(remote: Path, cache: Path) -> None:
    jars.install(cache)
    cut = jars.classpath(cache)[0]
    cut.write_bytes(CONTENT[:100])

    jars.install(cache)

    assert cut.read_bytes() == CONTENT


def test_a_jar_with_another_content_is_refused_and_removed(remote: Path, cache: Path) -> None:
    forged = jars.read_lock()[1][1].path(remote)
    forged.write_bytes(b"x" * len(CONTENT))

    with pytest.raises(ServerError, match=r"two-1\.0\.jar is not the file"):
        jars.install(cache)

    assert not jars.classpath(cache)[1].exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_jar_that_no_repository_has_is_named(remote: Path, cache: Path) -> None:
    jars.read_lock()[1][0].path(remote).unlink()

    with pytest.raises(ServerError, match=r"No Maven repository has one-1\.0\.jar"):
        jars.install(cache)
    gc.collect()  # jgo leaves a refused answer open, which must not fail a later test


def test_without_a_network_the_ways_around_it_are_named(
    remote: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_repository(tmp_path, monkeypatch, 1)

    with pytest.raises(ServerError, match=r"check network and proxy.*NEO4J_URI"):
        jars.install(cache)


def test_a_cache_folder_that_cannot_be_written_names_the_setting(
    remote: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ServerError, match="MILEPOST_CACHE_DIR"):
        jars.install(tmp_path / "file" / "maven")
