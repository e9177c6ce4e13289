"""Shows on standard error how far an ingestion is: a bar on a terminal, else lines."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from graph.model import FileOutcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    from ingestion.pipeline import Progress

LINE_EVERY_SECONDS = 5.0


class Tally:
    """Counts what a run tells, and estimates the rest."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self.files = 0
        self.files_done = 0
        self.refused = 0
        self.chunks = 0
        self.size = 0
        """Bytes of all files."""
        self.size_done = 0
        self._size_embedded = 0

    def started(self, files: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self.files, self.size, self._began = files, size, self._clock()

    def embedded(self, chunks: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self.chunks += chunks
        self.size_done += size
        self._size_embedded += size

    def done(self, outcome: FileOutcome, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self.files_done += 1
        self.refused += outcome.status == "refused"
        self.size_done += size

    def line(self) -> str:
        """Return how far the run is, in words."""
        seconds = self._clock() - self._began
        parts = [f"{self.files_done:,}/{self.files:,} files"]
        if self.refused:
            parts.append(f"{self.refused:,} refused")
        if self.chunks and seconds > 0:
            parts.append(f"{self.chunks:,} chunks, {self.chunks / seconds:,.0f}/s")
        # Files that are unchanged take no time, so only embedded bytes tell the speed.
        if self._size_embedded and self.size_done < self.size:
            left = seconds * (self.size - self.size_done) / self._size_embedded
            parts.append(f"about {duration(left)} left")
        return ", ".join(parts)


class Lines:
    """Prints a line every few seconds."""

    def __init__(self, print_line: Callable[[str], None], clock: Callable[[], float]) -> None:
        self._print = print_line
        self._clock = clock
        self._tally = Tally(clock)
        self._printed = clock()

    def started(self, files: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self._tally.started(files, size)

    def embedded(self, chunks: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self._tally.embedded(chunks, size)
        self._show()

    def done(self, outcome: FileOutcome, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self._tally.done(outcome, size)
        self._show()

    def _show(self) -> None:
        if self._clock() - self._printed >= LINE_EVERY_SECONDS:
            self._printed = self._clock()
            self._print(self._tally.line())


class Bar:
    """Moves a bar by the files' bytes."""

    def __init__(self, bar: "RichProgress") -> None:
        self._bar = bar
        self._tally = Tally()
        self._task = bar.add_task("Looking for files", total=None)

    def started(self, files: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self._tally.started(files, size)
        self._bar.update(self._task, total=max(size, 1))
        self._show()

    def embedded(self, chunks: int, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self._tally.embedded(chunks, size)
        self._show()

    def done(self, outcome: FileOutcome, size: int) -> None:
        """See `ingestion.pipeline.Progress`."""
        self._tally.done(outcome, size)
        self._show()

    def _show(self) -> None:
        tally = self._tally
        self._bar.update(self._task, completed=tally.size_done, description=tally.line())


@contextmanager
def showing(console: "Console", *, quiet: bool) -> "Generator[Progress]":
    """Give what shows the progress of a run: a bar, lines, or nothing when quiet."""
    if quiet:
        yield Tally()
    elif console.is_terminal:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
        with Progress(*columns, console=console, transient=True) as bar:
            yield Bar(bar)
    else:
        yield Lines(lambda line: typer.echo(line, err=True), time.monotonic)


def duration(seconds: float) -> str:
    """Write a stretch of time roughly: "40 s", "3 min", "2 h 10 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
