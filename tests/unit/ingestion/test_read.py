import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.errors import UnreadableFile
from ingestion.parsed import ReadLimits
from ingestion.read import Reader
from tests.unit.ingestion.pdf_writer import Page, flowing, write_pdf


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as reader:
        yield reader


def refusal(reader: Reader, path: Path) -> UnreadableFile:
    with pytest.raises(UnreadableFile) as raised:
        reader.read(path)
    return raised.value


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_files_of_all_kinds_come_back_as_text(reader: Reader, tmp_path: Path) -> None:
    files = {
        "a.pdf": write_pdf([Page(flowing(["Text."]))]),
        "a.html": b"<html><main>Text.</main></html>",
        "a.md": b"Text.",
        "a.txt": b"Text.",
    }

    assert {reader.read(write(tmp_path / n, data)).text for n, data in files.items()} == {"Text."}


def test_a_refused_file_does_not_stop_the_next(reader: Reader, tmp_path: Path) -> None:
    empty = refusal(reader, write(tmp_path / "empty.pdf", b""))

    assert empty.status == "empty"
    assert reader.read(write(tmp_path / "b.txt", b"Text.")).text == "Text."


def test_a_missing_file_is_named_so(reader: Reader, tmp_path: Path) -> None:
    assert refusal(reader, tmp_path / "gone.pdf").status == "not_found"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(reader: Reader, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")

    assert refusal(reader, tmp_path / "pipe.txt").status == "unsupported"


def test_a_name_that_is_not_utf_8_is_read(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"bad-\xff.txt")
    try:
        write(path, b"Text.")
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")

    assert reader.read(path).text == "Text."


def test_a_file_over_the_size_limit_is_not_opened(tmp_path: Path) -> None:
    with Reader(ReadLimits(file_bytes=10)) as small:
        assert refusal(small, write(tmp_path / "a.txt", b"x" * 11)).status == "too_large"


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    with Reader(ReadLimits(seconds=0.001)) as hasty:
        assert refusal(hasty, write(tmp_path / "a.txt", b"Text.")).status == "timeout"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is on address space")
def test_a_file_that_needs_too_much_memory_is_given_up(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(400_000_000)
    with Reader(ReadLimits(memory_bytes=300_000_000)) as frugal:
        assert refusal(frugal, tmp_path / "a.txt").status == "memory"


def test_a_reader_goes_on_with_a_new_process_when_its_own_has_died(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"Text.")
    with Reader() as reader:
        reader.read(path)
        reader.interrupt()
        texts: list[str] = []
        for _ in range(2):  # the first of them may still meet the dead process
            try:
                texts.append(reader.read(path).text)
            except UnreadableFile as error:
                assert error.status == "broken"

    assert texts[-1] == "Text."


def test_libraries_that_print_do_not_disturb(reader: Reader, tmp_path: Path) -> None:
    broken = write(tmp_path / "a.pdf", b"%PDF-1.4\n" + b"\x00garbage" * 50)

    assert refusal(reader, broken).status == "broken"
    assert reader.read(write(tmp_path / "b.txt", b"Text.")).text == "Text."
