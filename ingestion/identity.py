"""Which document each file is: the same bytes under several names are one document.

A document follows its bytes. While one of its names still has them it stays as it is, and a file
that has others becomes a document of its own; only where no name has them any more is the document
replaced by what its own name holds now. So neither the order of files nor which of two copies is
edited first can lose anything.

Copies for different audiences stay apart, and so do copies of which a scope map says different
things.
"""

import hashlib
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from graph.model import DocumentState
from ingestion.media import contradicts_name
from ingestion.scope_map import GivenMetadata
from ingestion.walk import SourceFile

Stamp = tuple[int, int, int]
"""Size, time of change and inode: what changes when a file is written to."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with what decides which document it is."""

    file: SourceFile
    given: GivenMetadata
    """From the scope map, the scope filled in."""
    stated: GivenMetadata
    """What the map says itself."""
    sha256: str
    """Empty for a file that the reader will refuse."""
    stamp: Stamp | None
    """As it was when the digest was made."""

    @property
    def uri(self) -> str:
        """The file's address."""
        return self.file.uri


@dataclass(frozen=True, slots=True)
class Task:
    """What is known of a file before it is read."""

    file: SourceFile
    given: GivenMetadata
    """From the scope map, the scope filled in."""
    known: DocumentState | None
    """The document that the file is or replaces, as the graph has it from an earlier run."""
    id: str = ""
    """Id of the document; empty makes it of collection and address."""
    copies: tuple[str, ...] = ()
    """Addresses of further files with the same bytes."""
    audience: str | None = None
    """Who may see it; None leaves that to what is given and known."""
    scope_set: str | None = None
    """Scope that was set in the graph, where no scope map gives one."""
    sha256: str | None = None
    """Digest of the file while it had `stamp`; empty for one that will be refused."""
    stamp: Stamp | None = None
    stated: GivenMetadata = field(default_factory=GivenMetadata)
    """What the scope map says itself."""


@dataclass(frozen=True, slots=True)
class SameFile:
    """A file whose bytes another file stands for."""

    uri: str
    of: str
    """Address of the file that is read in its place."""
    known: DocumentState | None
    """The document, where the graph has this name of it already."""
    document_id: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """What each file of a run is."""

    tasks: tuple[Task, ...]
    """One for each document that is to be read, or to be compared with the graph."""
    same: tuple[SameFile, ...]
    names: Mapping[str, tuple[str, ...]]
    """Names of documents whose names change, by id, the document's own first."""
    superfluous: Mapping[str, tuple[str, ...]]
    """Documents all of whose names go to others, by id, with the names they had."""


def document_id(collection: str, uri: str) -> str:
    """Return the id that a file gets in a collection, unless another document has it already."""
    return hashlib.blake2b("\0".join((collection, uri)).encode(), digest_size=16).hexdigest()


def file_stamp(path: Path) -> Stamp | None:
    """Return what changes when a file is written to; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def file_sha256(path: Path, largest: int) -> str:
    """Return the digest of the file's bytes; empty for a file that the reader will refuse."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def uri_path(uri: str) -> Path | None:
    """Return the path of a `file://` address; None for others."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path, errors="surrogateescape")) if parts.scheme == "file" else None


def is_gone(uri: str) -> bool:
    """Return whether the address is of a file that is certainly no longer there."""
    path = uri_path(uri)
    if path is None:
        return False
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # not known: the folder may be closed to us
        return False
    return False


def effective_audience(
    found: GivenMetadata,
    uri: str,
    sha256: str,
    default: str | None,
    states: Iterable[DocumentState],
) -> str:
    """Return who may see a file.

    What is given now counts, else what the file has in the graph, else what other files with the
    same bytes have there: a copy must not show to everyone what its original shows to some.
    """
    if given := found.audience or default:
        return given
    own = [state.audience for state in states if uri in state.names]
    if own:
        return own[0]
    others = sorted({s.audience for s in states if sha256 and s.sha256 == sha256} - {"public"})
    return others[0] if others else "public"


def assign(
    files: Sequence[FoundFile],
    states: Sequence[DocumentState],
    collection: str,
    audience: str | None,
) -> Assignment:
    """Decide which document each file is.

    Args:
        files: All files of the run, in the order in which they are read.
        states: All documents of the collection.
        collection: Its name.
        audience: Of files to which the scope map gives none.
    """
    work = _Work(files, states, collection)
    for group in _groups(files, states, audience):
        work.place(group)
    return work.result()


@dataclass(frozen=True, slots=True)
class _Group:
    """Files with the same bytes that may be one document."""

    files: tuple[FoundFile, ...]
    audience: str

    @property
    def sha256(self) -> str:
        return self.files[0].sha256

    @property
    def uris(self) -> list[str]:
        return [found.uri for found in self.files]


def _groups(
    files: Sequence[FoundFile], states: Sequence[DocumentState], audience: str | None
) -> list[_Group]:
    by_name = {name: state for state in states for name in state.names}
    by_bytes: dict[str, list[DocumentState]] = {}
    for state in states:
        by_bytes.setdefault(state.sha256, []).append(state)
    grouped: dict[tuple[object, ...], list[FoundFile]] = {}
    for found in files:
        near = [*filter(None, [by_name.get(found.uri)]), *by_bytes.get(found.sha256, [])]
        seen_by = effective_audience(found.given, found.uri, found.sha256, audience, near)
        apart = "" if found.sha256 else found.uri  # unreadable files are nobody's copies
        key = (found.sha256, apart, seen_by, found.stated)
        grouped.setdefault(key, []).append(found)
    return [_Group(tuple(members), str(key[2])) for key, members in grouped.items()]


def _best_first(files: Sequence[FoundFile]) -> list[str]:
    """Order the names of a new document: the first one is what it is read and shown as.

    "policy.pdf" comes before "policy (2).pdf" and "Copy of policy.pdf"; of names of several kinds,
    such as "policy.pdf" and "policy.txt", those that the bytes bear out.
    """
    kinds = {found.file.path.suffix.lower() for found in files}
    is_wrong = {f.uri: len(kinds) > 1 and contradicts_name(f.file.path) for f in files}
    return sorted(is_wrong, key=lambda uri: (is_wrong[uri], len(uri.rsplit("/", 1)[-1])))


@dataclass(slots=True)
class _Work:
    """The assignment while it is made."""

    files: Sequence[FoundFile]
    states: Sequence[DocumentState]
    collection: str
    tasks: list[Task] = field(default_factory=list[Task])
    same: list[SameFile] = field(default_factory=list[SameFile])
    names: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """New names of the documents that groups were given, by id."""
    bytes_now: dict[str, str] = field(init=False)
    """Digests of the files of this run that can be read, by address."""
    ids: set[str] = field(init=False)
    by_name: dict[str, DocumentState] = field(init=False)
    by_bytes: dict[str, list[DocumentState]] = field(init=False)

    def __post_init__(self) -> None:
        self.bytes_now = {found.uri: found.sha256 for found in self.files if found.sha256}
        self.ids = {state.id for state in self.states}
        self.by_name = {name: s for s in self.states for name in s.copies}
        self.by_name |= {state.uri: state for state in self.states}
        self.by_bytes = {}
        for state in self.states:
            self.by_bytes.setdefault(state.sha256, []).append(state)

    def place(self, group: _Group) -> None:
        """Give a group its document."""
        if not group.sha256:
            [found] = group.files
            self.tasks.append(self._task(group, found, self.by_name.get(found.uri), "", ()))
            return
        owned = self._owned(group)
        if owned is None:
            self._place_new(group)
            return
        uris = set(group.uris)
        kept = [name for name in owned.names if name in uris or name not in self.bytes_now]
        names = list(dict.fromkeys([*kept, *group.uris]))
        first = next(name for name in names if name in uris or not is_gone(name))
        self._take(group, owned, [first, *(name for name in names if name != first)])

    def _place_new(self, group: _Group) -> None:
        """Let a group replace a document that nobody else holds, or begin one."""
        for found in group.files:
            state = self.by_name.get(found.uri)
            if state and state.uri == found.uri and self._is_free(state):
                names = [found.uri, *(uri for uri in group.uris if uri != found.uri)]
                self._take(group, state, names)
                return
        self._take(group, None, _best_first(group.files))

    def _take(self, group: _Group, state: DocumentState | None, names: list[str]) -> None:
        first = names[0]
        id = state.id if state else self._new_id(first, group.sha256)
        self.ids.add(id)
        self.names[id] = tuple(names)
        for found in group.files:
            if found.uri == first:
                self.tasks.append(self._task(group, found, state, id, tuple(names[1:])))
            else:
                known = state if state and found.uri in state.names else None
                self.same.append(SameFile(found.uri, first, known, id))

    @staticmethod
    def _task(
        group: _Group,
        found: FoundFile,
        state: DocumentState | None,
        id: str,
        copies: tuple[str, ...],
    ) -> Task:
        return Task(
            file=found.file,
            given=found.given,
            known=state,
            id=id,
            copies=copies,
            audience=group.audience,
            scope_set=state.scope_set if state and found.stated.scope is None else None,
            sha256=found.sha256,
            stamp=found.stamp,
            stated=found.stated,
        )

    def _owned(self, group: _Group) -> DocumentState | None:
        """Return the document that has the group's bytes, preferably under one of its names."""
        uris = set(group.uris)
        free = [
            state for state in self.by_bytes.get(group.sha256, []) if state.id not in self.names
        ]
        named = [state for state in free if uris & set(state.names)]
        if named:
            return min(named, key=lambda state: (state.uri not in uris, state.uri))
        if group.files[0].stated != GivenMetadata():
            return None
        # A document elsewhere, of which nothing more is known than whom it is for.
        other = [
            state
            for state in free
            if state.audience == group.audience
            and any(self._keeps(state, name) for name in state.names)
        ]
        return min(other, key=lambda state: state.uri, default=None)

    def _keeps(self, state: DocumentState, name: str) -> bool:
        """Return whether a name of a document may still have its bytes."""
        return self.bytes_now.get(name, state.sha256) == state.sha256

    def _is_free(self, state: DocumentState) -> bool:
        """Return whether a document may be replaced by what its own file holds now."""
        return state.id not in self.names and not any(
            self._keeps(state, name) and not is_gone(name) for name in state.copies
        )

    def _new_id(self, uri: str, sha256: str) -> str:
        id = document_id(self.collection, uri)
        return id if id not in self.ids else document_id(self.collection, f"{uri}\0{sha256}")

    def result(self) -> Assignment:
        """Return the assignment, with the names of the documents that no group was given."""
        held = {name for names in self.names.values() for name in names}
        names: dict[str, tuple[str, ...]] = {}
        superfluous: dict[str, tuple[str, ...]] = {}
        for state in self.states:
            kept = self.names.get(state.id)
            if kept is None:
                kept = tuple(name for name in state.names if name not in held)
            if not kept:
                superfluous[state.id] = state.names
            elif kept != state.names:
                names[state.id] = kept
        return Assignment(tuple(self.tasks), tuple(self.same), names, superfluous)
