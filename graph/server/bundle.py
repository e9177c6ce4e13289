"""Copy the server's jars and the Java runtime into a folder, for docker/build.sh.

python -m graph.server.bundle FOLDER CACHE
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from graph.server import jars, java

IN_IMAGE = Path("/opt/neo4j")
"""Where docker/Dockerfile puts the folder."""


def bundle(folder: Path, repository: Path) -> None:
    """Fill a folder with lib/, java/ and java.args, an argument file without a main class.

    Raises:
        ServerError: A jar cannot be fetched.
    """
    jars.install(repository, _report)
    lib = folder / "lib"
    lib.mkdir(parents=True)
    for jar in jars.classpath(repository):
        shutil.copyfile(jar, lib / jar.name)
    shutil.copytree(java.JAVA.parent.parent, folder / "java", symlinks=True)
    names = [IN_IMAGE / "lib" / jar.name for jar in jars.classpath(repository)]
    java.write_arguments(folder / "java.args", [*java.OPTIONS, *java.classpath_option(names)])
    (folder / "java.args").chmod(0o644)


def _report(message: str, done: int | None, total: int | None) -> None:
    if done in (0, total):
        sys.stderr.write(f"{message}\n")


def main(arguments: Sequence[str]) -> None:
    """Bundle into the first argument, with the jars' cache in the second."""
    bundle(Path(arguments[0]), Path(arguments[1]) / "maven")


if __name__ == "__main__":
    main(sys.argv[1:])
