"""The process that reads files for `ingestion.read`: takes a path, sends back text or an error.

It draws pages, too: a `PageRequest` is answered with a picture.

Both sides speak in pickled messages, each behind its length in 8 bytes.
"""

import faulthandler
import os
import pickle
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeVar, cast

from graph.errors import UnreadableFile
from ingestion.page_image import PageImage, PageRequest, draw_page
from ingestion.parse import parse
from ingestion.parsed import ParsedDocument, ReadLimits

_LENGTH_BYTES = 8

_T = TypeVar("_T")


def send(stream: IO[bytes], message: object) -> None:
    """Write one message."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(body).to_bytes(_LENGTH_BYTES, "big") + body)
    stream.flush()


def receive(stream: IO[bytes]) -> object:
    """Read one message.

    Raises:
        EOFError: The other side is gone.
    """
    head = stream.read(_LENGTH_BYTES)
    body = stream.read(int.from_bytes(head, "big")) if len(head) == _LENGTH_BYTES else b""
    if not body:
        raise EOFError
    return pickle.loads(body)


def main() -> None:
    """Serve requests from standard input until it is closed."""
    requests = sys.stdin.buffer
    # Libraries print at will; what they print must not get among the messages.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            request = cast("tuple[str, ReadLimits] | PageRequest", receive(requests))
        except EOFError:
            return
        limits = request.limits if isinstance(request, PageRequest) else request[1]
        _limit_memory(limits.memory_bytes)
        # The parent keeps the time; this is for the case that it is gone.
        faulthandler.dump_traceback_later(limits.seconds + 10, exit=True)
        answer = _answer(request)
        faulthandler.cancel_dump_traceback_later()
        send(answers, answer)


def read_here(path: Path, limits: ReadLimits) -> ParsedDocument | UnreadableFile:
    """Read a file in this process; what goes wrong is returned, not raised."""
    return _guarded(lambda: parse(_bytes(path, limits), path.name, limits.seconds), limits)


def _answer(
    request: tuple[str, ReadLimits] | PageRequest,
) -> ParsedDocument | PageImage | UnreadableFile:
    if not isinstance(request, PageRequest):
        return read_here(Path(request[0]), request[1])
    path, limits = Path(request.path), request.limits
    return _guarded(lambda: draw_page(_bytes(path, limits), request), limits)


def _guarded(work: Callable[[], _T], limits: ReadLimits) -> _T | UnreadableFile:
    try:
        return work()
    except UnreadableFile as error:
        return error
    except FileNotFoundError:
        return UnreadableFile("not_found", "the file is gone; check the path")
    except PermissionError:
        return UnreadableFile("permission", "no permission to read the file; change its mode")
    except OSError as error:
        return UnreadableFile("broken", f"cannot be read from disk ({error.strerror}); check it")
    except MemoryError:
        return _too_much_memory(limits)
    except RecursionError:
        return UnreadableFile("broken", "nested too deeply to be read; simplify the file")
    except Exception as error:  # noqa: BLE001 - any error is one file's; it is named in the report
        problem = f"{type(error).__name__}: {error}"
        return UnreadableFile("broken", f"reading it failed ({problem[:200]}); convert the file")


def _bytes(path: Path, limits: ReadLimits) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile("unsupported", "not a regular file; only files are read")
    if status.st_size > limits.file_bytes:
        raise UnreadableFile(
            "too_large",
            f"{status.st_size / 1e6:.0f} MB, the limit is {limits.file_bytes / 1e6:.0f} MB; "
            "split the file",
        )
    return path.read_bytes()


def _too_much_memory(limits: ReadLimits) -> UnreadableFile:
    megabytes = limits.memory_bytes / 1e6
    return UnreadableFile("memory", f"needs more than {megabytes:.0f} MB to be read; split it")


def _limit_memory(memory_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
