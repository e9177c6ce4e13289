"""The driver's errors become ours here, once; see the tree in `graph.errors`."""

from collections.abc import Generator
from contextlib import contextmanager

from neo4j.exceptions import (
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from graph.errors import SchemaMismatch, StoreError, StoreFull, StoreUnavailable

_FULL = (
    "TransientError.General.OutOfMemoryError",
    "TransientError.General.MemoryPoolOutOfMemoryError",
    "TransientError.General.TransactionOutOfMemoryError",
    "TransientError.General.TransactionMemoryLimit",
    "TransientError.Transaction.LeaseExpired",
    "DatabaseError.Transaction.TransactionLogError",
    "ClientError.General.WriteOnReadOnlyAccess",
    "ClientError.General.ForbiddenOnReadOnlyDatabase",
)

_POPULATING = "51N63"
"""Neo4j's status code for "Index is not ready yet"."""


@contextmanager
def wrapped(uri: str) -> Generator[None]:
    """Raise a StoreError, with what to do, where the block raises an error of the driver."""
    try:
        yield
    except AuthError as error:
        raise StoreUnavailable(
            f"Neo4j at {uri} refuses the user name or password. Check NEO4J_USERNAME and "
            "NEO4J_PASSWORD, or unset NEO4J_URI to let Milepost run its own server."
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreUnavailable(
            f"Neo4j at {uri} does not answer. Start it with `milepost db start`, or check "
            f"NEO4J_URI. ({_first_line(error)})"
        ) from error
    except Neo4jError as error:
        raise _neo4j_error(uri, error) from error
    except DriverError as error:
        raise StoreUnavailable(
            f"The connection to Neo4j at {uri} failed. Check NEO4J_URI. ({_first_line(error)})"
        ) from error


def _neo4j_error(uri: str, error: Neo4jError) -> StoreError:
    code = error.code or ""
    message = _first_line(error)
    if code.endswith("General.DatabaseUnavailable"):
        return StoreUnavailable(
            f"The database of Neo4j at {uri} is not there yet, or is being shut down. Wait, or "
            f"look into the server's log. ({message})"
        )
    if any(code.endswith(full) for full in _FULL) or "No space left" in message:
        return StoreFull(
            f"Neo4j at {uri} is out of memory or disk space. Free some, or give it more memory. "
            f"({message})"
        )
    if error.gql_status == _POPULATING:
        return StoreUnavailable(
            f"An index of Neo4j at {uri} is still being built. Wait until it is: `milepost schema "
            "status` shows how far it has come."
        )
    if isinstance(error, ClientError) and "no such" in message and "index" in message:
        return SchemaMismatch(f"An index is missing ({message}). Run `milepost schema migrate`.")
    return StoreError(f"Neo4j at {uri} refused a statement: {code} {message}")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
