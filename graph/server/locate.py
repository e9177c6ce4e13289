"""Which Neo4j to use: the one that is named, one in Docker, or the local server.

A graph stays where it is. What decides is, in this order: `NEO4J_URI`; a server that is asked for;
the local server, if it holds a graph; Docker, if it holds one, or where an engine answers; else
the local server.
"""

from pathlib import Path

from graph.errors import ConfigurationError, ServerError, UsageError
from graph.server import docker, dump, engine, local
from graph.server.options import (
    Connection,
    Kind,
    Progress,
    ServerOptions,
    ServerStatus,
    silent,
)
from graph.server.probe import ask_version


def locate(options: ServerOptions, progress: Progress = silent) -> Connection:
    """Return a connection to a server that answers, starting it if it is Milepost's to start.

    A server named by `NEO4J_URI` is not asked here: the store does that.

    Raises:
        ServerError: It cannot be started; the message says why.
        StoreUnavailable: It refuses the password.
        ConfigurationError: NEO4J_URI is set without NEO4J_PASSWORD.
    """
    kind = choose(options)
    if kind == "remote":
        return _named(options)
    if kind == "local":
        return local.start(options, progress)
    if options.prefer == "auto" and not docker.was_used(options):
        try:
            docker.choose_image(options, progress)
        except ServerError as error:
            progress(f"{error} Using a local server instead.", None, None)
            return local.start(options, progress)
    return docker.start(options, progress)


def find(options: ServerOptions) -> Connection | None:
    """Return the connection to a server that runs, or that `NEO4J_URI` names; start nothing.

    Raises:
        ConfigurationError: NEO4J_URI is set without NEO4J_PASSWORD.
    """
    kind = choose(options)
    if kind == "remote":
        return _named(options)
    return docker.find(options) if kind == "docker" else local.find(options)


def choose(options: ServerOptions) -> Kind:
    """Return which kind of server the options mean, without starting or asking one."""
    if options.uri:
        return "remote"
    if options.prefer != "auto":
        return options.prefer
    if local.home_of(options).graph.exists():
        return "local"
    return "docker" if docker.was_used(options) or engine.answers() else "local"


def stop(options: ServerOptions, progress: Progress = silent) -> bool:
    """Stop the server; return False if it was not running.

    Raises:
        UsageError: NEO4J_URI names a server that is not Milepost's.
        ServerError: It cannot be stopped.
    """
    if _choose_ours(options, "stopped") == "docker":
        return docker.stop(options, progress)
    return local.stop(options, progress)


def reset(options: ServerOptions, progress: Progress = silent) -> bool:
    """Stop the server and remove its graph; return False if there was none.

    Raises:
        UsageError: NEO4J_URI names a server that is not Milepost's.
        ServerError: Something cannot be removed.
    """
    if _choose_ours(options, "reset") == "docker":
        return docker.reset(options, progress)
    return local.reset(options, progress)


def status(options: ServerOptions) -> ServerStatus:
    """Return what can be said of the server without starting it.

    Raises:
        StoreUnavailable: NEO4J_URI names one that does not answer, or refuses the password.
    """
    kind = choose(options)
    if kind == "docker":
        return docker.status(options)
    if kind == "local":
        return local.status(options)
    named = _named(options)
    return ServerStatus(
        kind="remote",
        running=True,
        uri=named.uri,
        version=ask_version(named),
        username=named.username,
    )


def backup(options: ServerOptions, file: Path, progress: Progress = silent) -> None:
    """Write the graph to a file, with the server stopped meanwhile.

    Raises:
        UsageError: It is not a local server's graph, or there is none.
        ServerError: The file cannot be written.
    """
    _require_local(options, "backed up")
    dump.backup(options, file, progress)


def restore(options: ServerOptions, file: Path, progress: Progress = silent) -> None:
    """Replace the graph by the one in a file that `backup` wrote.

    Raises:
        UsageError: It is not a local server's graph.
        ServerError: The file is not a backup.
    """
    _require_local(options, "restored")
    dump.restore(options, file, progress)


def _require_local(options: ServerOptions, done: str) -> None:
    if _choose_ours(options, done) == "docker":
        raise UsageError(
            f"A graph in Docker is {done} with `neo4j-admin database dump` or `load` in its "
            "container; see docker/README.md."
        )


def _choose_ours(options: ServerOptions, done: str) -> Kind:
    kind = choose(options)
    if kind == "remote":
        raise UsageError(
            f"NEO4J_URI names {options.uri}, which Milepost does not run and so cannot be {done} "
            "here: unset NEO4J_URI to mean Milepost's own server."
        )
    return kind


def _named(options: ServerOptions) -> Connection:
    if not options.uri or not options.password:
        raise ConfigurationError(
            "NEO4J_URI is set but NEO4J_PASSWORD is not: set both, "
            "or neither to let Milepost run a server."
        )
    return Connection(
        kind="remote", uri=options.uri, username=options.username, password=options.password
    )
