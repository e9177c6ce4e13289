"""Every error Milepost raises on purpose; each message says what happened and what to do.

    MilepostError
    ├── UsageError              wrong call: unknown name, missing path, … (exit code 2)
    ├── ConfigurationError      a setting is wrong or missing (exit code 2)
    ├── UnreadableFile          one file cannot be read; carries a status for the report
    ├── ModelError              an embedding or chat model cannot be loaded or fails
    ├── ServerError             the local Neo4j cannot be installed, started or stopped
    └── StoreError              the graph database refused or failed
        ├── StoreUnavailable    it cannot be reached, or refuses the password
        ├── StoreFull           it has no disk space or memory left
        ├── SchemaMismatch      server or schema version is not the one needed
        ├── EmbedderMismatch    the graph's vectors were made by another model
        ├── RouterMismatch      a trained router fits neither scopes nor embedder
        ├── TopicsMismatch      topics are missing, or were made by another model
        └── ScorerMismatch      a trained scorer fits neither embedder nor topics

A driver's error is wrapped once, in `graph.store`. Nothing here is caught to return an empty
result: a lost database must not read as "no evidence found".
"""


class MilepostError(Exception):
    """Base of all errors that a person can act on."""

    exit_code = 1
    """Exit code of the command line: 2 for wrong use, 1 for failure."""


class UsageError(MilepostError):
    """The caller asked for something that does not exist or makes no sense."""

    exit_code = 2


class ConfigurationError(MilepostError):
    """A setting is wrong or missing."""

    exit_code = 2


class UnreadableFile(MilepostError):
    """One file cannot be read; the others go on.

    Attributes:
        status: Short machine-readable reason, such as "encrypted", "empty" or "needs_ocr".
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type["UnreadableFile"], tuple[str, str]]:
        # Crosses process borders, and the default would call __init__ with the message alone.
        return (UnreadableFile, (self.status, str(self)))


class ModelError(MilepostError):
    """An embedding or chat model cannot be loaded, or fails."""


class ServerError(MilepostError):
    """The local Neo4j server cannot be installed, started or stopped."""


class StoreError(MilepostError):
    """The graph database refused or failed a request."""


class StoreUnavailable(StoreError):
    """The graph database cannot be reached, or refuses the credentials."""


class StoreFull(StoreError):
    """The graph database has no disk space or memory left."""


class SchemaMismatch(StoreError):
    """Server or schema version is not the one that this version of Milepost needs."""


class EmbedderMismatch(StoreError):
    """The vectors in the graph were made by another embedding model."""


class RouterMismatch(StoreError):
    """A trained router in the graph fits the scopes or the embedder no longer."""


class TopicsMismatch(StoreError):
    """Topics are missing in the graph, or were made by another topic model or embedder."""


class ScorerMismatch(StoreError):
    """A trained scorer was made for another embedder, or for other topics than the graph has."""
