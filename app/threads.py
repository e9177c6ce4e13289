"""Opens the checkpointer that keeps threads: a file, Postgres or the graph's own Neo4j."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.threads import Threads
from app.settings import Settings
from graph.errors import ConfigurationError

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

FILE = "threads.sqlite3"
SQLITE, NEO4J = "sqlite", "neo4j"
_BUSY_SECONDS = 30
"""How long one process waits for another that writes."""


@contextmanager
def open_threads(settings: Settings) -> Generator[Threads]:
    """Open the threads where the settings keep them, and close them at the end.

    Raises:
        ConfigurationError: The setting is none of those known, a package is missing, or the
            database does not answer.
        StoreUnavailable: Neo4j is to keep them, and does not answer.
    """
    with ExitStack() as stack:
        yield Threads(_checkpointer(settings, stack))


def _checkpointer(settings: Settings, stack: ExitStack) -> "BaseCheckpointSaver[Any]":
    kept = settings.threads
    address = kept.get_secret_value()
    if address == SQLITE:
        return _sqlite(settings.data_dir / FILE, stack)
    if address == NEO4J:
        return _neo4j(settings, stack)
    if address.startswith(("postgres://", "postgresql://")):
        return _postgres(address, stack)
    raise ConfigurationError(
        "MILEPOST_THREADS is none of sqlite, neo4j and postgresql://… : correct it."
    )


def _sqlite(path: Path, stack: ExitStack) -> "BaseCheckpointSaver[Any]":
    from langgraph.checkpoint.sqlite import SqliteSaver

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What people ask is theirs: the file is its owner's alone from the start.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
        saver = SqliteSaver(stack.enter_context(closing(connection)))
        saver.setup()
    except (OSError, sqlite3.Error) as error:
        raise ConfigurationError(
            f"Threads cannot be kept in {path} ({error}): make the folder writable, remove the "
            "file if it is broken, or set MILEPOST_THREADS."
        ) from error
    return saver


def _postgres(address: str, stack: ExitStack) -> "BaseCheckpointSaver[Any]":
    try:
        from langgraph.checkpoint.postgres import PostgresSaver
        from psycopg import Error
        from psycopg.rows import dict_row
        from psycopg_pool import ConnectionPool, PoolTimeout
    except ImportError as error:
        raise _missing("Postgres") from error
    settings = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: Any = ConnectionPool(address, min_size=1, max_size=8, kwargs=settings, open=False)
    try:
        pool.open(wait=True, timeout=_BUSY_SECONDS)
        stack.callback(pool.close)
        saver = PostgresSaver(pool)
        saver.setup()
    except (Error, PoolTimeout) as error:
        pool.close()
        raise ConfigurationError(
            "The Postgres of MILEPOST_THREADS does not answer, or refuses to make its tables: "
            "check the address, the password and that the database exists."
        ) from error
    return saver


def _neo4j(settings: Settings, stack: ExitStack) -> "BaseCheckpointSaver[Any]":
    try:
        from langgraph.checkpoint.neo4j import Neo4jSaver
    except ImportError as error:
        raise _missing("Neo4j") from error
    from app.wiring import locate_server
    from graph.plain_driver import open_driver

    saver = Neo4jSaver(stack.enter_context(open_driver(locate_server(settings))))
    saver.setup()
    return saver


def _missing(where: str) -> ConfigurationError:
    return ConfigurationError(
        f"Threads in {where} need more packages: pip install 'milepost[threads]'."
    )
