from dataclasses import replace
from pathlib import Path

import pytest
import typer

from app.cli.ingest import _exit_by
from app.cli.ingest_progress import Lines, Tally, duration
from app.cli.ingest_report import print_report, shown_path, summary
from graph.errors import UsageError
from graph.model import FileOutcome, IngestRun

READ = FileOutcome("file:///docs/a.pdf", "read", pages=120, sections=30, chunks=1500)
SCANS = FileOutcome("file:///docs/b.pdf", "read", pages=9, pages_without_text=(2, 3, 4, 9))
REFUSED = FileOutcome(
    "file:///docs/c%20d.pdf", "refused", reason="give the password", code="encrypted"
)


def make_run(*outcomes: FileOutcome) -> IngestRun:
    start, end = "2026-01-01T00:00:00+00:00", "2026-01-01T00:01:30+00:00"
    return IngestRun("run", "default", start, end, outcomes)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_rate_and_the_time_left_follow_what_was_embedded() -> None:
    clock = Clock()
    tally = Tally(clock)
    tally.started(10, 4000)
    tally.done(REFUSED, 500)
    tally.embedded(50, 500)
    clock.now += 10

    # 500 bytes took 10 s, 3,000 are left
    assert tally.line() == "1/10 files, 1 refused, 50 chunks, 5/s, about 1 min left"


def test_nothing_is_estimated_before_anything_was_embedded() -> None:
    tally = Tally(Clock())
    tally.started(10, 4000)

    assert tally.line() == "0/10 files"


def test_a_line_is_printed_every_few_seconds_only() -> None:
    clock = Clock()
    printed: list[str] = []
    lines = Lines(printed.append, clock)
    lines.started(100, 100)
    for _ in range(50):
        clock.now += 0.25  # exact in binary
        lines.done(READ, 1)

    assert printed == ["20/100 files", "40/100 files"]


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3599, "1 h 0 min"), (7800, "2 h 10 min")],
)
def test_durations_are_written_roughly(seconds: float, written: str) -> None:
    assert duration(seconds) == written


def test_the_summary_counts_statuses_chunks_and_pages_without_text() -> None:
    assert summary(make_run(READ, SCANS, REFUSED)) == [
        "3 files: 2 read, 1 refused.",
        "Written: 1,500 chunks in 30 sections, 129 pages, in 2 min.",
        "4 pages without text, not searchable.",
    ]


def test_a_run_that_wrote_nothing_says_only_that() -> None:
    unchanged = FileOutcome("file:///a", "unchanged", chunks=5)

    assert summary(make_run(unchanged)) == ["1 file: 1 unchanged."]


def test_refused_files_and_pages_without_text_are_always_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_report(make_run(READ, SCANS, REFUSED), verbose=False)

    shown = " ".join(capsys.readouterr().out.split())
    assert "refused /docs/c d.pdf: give the password (encrypted)" in shown
    assert "note /docs/b.pdf: no text on pages 2-4, 9" in shown
    assert "a.pdf" not in shown


def test_every_file_is_listed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(make_run(READ, REFUSED), verbose=True)

    shown = capsys.readouterr().out
    assert "a.pdf" in shown
    assert "1,500" in shown


def test_paths_are_shown_as_they_are_typed_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert shown_path((tmp_path / "a b.md").as_uri()) == "a b.md"
    assert shown_path("file:///elsewhere/a.md") == "/elsewhere/a.md"
    assert shown_path("https://example.gov/a%20b") == "https://example.gov/a%20b"


def test_refused_files_fail_the_command_when_strict_only() -> None:
    _exit_by(make_run(READ, REFUSED), strict=False)

    with pytest.raises(typer.Exit) as raised:
        _exit_by(make_run(READ, REFUSED), strict=True)
    assert raised.value.exit_code == 1


def test_a_run_in_which_nothing_could_be_read_fails() -> None:
    with pytest.raises(UsageError, match="No file could be read"):
        _exit_by(make_run(REFUSED), strict=False)


def test_gone_documents_are_named_with_what_removes_them() -> None:
    gone = [FileOutcome(f"file:///docs/{n}.pdf", "gone", document_id=str(n)) for n in range(7)]
    run = replace(make_run(READ, *gone), folders=("/docs",))

    assert summary(run)[-1] == (
        "7 documents are no longer in /docs: /docs/0.pdf, /docs/1.pdf, /docs/2.pdf, /docs/3.pdf, "
        "/docs/4.pdf and 2 more; --prune removes them."
    )
    assert summary(replace(run, outcomes=(READ, gone[0])))[-1] == (
        "1 document is no longer in /docs: /docs/0.pdf; --prune removes it."
    )


def test_what_was_removed_and_what_is_uncertain_is_said() -> None:
    removed = FileOutcome("file:///docs/a.pdf", "removed")
    doubtful = FileOutcome("file:///docs/b.pdf", "gone", reason="not certain, as /docs is closed")
    near = replace(READ, near_copy_of="file:///docs/c.pdf", similarity=0.93)

    assert summary(make_run(near, removed, doubtful))[2:] == [
        "1 document is a near copy of others; all are kept.",
        "Removed 1 document: /docs/a.pdf.",
        "1 document is not found, but kept (not certain, as /docs is closed): /docs/b.pdf.",
    ]


def test_copies_and_near_copies_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    same = FileOutcome("file:///docs/d.pdf", "same", same_as="file:///docs/a.pdf")
    near = replace(READ, near_copy_of="file:///docs/c.pdf", similarity=0.93)

    print_report(make_run(same, near), verbose=False)

    shown = capsys.readouterr().out
    assert "note /docs/d.pdf: same as /docs/a.pdf" in shown
    assert "note /docs/a.pdf: near copy of /docs/c.pdf (93% in common)" in shown
