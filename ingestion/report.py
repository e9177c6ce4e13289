"""The report of a run: every file, what became of it and why, and the totals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from graph.errors import UsageError
from graph.model import FileOutcome, FileStatus, IngestRun
from ingestion.report_page import Totals, page

_ORDER: Mapping[FileStatus, int] = {
    "refused": 0,
    "gone": 1,
    "removed": 2,
    "replaced": 3,
    "read": 4,
    "same": 5,
    "unchanged": 6,
}


def totals(outcomes: Sequence[FileOutcome]) -> Totals:
    """Sum up what happened to files."""
    written = [outcome for outcome in outcomes if outcome.status in ("read", "replaced")]
    statuses = [outcome.status for outcome in outcomes]
    return Totals(
        files=sum(outcome.status not in ("gone", "removed") for outcome in outcomes),
        read=statuses.count("read"),
        replaced=statuses.count("replaced"),
        same=statuses.count("same"),
        unchanged=statuses.count("unchanged"),
        refused=statuses.count("refused"),
        gone=statuses.count("gone"),
        removed=statuses.count("removed"),
        near_copies=sum(outcome.near_copy_of is not None for outcome in outcomes),
        pages=sum(outcome.pages or 0 for outcome in written),
        pages_without_text=sum(len(outcome.pages_without_text) for outcome in written),
        sections=sum(outcome.sections for outcome in written),
        chunks=sum(outcome.chunks for outcome in written),
    )


def run_as_dict(run: IngestRun) -> dict[str, object]:
    """Return the report as `ingest --json` prints it; refused files first, then by address."""
    return {
        "id": run.id,
        "collection": run.collection,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "folders": list(run.folders),
        "notes": list(run.notes),
        "totals": asdict(totals(run.outcomes)),
        "files": [asdict(outcome) for outcome in in_order(run)],
    }


def in_order(run: IngestRun) -> list[FileOutcome]:
    """Return the outcomes with the troubles first, then by address."""
    return sorted(run.outcomes, key=lambda outcome: (_ORDER[outcome.status], outcome.uri))


def check_report(file: Path) -> None:
    """Check that a report could be written to a file.

    Raises:
        UsageError: It is of another kind, or there is no folder for it.
    """
    if file.suffix.lower() not in (".json", ".html", ".htm"):
        raise UsageError(f"A report is JSON or HTML: name {file} .json or .html.")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"There is no folder for the report {file}: create it first.")


def write_report(run: IngestRun, file: Path) -> None:
    """Write the report as JSON or HTML, by the file's suffix.

    Raises:
        UsageError: The file cannot be written.
    """
    if file.suffix.lower() == ".json":
        text = json.dumps(run_as_dict(run), indent=2, ensure_ascii=False) + "\n"
    else:
        text = page(run, totals(run.outcomes), in_order(run))
    try:
        file.write_text(text, "utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {file} ({error.strerror}): give another file."
        ) from error
