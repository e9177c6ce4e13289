"""Finds an evaluation set by name: a folder, an archive that is unpacked once, or a union.

Archives come from anywhere, so they are unpacked with care: no links, nothing outside the target
folder, no more than `MAX_BYTES`, and whole or not at all.
"""

import hashlib
import lzma
import shutil
import tarfile
import tempfile
from pathlib import Path

from eval import editions
from eval.collection import DOCUMENTS, EvaluationSet, read_set, union
from graph.errors import UsageError

SUFFIX = ".tar.xz"

COMPOSITE = ("mtrag_un", "legalbench_rag_sample", "chunking_evaluation", "xquad", "cranfield")
"""Many scopes that differ much, like EnterpriseComposite-9 of the dilution paper, section 6."""

MAX_BYTES = 8 * 1024**3
MAX_FILES = 200_000


def load_set(name: str, sets_folder: Path, cache_folder: Path) -> EvaluationSet:
    """Load a set.

    Args:
        name: A folder or archive; the name of one in `sets_folder`; several of these joined by
            "+"; "composite"; or "editions", the questions of `eval.editions`.
        sets_folder: Where named sets are.
        cache_folder: Where archives are unpacked, in its folder `sets`.

    Raises:
        UsageError: There is no such set, or it is wrong; names file and line.
    """
    if name == "composite":
        parts = [load_set(part, sets_folder, cache_folder) for part in COMPOSITE]
        return union(name, parts)
    if name == editions.NAME:
        source = load_set(editions.SOURCE, sets_folder, cache_folder)
        return editions.load_editions(source, cache_folder / "sets")
    path = _find(name, sets_folder)
    if path is None and "+" in name:
        names = list(dict.fromkeys(part for part in name.split("+") if part))
        return union(name, [load_set(part, sets_folder, cache_folder) for part in names])
    if path is None:
        known = ", ".join(known_sets(sets_folder)) or "none"
        raise UsageError(
            f"There is no evaluation set {name!r}. Give a folder with {DOCUMENTS} in it, or one of "
            f"those in {sets_folder}: {known}."
        )
    if path.is_dir():
        return read_set(path, path.resolve().name)
    return read_set(unpack(path, cache_folder / "sets"), path.name.removesuffix(SUFFIX))


def known_sets(sets_folder: Path) -> list[str]:
    """Return the names that `load_set` knows without a path."""
    archives = {path.name.removesuffix(SUFFIX) for path in sets_folder.glob(f"*{SUFFIX}")}
    folders = {path.parent.name for path in sets_folder.glob(f"*/{DOCUMENTS}")}
    names = sorted(archives | folders)
    made = ["composite"] if set(COMPOSITE) <= set(names) else []
    return [*made, *([editions.NAME] if editions.SOURCE in names else []), *names]


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack an archive, unless it is unpacked already; return the folder with the documents.

    Raises:
        UsageError: It is broken, too large, or holds what leads out of the folder.
    """
    status = archive.stat()
    stamp = f"{archive.resolve()}\0{status.st_size}\0{status.st_mtime_ns}"
    digest = hashlib.blake2b(stamp.encode(), digest_size=6).hexdigest()
    target = folder / f"{archive.name.removesuffix(SUFFIX)}-{digest}"
    if not target.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder))
        try:
            _extract(archive, work)
            _move(work, target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    places = [target, *sorted(path for path in target.iterdir() if path.is_dir())]
    return next((place for place in places if (place / DOCUMENTS).is_file()), target)


def _find(name: str, sets_folder: Path) -> Path | None:
    packed = sets_folder / f"{name}{SUFFIX}"
    for path in (Path(name), sets_folder / name, packed):
        if path.is_dir() or (path.is_file() and path.name.endswith(SUFFIX)):
            return path
    return None


def _extract(archive: Path, folder: Path) -> None:
    size = files = 0
    try:
        with tarfile.open(archive, "r:xz") as tar:
            for member in tar:
                size, files = size + member.size, files + 1
                if size > MAX_BYTES or files > MAX_FILES:
                    raise UsageError(
                        f"{archive} unpacks to more than {MAX_BYTES // 1024**3} GB or {MAX_FILES:,}"
                        " files. Unpack it yourself if you trust it, and give the folder."
                    )
                if not (member.isreg() or member.isdir()):
                    raise UsageError(
                        f"{archive} holds {member.name!r}, which is no plain file. Pack the set "
                        "again without links."
                    )
                tar.extract(member, folder, filter="data")
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise UsageError(f"{archive} cannot be unpacked ({error}). Fetch it again.") from error


def _move(work: Path, target: Path) -> None:
    try:
        work.rename(target)
    except OSError:
        if not target.is_dir():  # else another process was first
            raise
