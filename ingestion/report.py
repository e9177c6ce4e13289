"""The report of a run: every file, what became of it and why, and the totals."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from graph.errors import UsageError
from graph.model import FileOutcome, FileStatus, IngestRun

_ORDER: Mapping[FileStatus, int] = {"refused": 0, "replaced": 1, "read": 2, "unchanged": 3}


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a run; chunks, sections and pages are of the documents that were written."""

    files: int
    read: int
    replaced: int
    unchanged: int
    refused: int
    pages: int
    pages_without_text: int
    sections: int
    chunks: int


def totals(outcomes: Sequence[FileOutcome]) -> Totals:
    """Sum up what happened to files."""
    written = [outcome for outcome in outcomes if outcome.status in ("read", "replaced")]
    statuses = [outcome.status for outcome in outcomes]
    return Totals(
        files=len(outcomes),
        read=statuses.count("read"),
        replaced=statuses.count("replaced"),
        unchanged=statuses.count("unchanged"),
        refused=statuses.count("refused"),
        pages=sum(outcome.pages or 0 for outcome in written),
        pages_without_text=sum(len(outcome.pages_without_text) for outcome in written),
        sections=sum(outcome.sections for outcome in written),
        chunks=sum(outcome.chunks for outcome in written),
    )


def run_as_dict(run: IngestRun) -> dict[str, object]:
    """Return the report as `ingest --json` prints it; refused files first, then by address."""
    ordered = sorted(run.outcomes, key=lambda outcome: (_ORDER[outcome.status], outcome.uri))
    return {
        "id": run.id,
        "collection": run.collection,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "totals": asdict(totals(run.outcomes)),
        "files": [asdict(outcome) for outcome in ordered],
    }


def write_report(run: IngestRun, file: Path) -> None:
    """Write the report as JSON.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        file.write_text(json.dumps(run_as_dict(run), indent=2, ensure_ascii=False) + "\n", "utf-8")
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {file} ({error.strerror}): give another file."
        ) from error


def number_ranges(numbers: Sequence[int]) -> str:
    """Write ascending numbers shortly: 1, 2, 3, 7 as "1-3, 7"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{a}-{b}" if a != b else f"{a}" for a, b in ranges)
