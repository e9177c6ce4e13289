"""The Neo4j driver itself, for packages that bring statements of their own."""

from collections.abc import Generator
from contextlib import contextmanager

from neo4j import Driver, GraphDatabase

from graph.driver_errors import wrapped
from graph.server.options import Connection


@contextmanager
def open_driver(connection: Connection) -> Generator[Driver]:
    """Open a driver, and close it at the end; what it raises is wrapped as by the store.

    Raises:
        StoreUnavailable: The server does not answer, or refuses the password.
        StoreError: It refuses a statement.
    """
    auth = (connection.username, connection.password)
    with wrapped(connection.uri), GraphDatabase.driver(connection.uri, auth=auth) as driver:
        yield driver
