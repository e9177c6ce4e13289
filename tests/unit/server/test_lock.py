from pathlib import Path

from graph.server import jars
from graph.server.jars import Jar


def test_the_lock_reads_as_it_was_written() -> None:
    version, locked = jars.read_lock()

    assert jars.format_lock(version, list(locked)) == jars.LOCK.read_text()


def test_every_locked_jar_has_a_digest_and_a_size() -> None:
    locked = jars.read_lock()[1]

    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in locked)
    assert {"neo4j-server", "neo4j", "neo4j-browser"} <= {jar.artifact for jar in locked}


def test_a_jar_lies_where_maven_puts_it() -> None:
    jar = Jar("", 1, "io.netty", "netty", "4.2", "linux-x86_64")

    assert jar.path(Path("/m")) == Path("/m/io/netty/netty/4.2/netty-4.2-linux-x86_64.jar")
