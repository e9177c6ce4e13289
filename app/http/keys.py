"""API keys: who may call, which audiences they hold, and whether they may change documents.

Only SHA-256 digests of the tokens are kept. A token is 32 random bytes, so a fast digest is enough:
there is nothing to guess. The file is read anew when it changes, so that a key which is removed is
refused by a running server at once.
"""

import json
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any

from filelock import FileLock

from graph.errors import ConfigurationError, UsageError

FILE = "keys.json"
PREFIX = "mp_"
"""Of every token, so that people and secret scanners know what it is."""

_NAME = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Key:
    """One caller's rights."""

    name: str
    sha256: str
    """Of the token, in hex."""
    audiences: tuple[str, ...]
    """That the caller holds; "public" is always one of them."""
    ingest: bool
    """Whether the caller may upload and remove documents."""
    created_at: str
    """ISO 8601, UTC."""


class KeyFile:
    """The keys in a file of mode 600 in the data folder; no file means no keys."""

    def __init__(self, data_dir: Path) -> None:
        """Name the folder; nothing is read yet."""
        self.path = data_dir / FILE
        self._stamp: tuple[int, int, int] | None = None
        self._keys: tuple[Key, ...] = ()

    def keys(self) -> tuple[Key, ...]:
        """Return the keys, by name.

        Raises:
            ConfigurationError: The file is broken, or other users of the machine may read it.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._keys = None, ()
            return ()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._stamp:
            if found.st_mode & 0o077:
                raise ConfigurationError(
                    f"Others may read the keys in {self.path}. Run: chmod 600 {self.path}"
                )
            self._keys = self._read()
            self._stamp = stamp
        return self._keys

    def find(self, token: str) -> Key | None:
        """Return the key of a token, or None; the time taken does not depend on the token.

        Raises:
            ConfigurationError: As `keys`.
        """
        digest = _digest(token)
        found = [key for key in self.keys() if compare_digest(key.sha256, digest)]
        return found[0] if found else None

    def add(self, name: str, audiences: Sequence[str], *, ingest: bool) -> str:
        """Make a key and return its token, which is kept nowhere.

        Raises:
            UsageError: The name is taken, or is none.
            ConfigurationError: As `keys`.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name for a key: use up to 64 letters, digits, dots and hyphens, "
                "such as web-page."
            )
        token = PREFIX + secrets.token_urlsafe(32)
        with self._locked():
            keys = self.keys()
            if any(key.name == name for key in keys):
                raise UsageError(
                    f"There is a key {name!r} already. Remove it first: milepost keys remove {name}"
                )
            held = tuple(dict.fromkeys(("public", *audiences)))
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._write((*keys, Key(name, _digest(token), held, ingest, now)))
        return token

    def remove(self, name: str) -> None:
        """Take a key away.

        Raises:
            UsageError: There is none of that name.
            ConfigurationError: As `keys`.
        """
        with self._locked():
            keys = self.keys()
            left = tuple(key for key in keys if key.name != name)
            if len(left) == len(keys):
                names = ", ".join(key.name for key in keys) or "none"
                raise UsageError(f"There is no key {name!r}. The keys are: {names}.")
            self._write(left)

    def _locked(self) -> FileLock:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(f"{self.path}.lock", timeout=10)

    def _read(self) -> tuple[Key, ...]:
        try:
            rows: list[dict[str, Any]] = json.loads(self.path.read_text("utf-8"))["keys"]
            keys = [_key(**row) for row in rows]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"The keys in {self.path} cannot be read ({error}). Restore the file, or delete it "
                "and make the keys anew with `milepost keys add`."
            ) from error
        return tuple(sorted(keys, key=lambda key: key.name))

    def _write(self, keys: Sequence[Key]) -> None:
        """Replace the file as a whole: a reader sees the old keys or the new ones."""
        text = json.dumps({"keys": [asdict(key) for key in keys]}, indent=2) + "\n"
        new = self.path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)
            new.replace(self.path)
        finally:
            new.unlink(missing_ok=True)


def _key(*, audiences: Sequence[str], **row: Any) -> Key:
    return Key(audiences=tuple(audiences), **row)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()
