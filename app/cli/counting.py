"""A progress bar for work that is counted: what it is, how much is done, and the time left."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

Count = Callable[[int, int], None]
"""Told how much is done, of how much."""


@contextmanager
def counting(what: str) -> Generator[Count]:
    """Show a bar on standard error for as long as the context lasts; only on a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    from app.cli.output import progress_console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    console = progress_console()
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=None)

        def count(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield count
