"""Write `neo4j.lock`, the list of jars that make a Neo4j server: for maintainers, not at run time.

    python -m graph.server.lock 2026.08.1

Maven coordinates are resolved once, by jgo, and what was found is pinned with its digest: an
installation then needs no resolution, knows its size beforehand and gets these bytes or none.
"""

import sys
import tempfile
from pathlib import Path

from jgo.maven import Artifact, MavenContext

from graph.server.jars import LOCK, Jar, digest, format_lock

BROWSER_VERSION = "5.24.0"
"""The last Neo4j Browser published with Maven coordinates; the server jars bring none."""


def resolve(version: str, folder: Path) -> list[Jar]:
    """Download a server and everything it needs into a folder; return the jars, by path."""
    context = MavenContext(repo_cache=folder)
    roots = [
        context.create_dependency(f"{coordinate}:{version}")
        for coordinate in ("org.neo4j.app:neo4j-server", "org.neo4j:neo4j")
    ]
    inputs, transitive = context.resolver.resolve(roots)
    needed = [*inputs, *(d for d in transitive if d.scope in ("compile", "runtime"))]
    browser = context.project("org.neo4j.client", "neo4j-browser").at_version(BROWSER_VERSION)
    jars = {_pin(artifact) for artifact in [*(d.artifact for d in needed), browser.artifact()]}
    return sorted(jars, key=lambda jar: (jar.group, jar.artifact, jar.classifier))


def _pin(artifact: Artifact) -> Jar:
    path = artifact.resolve()
    return Jar(
        sha256=digest(path),
        size=path.stat().st_size,
        group=artifact.groupId,
        artifact=artifact.artifactId,
        version=artifact.version,
        classifier=artifact.classifier,
    )


def main() -> None:
    """Resolve the version given on the command line and replace the lock file."""
    with tempfile.TemporaryDirectory() as folder:
        LOCK.write_text(format_lock(sys.argv[1], resolve(sys.argv[1], Path(folder))), "utf-8")


if __name__ == "__main__":
    main()
