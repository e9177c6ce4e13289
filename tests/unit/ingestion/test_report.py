import json
from dataclasses import replace
from pathlib import Path

import pytest

from graph.errors import UsageError
from graph.model import FileOutcome, IngestRun
from ingestion.report import number_ranges, run_as_dict, totals, write_report

READ = FileOutcome("file:///b", "read", document_id="1", pages=10, sections=3, chunks=20)
RUN = IngestRun(
    id="run",
    collection="default",
    started_at="2026-01-01T00:00:00+00:00",
    finished_at="2026-01-01T00:01:30+00:00",
    outcomes=(
        FileOutcome("file:///a", "unchanged", document_id="0", chunks=100),
        READ,
        replace(READ, uri="file:///c", status="replaced", pages_without_text=(2, 3)),
        FileOutcome("file:///d", "refused", reason="give the password", code="encrypted"),
        replace(READ, uri="file:///e", pages=None),
    ),
)


def test_totals_count_what_was_written_and_every_status() -> None:
    found = totals(RUN.outcomes)

    assert (found.files, found.read, found.replaced) == (5, 2, 1)
    assert (found.unchanged, found.refused) == (1, 1)
    assert (found.chunks, found.sections, found.pages) == (60, 9, 20)
    assert found.pages_without_text == 2


def test_the_json_report_names_every_file_the_refused_first() -> None:
    files = run_as_dict(RUN)["files"]

    assert isinstance(files, list)
    assert [file["uri"][-1] for file in files] == ["d", "c", "b", "e", "a"]
    assert files[0]["code"] == "encrypted"
    assert files[0]["reason"] == "give the password"


def test_the_report_file_is_the_json_report(tmp_path: Path) -> None:
    write_report(RUN, tmp_path / "report.json")

    written = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert written == json.loads(json.dumps(run_as_dict(RUN)))


def test_a_report_file_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give another file"):
        write_report(RUN, tmp_path)


@pytest.mark.parametrize(
    ("numbers", "written"),
    [((), ""), ((4,), "4"), ((1, 2, 3, 7), "1-3, 7"), ((1, 3, 4), "1, 3-4")],
)
def test_page_numbers_are_written_as_ranges(numbers: tuple[int, ...], written: str) -> None:
    assert number_ranges(numbers) == written
