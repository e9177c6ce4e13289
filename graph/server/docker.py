"""Neo4j in a container: what docker-compose.yml describes, started with a password of its own."""

import secrets
from dataclasses import replace
from pathlib import Path

from graph.errors import ConfigurationError, ServerError, StoreUnavailable
from graph.server import engine, ports
from graph.server.home import Home, read_secret, write_secret
from graph.server.options import Connection, Progress, ServerOptions, ServerStatus, silent
from graph.server.ports import LOOPBACK
from graph.server.probe import explain_death, wait_for_answer, wait_for_browser

USERNAME = "neo4j"
"""The only user that the Community edition's image can be given a password for."""


def start(options: ServerOptions, progress: Progress = silent) -> Connection:
    """Start the container unless it runs, and wait until it answers a query.

    Raises:
        ServerError: No engine, no image, no port, or Neo4j gave up; the message says which.
        StoreUnavailable: It refuses the password.
    """
    home = _home(options)
    with home.locked(progress, options.start_seconds):
        if not was_used(options) or engine.container(options.project) is None:
            _up(home, options, progress)
        return _wait(options)


def find(options: ServerOptions) -> Connection | None:
    """Return the connection to the container if it runs; do not start it, nor wait for it."""
    if not was_used(options) or not engine.container(options.project):
        return None
    return _connection(options)


def was_used(options: ServerOptions) -> bool:
    """Tell whether a graph was ever kept in Docker, whether or not the engine answers now."""
    return _variables(options).exists()


def stop(options: ServerOptions, progress: Progress = silent) -> bool:
    """Stop the container; return False if it was not running."""
    if find(options) is None:
        return False
    with _home(options).locked(progress, options.start_seconds):
        progress("Stopping Neo4j", None, None)
        engine.compose(options.project, _variables(options), ["stop"])
    return True


def reset(options: ServerOptions, progress: Progress = silent) -> bool:
    """Remove container, graph and password; return False if there were none. The image stays."""
    if not was_used(options):
        return False
    _require_engine()
    with _home(options).locked(progress, options.start_seconds):
        progress("Removing the container and its volume", None, None)
        variables = _variables(options)
        engine.compose(options.project, variables, ["down", "--volumes"])
        variables.unlink()
    return True


def status(options: ServerOptions) -> ServerStatus:
    """Return what can be said of the container without starting it."""
    connection = find(options)
    used = was_used(options)
    return ServerStatus(
        kind="docker",
        running=connection is not None,
        uri=connection.uri if connection else None,
        browser=connection.browser if connection else None,
        version=_read(options)["MILEPOST_IMAGE"].rpartition(":")[2] if used else None,
        username=USERNAME,
        password_file=_variables(options) if used else None,
        data=f"{options.project}_neo4j-data" if used else None,
        log=_log_command(options) if used else None,
    )


def choose_image(options: ServerOptions, progress: Progress = silent) -> str:
    """Return an image that is on this machine, fetching the pinned one if there is none.

    Raises:
        ServerError: It cannot be fetched.
    """
    wished = [options.image] if options.image else [engine.built_image(), engine.pinned_image()]
    for image in wished:
        if engine.has_image(image):
            return image
    progress(f"Fetching the Docker image {wished[-1]} (some 600 MB)", None, None)
    engine.pull(wished[-1])
    return wished[-1]


def _up(home: Home, options: ServerOptions, progress: Progress) -> None:
    _require_engine()
    image = choose_image(options, progress)
    home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    known = _read(options) if was_used(options) else {}
    bolt = ports.choose(int(known.get("MILEPOST_BOLT_PORT", options.bolt_port)))
    http = ports.choose(int(known.get("MILEPOST_HTTP_PORT", options.http_port)), besides=bolt)
    password = options.password or known.get("NEO4J_PASSWORD") or secrets.token_urlsafe(24)
    _write(
        options,
        {
            "NEO4J_PASSWORD": password,
            "MILEPOST_IMAGE": image,
            "MILEPOST_BOLT_PORT": str(bolt),
            "MILEPOST_HTTP_PORT": str(http),
        },
    )
    progress(f"Starting {image}", None, None)
    engine.compose(options.project, _variables(options), ["up", "--detach"])


def _wait(options: ServerOptions) -> Connection:
    connection = _connection(options)

    def is_alive() -> bool:
        return engine.container(options.project) is not None

    try:
        version = wait_for_answer(connection, options.start_seconds, is_alive)
    except StoreUnavailable as error:
        raise StoreUnavailable(
            f"The container refuses the password in {_variables(options)}: set NEO4J_PASSWORD to "
            "the one its volume was made with, or remove the graph with `milepost db reset`."
        ) from error
    if version is None and not is_alive():
        raise explain_death(engine.logs(options.project), _log_command(options))
    if version is None:
        raise ServerError(
            f"The container has not answered for {options.start_seconds:.0f} seconds: "
            f"see `{_log_command(options)}` and try again."
        )
    wait_for_browser(int(_read(options)["MILEPOST_HTTP_PORT"]), is_alive)
    return replace(connection, version=version)


def _connection(options: ServerOptions) -> Connection:
    known = _read(options)
    return Connection(
        kind="docker",
        uri=f"bolt://{LOOPBACK}:{known['MILEPOST_BOLT_PORT']}",
        username=USERNAME,
        password=known["NEO4J_PASSWORD"],
        browser=f"http://{LOOPBACK}:{known['MILEPOST_HTTP_PORT']}/browser/",
    )


def _require_engine() -> None:
    if not engine.answers():
        raise ServerError(
            "No Docker engine answers: start Docker, or set MILEPOST_SERVER=local "
            "for a server without it."
        )


def _home(options: ServerOptions) -> Home:
    return Home(options.data_dir.resolve() / "docker" / options.project)


def _variables(options: ServerOptions) -> Path:
    return _home(options).root / "compose.env"


def _log_command(options: ServerOptions) -> str:
    return f"docker compose -p {options.project} logs neo4j"


def _write(options: ServerOptions, values: dict[str, str]) -> None:
    if any("'" in value or "\n" in value for value in values.values()):
        raise ConfigurationError(
            "NEO4J_PASSWORD holds a quote or a line break, which compose files cannot: "
            "choose another."
        )
    lines = [f"{name}='{value}'\n" for name, value in values.items()]
    write_secret(_variables(options), "".join(lines))


def _read(options: ServerOptions) -> dict[str, str]:
    text = read_secret(_variables(options))
    pairs = (line.split("=", 1) for line in text.splitlines())
    return {name: value.strip("'") for name, value in pairs}
