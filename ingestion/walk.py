"""Finds the files to ingest, in an order that is always the same, each real file once."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from graph.errors import UsageError
from graph.model import FileOutcome
from ingestion.scope_map import MAP_NAME

MANIFEST_NAME = "crawl.json"
"""What `milepost crawl` writes beside the files; it is not ingested."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was found."""

    path: Path
    """Absolute, by the names that the caller used; symbolic links are not resolved."""
    root: Path
    """The folder that the caller named, or the folder of the file that the caller named."""

    @property
    def uri(self) -> str:
        """The file's `file://` address."""
        return self.path.as_uri()

    @property
    def size(self) -> int:
        """Bytes; 0 if it cannot be told."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    @property
    def relative(self) -> PurePosixPath:
        """The path below the root, as scope maps see it; readable whatever bytes it has."""
        return PurePosixPath(_readable(str(self.path.relative_to(self.root))))


def check_paths(paths: Sequence[Path]) -> list[Path]:
    """Return the paths as absolute ones.

    Raises:
        UsageError: One does not exist.
    """
    found = [absolute(path) for path in paths]
    for path in found:
        # pathlib's own tests raise where a folder on the way may not be searched.
        if not os.path.exists(path):  # noqa: PTH110
            raise UsageError(f"There is no file or folder {path}: check the path.")
    return found


def absolute(path: Path) -> Path:
    """Return the path without `..`, by the names that the caller used; links are kept."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the links


def find_files(paths: Sequence[Path]) -> Iterator[SourceFile | FileOutcome]:
    """Yield every file below the paths, and a refusal for what cannot be opened.

    Hidden files and folders, scope maps and manifests of crawls are left out. Symbolic links are
    followed, but no folder or file is visited twice, so a link that leads back into itself ends.

    Args:
        paths: Files or folders.

    Raises:
        UsageError: A path does not exist; before anything is yielded.
    """
    return _walk(check_paths(paths))


def _walk(roots: Sequence[Path]) -> Iterator[SourceFile | FileOutcome]:
    seen: set[str] = set()
    for root in roots:
        pending = [root]
        folder = root if os.path.isdir(root) else root.parent  # noqa: PTH112
        while pending:
            path = pending.pop()
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            if not os.path.isdir(path):  # noqa: PTH112
                yield SourceFile(path, folder)
                continue
            try:
                children = sorted(path.iterdir(), reverse=True)
            except OSError as error:
                yield _refused_folder(path, error)
                continue
            pending += [child for child in children if not _is_left_out(child)]


def _readable(name: str) -> str:
    """Return a name that can be stored: one that is no UTF-8 is mostly from an old Windows."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return os.fsencode(name).decode("cp1252", errors="replace")
    return name


def _is_left_out(path: Path) -> bool:
    return path.name.startswith(".") or path.name in (MAP_NAME, MANIFEST_NAME)


def _refused_folder(path: Path, error: OSError) -> FileOutcome:
    return FileOutcome(
        uri=path.as_uri(),
        status="refused",
        code="permission" if isinstance(error, PermissionError) else "broken",
        reason=f"the folder cannot be opened ({error.strerror}); change its mode or check the disk",
    )
