"""The folder of a local server: what lies where, its password, its ports, and who may touch it."""

import json
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from graph.errors import ServerError
from graph.server.options import Progress


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a local server listens."""

    bolt: int
    http: int


@dataclass(frozen=True, slots=True)
class Home:
    """Neo4j's home folder and the few files that Milepost adds to it."""

    root: Path

    @property
    def arguments(self) -> Path:
        """Java's argument file; its path on a command line is how our process is recognised."""
        return self.root / "server.args"

    @property
    def conf(self) -> Path:
        """Configuration folder."""
        return self.root / "conf"

    @property
    def graph(self) -> Path:
        """Exists once a server has run here."""
        return self.root / "data" / "databases"

    @property
    def password_file(self) -> Path:
        """Readable by its owner only."""
        return self.root / "password"

    @property
    def ports_file(self) -> Path:
        """Remembers the ports, so that addresses stay what they were."""
        return self.root / "ports.json"

    @property
    def console(self) -> Path:
        """What the server's last run printed."""
        return self.root / "logs" / "console.log"

    def create(self) -> None:
        """Make the folders, for nobody else to read.

        Raises:
            ServerError: The folder cannot be made or written to.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Neo4j would let LOAD CSV read the whole home folder if there were no import folder.
            for name in ("conf", "logs", "import", "plugins", "tmp"):
                (self.root / name).mkdir(exist_ok=True)
        except OSError as error:
            raise _not_writable(self.root, error) from error

    def ports(self) -> Ports | None:
        """Return the ports of the last start."""
        if not self.ports_file.is_file():
            return None
        try:
            known = json.loads(self.ports_file.read_text("utf-8"))
            return Ports(bolt=int(known["bolt"]), http=int(known["http"]))
        except (ValueError, KeyError, TypeError):
            return None  # a half-written file is as good as none: ports are chosen again

    def remember(self, ports: Ports) -> None:
        """Keep the ports for later starts and for other processes."""
        self.ports_file.write_text(json.dumps(asdict(ports)), "utf-8")

    def password(self) -> str:
        """Return the password, which is made up when the folder is new.

        Raises:
            ServerError: There is a graph, but the file with its password is gone or unreadable.
        """
        if self.password_file.exists():
            return read_secret(self.password_file)
        if self.graph.exists():
            raise ServerError(
                f"The graph in {self.root} has a password, but the file {self.password_file} is "
                "gone: put it back, or remove the graph with `milepost db reset`."
            )
        password = secrets.token_urlsafe(24)
        write_secret(self.password_file, password)
        return password

    @contextmanager
    def locked(self, progress: Progress, seconds: float) -> Generator[None]:
        """Let one process at a time start, stop or reset the server.

        Raises:
            ServerError: The folder is not writable, or another process holds the lock for longer.
        """
        lock = FileLock(self.root.with_name(f"{self.root.name}.lock"), thread_local=False)
        try:
            self.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _acquire(lock, progress, seconds)
        except Timeout as error:
            raise ServerError(
                f"Another process has been starting or stopping the server in {self.root} for "
                f"{seconds:.0f} seconds: wait for it or end it, then try again."
            ) from error
        except OSError as error:
            raise _not_writable(self.root.parent, error) from error
        try:
            yield
        finally:
            lock.release()


def _acquire(lock: FileLock, progress: Progress, seconds: float) -> None:
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress("Waiting for another process that starts or stops this server", None, None)
        lock.acquire(timeout=seconds)


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, from its first byte on."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def read_secret(path: Path) -> str:
    """Return what `write_secret` wrote, without white space around it.

    Raises:
        ServerError: It cannot be read or is empty.
    """
    try:
        text = path.read_text("utf-8").strip()
    except OSError as error:
        raise ServerError(
            f"Cannot read the password in {path} ({error.strerror}): "
            "run as the user who started the server, or mend the file's rights."
        ) from error
    if not text:
        raise ServerError(
            f"The password file {path} is empty: write the password into it, "
            "or remove the graph with `milepost db reset`."
        )
    return text


def _not_writable(folder: Path, error: OSError) -> ServerError:
    return ServerError(
        f"Cannot write to {folder} ({error.strerror}): "
        "make it writable or choose another folder with MILEPOST_DATA_DIR."
    )
