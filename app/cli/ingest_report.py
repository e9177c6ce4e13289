"""Prints the report of an ingestion for people."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from app.cli.ingest_progress import duration
from app.cli.output import console
from ingestion.report import number_ranges, totals

if TYPE_CHECKING:
    from graph.model import FileOutcome, IngestRun


def print_report(run: "IngestRun", *, verbose: bool) -> None:
    """Print totals, refused files, pages without text and warnings; when verbose, every file."""
    from rich.table import Table

    out = console()
    if verbose:
        table = Table(box=None, pad_edge=False)
        for name in ("Status", "File", "Pages", "Sections", "Chunks"):
            table.add_column(name, justify="left" if name in ("Status", "File") else "right")
        for outcome in run.outcomes:
            table.add_row(*_row(outcome))
        out.print(table)
    for outcome in run.outcomes:
        for line in _remarks(outcome):
            # One line for each file, however narrow the terminal, so that it can be searched.
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    for line in summary(run):
        out.print(line, markup=False, highlight=False)


def summary(run: "IngestRun") -> list[str]:
    """Return the totals in words."""
    found = totals(run.outcomes)
    begun, ended = (datetime.fromisoformat(t) for t in (run.started_at, run.finished_at))
    counts = {
        "read": found.read,
        "replaced": found.replaced,
        "unchanged": found.unchanged,
        "refused": found.refused,
    }
    named = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    lines = [f"{counted(found.files, 'file')}: {named}."]
    if found.read or found.replaced:
        pages = f"{counted(found.pages, 'page')}, " if found.pages else ""
        lines.append(
            f"Written: {counted(found.chunks, 'chunk')} in {counted(found.sections, 'section')}, "
            f"{pages}in {duration((ended - begun).total_seconds())}."
        )
    if found.pages_without_text:
        lines.append(f"{counted(found.pages_without_text, 'page')} without text, not searchable.")
    return lines


def counted(number: int, noun: str) -> str:
    """Return number and noun: "1 file", "2 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown_path(uri: str) -> str:
    """Return a file's path as a person would type it here; another address as it is."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = Path(unquote(parts.path, errors="replace"))
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _row(outcome: "FileOutcome") -> tuple[str, ...]:
    from rich.markup import escape

    pages = "" if outcome.pages is None else f"{outcome.pages:,}"
    path = escape(shown_path(outcome.uri))
    return outcome.status, path, pages, f"{outcome.sections:,}", f"{outcome.chunks:,}"


def _remarks(outcome: "FileOutcome") -> list[str]:
    path = shown_path(outcome.uri)
    if outcome.status == "refused":
        return [f"refused {path}: {outcome.reason} ({outcome.code})"]
    remarks: list[str] = []
    if outcome.pages_without_text:
        remarks.append(f"no text on page {number_ranges(outcome.pages_without_text)}")
    if outcome.reason:
        remarks.append(outcome.reason)
    return [f"note {path}: {'; '.join(remarks)}"] if remarks else []
