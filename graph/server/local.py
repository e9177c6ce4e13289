"""The Neo4j server that Milepost installs and runs itself, for one user on one machine."""

import shutil
from dataclasses import replace
from pathlib import Path

import psutil

from graph.errors import ServerError, StoreUnavailable
from graph.server import aot, jars, java, ports, process
from graph.server.home import Home, Ports
from graph.server.options import Connection, Progress, ServerOptions, ServerStatus, silent
from graph.server.prepare import USERNAME, connection, prepare
from graph.server.probe import PortTaken, explain_death, wait_for_answer, wait_for_browser

_PORT_TRIES = 3
_NEW_GRAPH_MB = 300
"""Room for an empty graph and its transaction logs."""
_OLD_GRAPH_MB = 50
"""Room to recover and to write a checkpoint."""
_CACHE_MB = 400
"""Room for the jars and Java's cache of them."""


def home_of(options: ServerOptions) -> Home:
    """Return the server's home folder."""
    return Home(options.data_dir.resolve() / "neo4j")


def repository_of(options: ServerOptions) -> Path:
    """Return the folder of the jars, laid out as a Maven repository."""
    return options.cache_dir.resolve() / "maven"


def start(options: ServerOptions, progress: Progress = silent) -> Connection:
    """Start the server unless it runs, and wait until it answers a query.

    Raises:
        ServerError: No disk, port, memory or network, or Neo4j gave up; the message says which.
        StoreUnavailable: It runs, but refuses the password in its file.
    """
    home = home_of(options)
    with home.locked(progress, options.start_seconds):
        for _ in range(_PORT_TRIES):
            try:
                server = process.find(home) or _launch(home, options, progress)
                return _wait(home, server, options.start_seconds)
            except PortTaken as error:
                progress(str(error), None, None)
            except OSError as error:
                raise ServerError(
                    f"Cannot start Neo4j in {home.root}: {error}. Mend that and try again."
                ) from error
    raise ServerError(
        f"Other programs took Neo4j's ports {_PORT_TRIES} times while it started: "
        "choose quieter ones with MILEPOST_BOLT_PORT and MILEPOST_HTTP_PORT."
    )


def find(options: ServerOptions) -> Connection | None:
    """Return the connection to the server if it runs; do not start it, nor wait for it."""
    home = home_of(options)
    known = home.ports()
    if known is None or process.find(home) is None:
        return None
    return connection(home.password(), known)


def stop(options: ServerOptions, progress: Progress = silent) -> bool:
    """Stop the server; return False if it was not running.

    Raises:
        ServerError: It cannot be stopped.
    """
    home = home_of(options)
    if not home.root.exists():
        return False
    with home.locked(progress, options.start_seconds):
        return _stop(home, progress)


def reset(options: ServerOptions, progress: Progress = silent) -> bool:
    """Stop the server and remove its graph, password and logs; return False if there were none.

    The jars stay: the next start needs no network.
    """
    home = home_of(options)
    if not home.root.exists():
        return False
    with home.locked(progress, options.start_seconds):
        _stop(home, progress)
        progress(f"Removing {home.root}", None, None)
        try:
            shutil.rmtree(home.root)
        except OSError as error:
            raise ServerError(
                f"Cannot remove {error.filename} ({error.strerror}): remove {home.root} by hand."
            ) from error
    return True


def status(options: ServerOptions) -> ServerStatus:
    """Return what can be said of the server without starting it."""
    home = home_of(options)
    server, known = process.find(home), home.ports()
    address = connection("", known) if server and known else None
    return ServerStatus(
        kind="local",
        running=server is not None,
        uri=address.uri if address else None,
        browser=address.browser if address else None,
        version=jars.read_lock()[0],
        username=USERNAME,
        password_file=home.password_file if home.password_file.exists() else None,
        data=str(home.root) if home.graph.exists() else None,
        data_mb=_size_mb(home.root / "data"),
        log=str(home.console) if home.console.exists() else None,
        pid=server.pid if server else None,
        java=_java(server) if server else None,
    )


def _java(server: psutil.Process) -> str | None:
    try:
        return java.describe(Path(server.exe()))
    except psutil.Error:
        return None  # it ended meanwhile


def _launch(home: Home, options: ServerOptions, progress: Progress) -> psutil.Process:
    home.create()
    repository = repository_of(options)
    _require_room(home, options)
    jars.install(repository, progress)
    classpath = jars.classpath(repository)
    runtime = java.find_runtime(options.java_home)
    extra = [*runtime.options, *aot.options(options, runtime, classpath, progress)]
    chosen = _choose_ports(home, options, progress)
    prepare(home, options, chosen, classpath, extra)
    home.remember(chosen)
    progress(f"Starting Neo4j {jars.read_lock()[0]}", None, None)
    return process.launch(home, runtime.executable)


def _wait(home: Home, server: psutil.Process, seconds: float) -> Connection:
    known = home.ports()
    if known is None:
        raise ServerError(
            f"A server runs in {home.root}, but {home.ports_file.name} does not say on which "
            f"port: end process {server.pid} and start again."
        )
    address = connection(home.password(), known)
    try:
        version = wait_for_answer(address, seconds, lambda: process.is_ours(server, home))
    except StoreUnavailable as error:
        raise StoreUnavailable(
            f"The local server refuses the password in {home.password_file}: write the right one "
            "into it, or remove the graph with `milepost db reset`."
        ) from error
    if version is None:
        if not process.is_ours(server, home):
            text = home.console.read_text("utf-8", "replace")
            raise explain_death(text, str(home.console))
        raise ServerError(
            f"Neo4j has not answered for {seconds:.0f} seconds but is still starting; "
            f"look into {home.console.parent} and try again."
        )
    wait_for_browser(known.http, lambda: process.is_ours(server, home))
    return replace(address, version=version)


def _stop(home: Home, progress: Progress) -> bool:
    server = process.find(home)
    if server is None:
        return False
    progress("Stopping Neo4j", None, None)
    try:
        process.stop(server)
    except psutil.Error as error:
        raise ServerError(
            f"Process {server.pid} cannot be stopped ({error}): end it by hand."
        ) from error
    return True


def _choose_ports(home: Home, options: ServerOptions, progress: Progress) -> Ports:
    wish = home.ports() or Ports(bolt=options.bolt_port, http=options.http_port)
    bolt = ports.choose(wish.bolt)
    chosen = Ports(bolt=bolt, http=ports.choose(wish.http, besides=bolt))
    for name, wished, got in (
        ("Bolt", wish.bolt, chosen.bolt),
        ("HTTP", wish.http, chosen.http),
    ):
        if got != wished:
            progress(f"{name} port {wished} is in use by another program: using {got}", None, None)
    return chosen


def _require_room(home: Home, options: ServerOptions) -> None:
    needed = _OLD_GRAPH_MB if home.graph.exists() else _NEW_GRAPH_MB
    _require_disk(home.root, needed, "MILEPOST_DATA_DIR")
    if jars.missing(repository_of(options)):
        existing = next(p for p in (options.cache_dir, *options.cache_dir.parents) if p.exists())
        _require_disk(existing, _CACHE_MB, "MILEPOST_CACHE_DIR")
    free = psutil.virtual_memory().available // 1_000_000
    if free < options.heap_mb:
        raise ServerError(
            f"Neo4j needs {options.heap_mb} MB of memory and {free} MB are free: "
            "close other programs, or set NEO4J_URI to a server elsewhere."
        )


def _require_disk(folder: Path, needed_mb: int, setting: str) -> None:
    free = shutil.disk_usage(folder).free // 1_000_000
    if free < needed_mb:
        raise ServerError(
            f"Neo4j needs {needed_mb} MB of disk in {folder} and {free} MB are free: "
            f"free some, or choose another folder with {setting}."
        )


def _size_mb(folder: Path) -> int | None:
    if not folder.exists():
        return None
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) // 1_000_000
