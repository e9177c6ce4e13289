"""Reads one file into text, in a process of its own with limits on time and memory.

No file may stop or crash a run: a PDF can drive a C library into a loop or a crash, and a small
file can unfold to gigabytes. So a `Reader` keeps one child process, sends it paths, and replaces
it when it dies or runs over its time.
"""

import signal
import subprocess
import sys
from pathlib import Path
from threading import Event, Timer
from types import TracebackType
from typing import IO, Self, cast

from graph.errors import UnreadableFile
from ingestion.page_image import PageImage, PageRequest
from ingestion.parsed import ParsedDocument, ReadLimits
from ingestion.read_child import receive, send

_ROOT = str(Path(__file__).resolve().parents[1])
# Isolated (-I), so that no folder that the user is in can put its modules before ours.
_COMMAND = [
    sys.executable,
    "-I",
    "-c",
    f"import sys; sys.path.append({_ROOT!r}); from ingestion.read_child import main; main()",
]


class Reader:
    """Reads files one after the other; use it as a context manager, one per thread."""

    def __init__(self, limits: ReadLimits | None = None) -> None:
        self._limits = limits or ReadLimits()
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def read(self, path: Path) -> ParsedDocument:
        """Read a file into text.

        Raises:
            UnreadableFile: With a status for the report: those of `ingestion.parse.parse`, and
                "not_found", "permission", "too_large", "timeout" or "memory".
        """
        return cast("ParsedDocument", self._ask((str(path.absolute()), self._limits)))

    def draw(self, path: Path, page: int, *, sha256: str, passage: str) -> PageImage:
        """Draw a page of a PDF, with a passage marked.

        Args:
            path: The file.
            page: 1-indexed.
            sha256: Digest that the file must have.
            passage: What to mark.

        Raises:
            UnreadableFile: As `read`, or "changed", or "no_page".
        """
        request = PageRequest(str(path.absolute()), sha256, page, passage, self._limits)
        return cast("PageImage", self._ask(request))

    def _ask(self, request: tuple[str, ReadLimits] | PageRequest) -> object:
        child = self._running_child()
        stdin, stdout = cast("IO[bytes]", child.stdin), cast("IO[bytes]", child.stdout)
        late = Event()
        timer = Timer(self._limits.seconds, _end, (child, late))
        timer.start()
        try:
            send(stdin, request)
            answer = receive(stdout)
        except (EOFError, BrokenPipeError) as error:
            raise self._death(child, late) from error
        finally:
            timer.cancel()
            timer.join()
            if late.is_set():  # perhaps just after the answer; the next file gets a new child
                self.close()
        if isinstance(answer, UnreadableFile):
            raise answer
        return answer

    def interrupt(self) -> None:
        """Kill the child process from another thread; a read in progress ends as "broken"."""
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the child process, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _running_child(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the parent, which then closes
            )
        return self._child

    def _death(self, child: subprocess.Popen[bytes], late: Event) -> UnreadableFile:
        self.close()
        if late.is_set():
            return UnreadableFile(
                "timeout", f"took longer than {self._limits.seconds:.0f} s to read; split the file"
            )
        return UnreadableFile(
            "broken",
            f"reading it crashed or ran out of memory ({_exit_name(child.returncode)}); "
            "repair or convert it",
        )


def _end(child: subprocess.Popen[bytes], late: Event) -> None:
    late.set()
    child.kill()


def _exit_name(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"exit code {code}"
