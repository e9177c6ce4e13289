"""Prints the report of an ingestion for people."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.ingest_progress import duration
from app.cli.output import console
from ingestion.identity import uri_path
from ingestion.report import totals
from ingestion.report_page import remarks

MANY_CHUNKS = 10_000
"""Written in one run; from there on the vector index is worth building anew."""

MOST_NAMED = 5
"""Gone documents that are named in the line that says how to remove them."""

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
        for line in _lines(outcome, verbose=verbose):
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
        "the same as others": found.same,
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
    if found.chunks >= MANY_CHUNKS:
        lines.append("Searches are faster after a large load once you run: milepost schema reindex")
    if found.pages_without_text:
        lines.append(f"{counted(found.pages_without_text, 'page')} without text, not searchable.")
    if found.near_copies:
        near = "is a near copy" if found.near_copies == 1 else "are near copies"
        lines.append(f"{counted(found.near_copies, 'document')} {near} of others; all are kept.")
    return [*lines, *_gone(run), *run.notes]


def _gone(run: "IngestRun") -> list[str]:
    """Return what is to be said of documents whose files are gone."""
    lines: list[str] = []
    folders = ", ".join(shown_path(Path(folder).as_uri()) for folder in run.folders)
    removed = [outcome for outcome in run.outcomes if outcome.status == "removed"]
    gone = [outcome for outcome in run.outcomes if outcome.status == "gone"]
    doubtful = [outcome for outcome in gone if outcome.reason.startswith("not certain")]
    certain = [outcome for outcome in gone if outcome not in doubtful]
    if removed:
        lines.append(f"Removed {counted(len(removed), 'document')}: {_named(removed)}.")
    if certain:
        are = "is" if len(certain) == 1 else "are"
        them = "it" if len(certain) == 1 else "them"
        lines.append(
            f"{counted(len(certain), 'document')} {are} no longer in {folders}: "
            f"{_named(certain)}; --prune removes {them}."
        )
    if doubtful:
        are = "is" if len(doubtful) == 1 else "are"
        lines.append(
            f"{counted(len(doubtful), 'document')} {are} not found, but kept "
            f"({doubtful[0].reason}): {_named(doubtful)}."
        )
    return lines


def _named(outcomes: "list[FileOutcome]") -> str:
    names = [shown_path(outcome.uri) for outcome in outcomes[:MOST_NAMED]]
    rest = len(outcomes) - len(names)
    return ", ".join(names) + (f" and {rest:,} more" if rest else "")


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return number and noun: "1 file", "2 files"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def shown_path(uri: str) -> str:
    """Return a file's path as a person would type it here; another address as it is."""
    path = uri_path(uri)
    if path is None:
        return uri
    here = Path.cwd()
    shown = str(path.relative_to(here) if path.is_relative_to(here) else path)
    return shown.encode("utf-8", "backslashreplace").decode()


def _row(outcome: "FileOutcome") -> tuple[str, ...]:
    from rich.markup import escape

    pages = "" if outcome.pages is None else f"{outcome.pages:,}"
    path = escape(shown_path(outcome.uri))
    return outcome.status, path, pages, f"{outcome.sections:,}", f"{outcome.chunks:,}"


def _lines(outcome: "FileOutcome", *, verbose: bool) -> list[str]:
    path = shown_path(outcome.uri)
    if outcome.status == "refused":
        return [f"refused {path}: {outcome.reason} ({outcome.code})"]
    if outcome.status in ("gone", "removed") or (outcome.status == "unchanged" and not verbose):
        return []
    said = remarks(outcome)
    return [f"note {path}: {'; '.join(said)}"] if said else []
