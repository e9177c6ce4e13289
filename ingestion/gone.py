"""Documents whose files are no longer there.

Only what is certain counts. A folder that could not be read wholly, or that holds no file at all
(a disk that is not mounted looks so), tells nothing about its documents.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph.model import DocumentState, FileOutcome
from ingestion.identity import is_gone, uri_path
from ingestion.walk import SourceFile


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that was ingested."""

    uri: str
    """With a slash at the end."""
    doubt: str
    """Why nothing can be told of its documents; empty where it was read wholly."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A name of a document without its file."""

    uri: str
    document_id: str
    doubt: str
    """See `Folder`."""


def folders_read(
    roots: Sequence[Path], found: Sequence[SourceFile | FileOutcome]
) -> tuple[Folder, ...]:
    """Return the folders among the paths given, and whether they were read wholly.

    Args:
        roots: What the caller named, absolute.
        found: All that `find_files` yielded for them.
    """
    files = [entry.uri for entry in found if isinstance(entry, SourceFile)]
    dangling = [e.uri for e in found if isinstance(e, SourceFile) and _is_dangling(e.path)]
    closed = [entry.uri for entry in found if isinstance(entry, FileOutcome)]
    folders: list[Folder] = []
    for root in roots:
        if not os.path.isdir(root):  # noqa: PTH112 - raises nothing where a folder is closed
            continue
        below = root.as_uri().rstrip("/") + "/"
        unread = [uri for uri in [*closed, *dangling] if f"{uri}/".startswith(below)]
        doubt = f"{shown(unread[0])} could not be read" if unread else ""
        if not any(uri.startswith(below) for uri in files):
            doubt = doubt or f"{root} holds no file now"
        folders.append(Folder(below, doubt))
    return tuple(folders)


def find_gone(
    states: Sequence[DocumentState], folders: Sequence[Folder], seen: frozenset[str]
) -> list[Gone]:
    """Return the names below the folders whose files are gone, by address.

    Args:
        states: All documents of the collection.
        folders: From `folders_read`.
        seen: Addresses of the files that were found, which need no look at the disk.
    """
    gone: list[Gone] = []
    for state in states:
        for name in state.names:
            doubts = [folder.doubt for folder in folders if name.startswith(folder.uri)]
            if doubts and name not in seen and is_gone(name):
                gone.append(Gone(name, state.id, next(filter(None, doubts), "")))
    return sorted(gone, key=lambda entry: entry.uri)


def shown(uri: str) -> str:
    """Return the path of a `file://` address; another address as it is."""
    return str(uri_path(uri) or uri)


def _is_dangling(path: Path) -> bool:
    """Return whether a path is a link to nothing, which may be a folder that is not mounted."""
    return os.path.islink(path) and not os.path.exists(path)  # noqa: PTH114, PTH110
