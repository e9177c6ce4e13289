"""Files that are made to do harm, or came to harm: one run over all of them into a real graph."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from neo4j import Driver

from graph.model import Filter, IngestRun
from graph.store import GraphStore
from ingestion.parsed import ReadLimits
from ingestion.pipeline import IngestOptions, ingest
from ingestion.report import write_report
from tests.fakes import HashingEmbedder, MemoryStore
from tests.integration.test_ingest import Silent
from tests.unit.ingestion.docx_writer import paragraph, write_docx

pytestmark = pytest.mark.neo4j

SECRET = "a secret of this machine"
NOBODY = 65_534
MEGABYTE = 1_000_000


def zipped(parts: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def docx(**more: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(write_docx(paragraph("Asphalt is laid hot.")))) as archive:
        return {name: archive.read(name) for name in archive.namelist()} | more


def sparse(path: Path, size: int, head: bytes = b"") -> None:
    """A file of so many bytes that takes no room on the disk."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    (folder / "good.md").write_text("# Paving\n\nGravel is laid cold.\n")
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "empty.txt").write_bytes(b"")
    sparse(folder / "huge.pdf", 501 * MEGABYTE, b"%PDF-1.7\n")
    sparse(folder / "hollow.pdf", 499 * MEGABYTE, b"%PDF-1.7\n")
    sparse(folder / "zeros.txt", 499 * MEGABYTE, b"Text.\n")
    (folder / "itself.md").symlink_to(folder / "itself.md")
    (folder / "one.md").symlink_to(folder / "other.md")
    (folder / "other.md").symlink_to(folder / "one.md")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    secret = (tmp_path / "secret.txt").as_uri()
    (folder / "xxe.xml").write_text(
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret}">]><a>Hello &x; there</a>'
    )
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    (folder / "laughs.xml").write_text(f'<!DOCTYPE a [<!ENTITY l0 "ha">{laughs}]><a>&l9;</a>')
    (folder / "bomb.docx").write_bytes(
        zipped(docx(**{"word/document.xml": b"<a>" + b"A" * (150 * MEGABYTE)}))
    )
    (folder / "climbs.docx").write_bytes(
        zipped(docx(**{"../../climbed.txt": b"x", "/tmp/climbed.txt": b"x"}))
    )
    return folder


def run(folder: Path, store: "GraphStore | MemoryStore", **limits: float) -> IngestRun:
    return ingest(
        [folder],
        store=store,
        embedder=HashingEmbedder(),
        cache=None,
        options=IngestOptions(limits=ReadLimits(file_bytes=500 * MEGABYTE, **limits)),  # type: ignore[arg-type]
        progress=Silent(),
    )


def codes(run: IngestRun) -> dict[str, str]:
    return {unquote(o.uri.rsplit("/", 1)[-1]): o.code or o.status for o in run.outcomes}


def test_harmful_files_are_refused_with_their_reasons_and_the_others_are_read(
    folder: Path, graph_store: GraphStore, tmp_path: Path
) -> None:
    found = run(folder, graph_store, seconds=20)
    refused = codes(found)

    # What becomes of it first hangs on the machine.
    assert refused.pop("hollow.pdf") in ("timeout", "broken", "memory")
    assert refused == {
        "good.md": "read",
        "climbs.docx": "read",
        "empty.pdf": "empty",
        "empty.txt": "empty",
        "huge.pdf": "too_large",
        "zeros.txt": "unsupported",
        "itself.md": "broken",
        "one.md": "broken",
        "other.md": "broken",
        "xxe.xml": "unsupported",
        "laughs.xml": "broken",
        "bomb.docx": "too_large",
    }
    texts = [chunk.text for batch in graph_store.chunks("default") for chunk in batch.chunks]
    assert not any(SECRET in text for text in texts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "secret.txt"]
    assert not Path("/tmp/climbed.txt").exists()


def test_names_that_are_no_utf8_are_read_kept_and_reported(
    tmp_path: Path, graph_store: GraphStore, neo4j_driver: Driver
) -> None:
    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    try:
        place.mkdir()
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    for name in (b"manual-\xff_v1.0.md", b"manual-\xff_v2.0.md"):
        (place / os.fsdecode(name)).write_text(f"Asphalt{len(name)} is laid {name!r} hot.\n")

    found = run(tmp_path, graph_store)
    again = run(tmp_path, graph_store)
    for name in ("report.json", "report.html"):
        write_report(found, tmp_path / name)

    assert {outcome.status for outcome in found.outcomes} == {"read"}
    assert {outcome.status for outcome in again.outcomes} == {"unchanged"}
    documents = [document for document, _ in graph_store.list_documents(Filter())]
    assert all("%FF" in document.uri for document in documents)
    assert len({document.series for document in documents} - {None}) == 1
    assert [document.is_current for document in documents] == [False, True]
    assert "manual" in (tmp_path / "report.html").read_text("utf-8")
    assert len(json.loads((tmp_path / "report.json").read_text("utf-8"))["files"]) == 2


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that another user may look into; that of pytest may not be entered."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_nobody(work: Callable[[], str]) -> str:
    """Return what `work` returns in a process that is not root, whom modes do not bind."""
    if os.geteuid() != 0:
        return work()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, work().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return answer


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of files")
def test_folders_and_files_that_may_not_be_opened_are_refused_and_the_others_are_read(
    public_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.ingesting import ReaderHere

    monkeypatch.setattr("ingestion.read_ahead.Reader", ReaderHere)
    for name in ("closed/a.md", "open/b.md", "open/locked.md"):
        (public_folder / name).parent.mkdir(exist_ok=True)
        (public_folder / name).write_text(f"Asphalt of {name} is laid hot.\n")
        (public_folder / name).chmod(0o644)
    (public_folder / "open").chmod(0o755)
    (public_folder / "open" / "locked.md").chmod(0)
    (public_folder / "closed").chmod(0)

    run(public_folder / "open" / "b.md", MemoryStore())  # nobody else can import what it needs
    answer = as_nobody(lambda: json.dumps(codes(run(public_folder, MemoryStore()))))

    assert json.loads(answer) == {
        "closed": "permission",
        "b.md": "read",
        "locked.md": "permission",
    }
