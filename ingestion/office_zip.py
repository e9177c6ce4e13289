"""Opens the zip archive of an Office document within limits.

The sizes that an archive states about itself are not believed: bytes are counted while they are
inflated.
"""

from io import BytesIO
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

from graph.errors import UnreadableFile

_MOST_ENTRIES = 10_000
_LARGEST_PART = 100 * 1024**2
_LARGEST_TOTAL = 200 * 1024**2
_PIECE = 1024**2
_DAMAGED = "a damaged Office document ({}); fetch the file again"


class OfficeZip:
    """The parts of one document; names are those inside the archive and never become paths."""

    def __init__(self, data: bytes) -> None:
        """Open the archive.

        Raises:
            UnreadableFile: "broken", or "too_large" for an archive of very many entries.
        """
        try:
            self._zip = ZipFile(BytesIO(data))
        except (BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise UnreadableFile("broken", _DAMAGED.format(error)) from error
        entries = self._zip.infolist()
        if len(entries) > _MOST_ENTRIES:
            raise UnreadableFile(
                "too_large", f"the document has {len(entries)} parts, the limit is {_MOST_ENTRIES}"
            )
        self._names = {entry.filename.lstrip("/").lower(): entry for entry in entries}
        self._read = 0

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._names

    def part(self, part: str) -> bytes | None:
        """Inflate a part; None if there is none of that name.

        Raises:
            UnreadableFile: "broken", "encrypted", or "too_large" where it unfolds beyond limits.
        """
        entry = self._names.get(part.lower())
        if entry is None:
            return None
        if entry.flag_bits & 1:
            raise UnreadableFile("encrypted", "the archive needs a password; save it without one")
        pieces: list[bytes] = []
        size = 0
        try:
            with self._zip.open(entry) as stream:
                while piece := stream.read(_PIECE):
                    size += len(piece)
                    self._read += len(piece)
                    if size > _LARGEST_PART or self._read > _LARGEST_TOTAL:
                        raise UnreadableFile(
                            "too_large",
                            f"{part} unfolds to more than {_LARGEST_PART // 1024**2} MB (or all "
                            f"parts to {_LARGEST_TOTAL // 1024**2} MB); split the document",
                        )
                    pieces.append(piece)
        except (BadZipFile, ZlibError, EOFError, OSError, NotImplementedError) as error:
            raise UnreadableFile("broken", _DAMAGED.format(error)) from error
        return b"".join(pieces)
