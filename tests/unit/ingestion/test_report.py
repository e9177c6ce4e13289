import json
from dataclasses import replace
from pathlib import Path

import pytest

from graph.errors import UsageError
from graph.model import FileOutcome, IngestRun
from ingestion.report import check_report, run_as_dict, totals, write_report
from ingestion.report_page import number_ranges

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


def test_the_page_holds_all_files_escaped_and_asks_no_network(tmp_path: Path) -> None:
    nasty = replace(READ, uri="file:///%3Cscript%3Ealert(1)%3C%2Fscript%3E.pdf", near_copy_of="x&y")
    bytes_name = replace(READ, uri="file:///caf%E9.txt", engine="text (latin-1)")
    run = replace(RUN, outcomes=(*RUN.outcomes, nasty, bytes_name))

    write_report(run, tmp_path / "report.html")

    page = (tmp_path / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "near copy of x&amp;y" in page
    assert "text (latin-1)" in page
    assert page.count("<tr") == 1 + len(run.outcomes)
    assert page.index("give the password") < page.index("/b</td>")
    assert "http" not in page.replace('http-equiv="Content-Security-Policy"', "")


@pytest.mark.parametrize(
    ("name", "message"), [("report.txt", r"JSON or HTML"), ("none/report.json", "no folder")]
)
def test_a_report_that_could_not_be_written_is_refused_beforehand(
    tmp_path: Path, name: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check_report(tmp_path / name)


def test_gone_files_are_no_files_of_the_run() -> None:
    gone = FileOutcome("file:///x", "gone", document_id="1", chunks=3)

    found = totals((*RUN.outcomes, gone, replace(gone, status="removed")))

    assert (found.files, found.gone, found.removed, found.chunks) == (5, 1, 1, 60)


def test_the_page_and_the_json_report_tell_metadata_and_notes(tmp_path: Path) -> None:
    line = "year 2024: file name (0.80)"
    run = replace(RUN, outcomes=(replace(READ, metadata=(line,)),), notes=("metadata: <none>",))

    write_report(run, tmp_path / "report.html")

    page = (tmp_path / "report.html").read_text("utf-8")
    assert f"<li>{line}</li>" in page
    assert "<p>metadata: &lt;none&gt;</p>" in page
    [file] = run_as_dict(run)["files"]  # type: ignore[misc]
    assert file["metadata"] == (line,)
    assert run_as_dict(run)["notes"] == ["metadata: <none>"]
