import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import ModelError, StoreUnavailable, UnreadableFile, UsageError
from graph.model import FileOutcome, IngestedDocument, Vectors
from ingestion.identity import Task
from ingestion.parsed import ParsedDocument, ReadLimits
from ingestion.pipeline import batches
from ingestion.prepare import Plan, Prepared
from ingestion.read_ahead import read_ahead
from ingestion.scope_map import GivenMetadata
from ingestion.walk import SourceFile
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document
from tests.ingesting import ReaderHere, Watcher, run, statuses


def sorted_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.*") if path.is_file())


class StuckReader(ReaderHere):
    """Reads without end, until it is interrupted."""

    def __init__(self, limits: ReadLimits) -> None:
        super().__init__(limits)
        self.interrupted = threading.Event()

    def read(self, path: Path) -> ParsedDocument:
        if path.name == "one.md":
            return super().read(path)
        assert self.interrupted.wait(10)
        raise UnreadableFile("broken", "interrupted")

    def interrupt(self) -> None:
        self.interrupted.set()


@pytest.fixture(autouse=True)
def read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.read_ahead.Reader", ReaderHere)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "roads").mkdir()
    (tmp_path / "roads" / "one.md").write_text("# Paving\n\nAsphalt is laid hot.\n")
    (tmp_path / "roads" / "two.txt").write_text("Gravel is laid cold and dry.\n")
    (tmp_path / "three.html").write_text("<title>T</title><h1>Rails</h1><p>Steel rails.</p>")
    return tmp_path


def test_every_file_is_read_and_its_chunks_carry_vectors(folder: Path, store: MemoryStore) -> None:
    found = run(folder, store=store)

    assert statuses(found) == {"one.md": "read", "two.txt": "read", "three.html": "read"}
    for item in store.items.values():
        assert len(item.chunks) == len(item.vectors) > 0
        assert item.embedder == HashingEmbedder.fingerprint
        texts = [f"{chunk.heading}\n{chunk.text}" for chunk in item.chunks]
        assert np.array_equal(item.vectors, HashingEmbedder().embed(texts))


def test_outcomes_tell_sections_and_chunks_and_are_kept_in_the_graph(
    folder: Path, store: MemoryStore
) -> None:
    found = run(folder, store=store)

    assert store.runs == [found]
    for outcome in found.outcomes:
        item = store.items[outcome.document_id or ""]
        assert (outcome.chunks, outcome.sections) == (len(item.chunks), len(item.sections))
        assert item.document.uri == outcome.uri


def test_the_same_folder_again_writes_nothing(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)
    writes = store.writes

    again = run(folder, store=store)

    assert set(statuses(again).values()) == {"unchanged"}
    assert store.writes == writes


def test_a_changed_file_replaces_its_chunks_and_keeps_its_id(
    folder: Path, store: MemoryStore
) -> None:
    before = {o.uri: o.document_id for o in run(folder, store=store).outcomes}
    (folder / "roads" / "two.txt").write_text("Gravel is never laid.\n")

    after = run(folder, store=store)

    assert statuses(after)["two.txt"] == "replaced"
    assert {o.uri: o.document_id for o in after.outcomes} == before
    texts = [chunk.text for item in store.items.values() for chunk in item.chunks]
    assert "Gravel is never laid." in texts
    assert not any("cold and dry" in text for text in texts)


def test_another_embedder_reads_everything_again(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)
    other = HashingEmbedder()
    other.fingerprint = "other"

    assert set(statuses(run(folder, store=store, embedder=other)).values()) == {"replaced"}


def test_a_changed_scope_map_replaces_the_files_it_speaks_of(
    folder: Path, store: MemoryStore
) -> None:
    run(folder, store=store)
    (folder / "scopes.yaml").write_text("rules:\n  - glob: three.html\n    scope: rails\n")

    found = run(folder, store=store)

    assert statuses(found)["three.html"] == "replaced"
    assert statuses(found)["one.md"] == "unchanged"
    assert {i.document.scope for i in store.items.values()} == {"roads", "rails"}


@pytest.mark.parametrize("edited", [False, True])
def test_ingesting_again_shows_a_file_to_nobody_else_unless_told_to(
    folder: Path, store: MemoryStore, edited: bool
) -> None:
    run(folder, store=store, audience="staff")
    if edited:
        (folder / "roads" / "one.md").write_text("# One\n\nOther words than before.\n")

    found = run(folder, store=store)

    assert statuses(found)["one.md"] == ("replaced" if edited else "unchanged")
    assert {item.document.audience for item in store.items.values()} == {"staff"}
    run(folder, store=store, audience="public")
    assert {item.document.audience for item in store.items.values()} == {"public"}


@pytest.mark.parametrize("edited", [False, True])
def test_a_scope_that_was_set_stays_until_a_scope_map_gives_another(
    folder: Path, store: MemoryStore, edited: bool
) -> None:
    run(folder, store=store)
    moved = next(id for id, i in store.items.items() if i.document.uri.endswith("one.md"))
    store.set_scopes("default", {moved: "paving"})
    for n in range(2):
        if edited:
            (folder / "roads" / "one.md").write_text(f"# One\n\nOther words than before {n}.\n")

        found = run(folder, store=store)

        assert statuses(found)["one.md"] == ("replaced" if edited else "unchanged")
        assert store.items[moved].document.scope == "paving"
    (folder / "scopes.yaml").write_text("rules:\n  - glob: one.md\n    scope: manuals\n")
    run(folder, store=store)
    assert store.items[moved].document.scope == "manuals"


def test_a_scope_map_counts_more_than_a_scope_that_was_set(
    folder: Path, store: MemoryStore
) -> None:
    (folder / "scopes.yaml").write_text("rules:\n  - glob: one.md\n    scope: manuals\n")
    run(folder, store=store)
    moved = next(id for id, i in store.items.items() if i.document.uri.endswith("one.md"))
    store.set_scopes("default", {moved: "paving"})

    found = [statuses(run(folder, store=store))["one.md"] for _ in range(2)]

    assert found == ["replaced", "unchanged"]
    assert store.items[moved].document.scope == "manuals"


def test_a_scope_map_gives_metadata_and_ignores_files(folder: Path, store: MemoryStore) -> None:
    (folder / "map.yaml").write_text(
        "ignore:\n  - '*.txt'\n  - map.yaml\nrules:\n  - glob: one.md\n    title: Paving manual\n"
        "    series: Manual\n    edition: '2'\n    year: 2020\n    audience: staff\n"
    )

    found = run(folder, store=store, scope_map=folder / "map.yaml", audience="everyone")

    assert set(statuses(found)) == {"one.md", "three.html"}
    documents = {i.document.uri[-6:]: i.document for i in store.items.values()}
    one = documents["one.md"]
    assert (one.title, one.series, one.edition) == ("Paving manual", "Manual", "2")
    assert (one.year, one.audience, one.scope) == (2020, "staff", "roads")
    assert documents["e.html"].audience == "everyone"


def test_collections_are_kept_apart(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)

    assert set(statuses(run(folder, store=store, collection="b")).values()) == {"read"}
    assert len(store.items) == 6


def test_a_file_that_cannot_be_read_is_refused_and_the_others_go_on(
    folder: Path, store: MemoryStore
) -> None:
    (folder / "empty.txt").write_bytes(b"")
    (folder / "large.txt").write_text("word " * 1000)
    (folder / "gone.md").symlink_to(folder / "nowhere")

    found = run(folder, store=store, limits=ReadLimits(file_bytes=2000))

    refused = {o.uri.rsplit("/", 1)[-1]: o for o in found.outcomes if o.status == "refused"}
    codes = {name: outcome.code for name, outcome in refused.items()}
    assert codes == {"empty.txt": "empty", "large.txt": "too_large", "gone.md": "not_found"}
    assert all(outcome.reason and outcome.document_id is None for outcome in refused.values())
    assert len(store.items) == 3


def test_a_file_that_is_refused_now_leaves_what_was_read_before_and_says_so(
    folder: Path, store: MemoryStore
) -> None:
    run(folder, store=store)
    (folder / "roads" / "two.txt").write_bytes(b"")

    found = run(folder, store=store)

    [refused] = [outcome for outcome in found.outcomes if outcome.status == "refused"]
    assert "stays in the graph" in refused.reason
    assert len(store.items) == 3


def test_a_file_that_always_changes_is_refused(
    folder: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = iter(range(1000))
    monkeypatch.setattr("ingestion.prepare.file_stamp", lambda path: next(stamps))

    found = run(folder / "three.html", store=store)

    assert found.outcomes[0].code == "changing"
    assert store.items == {}


class Disturbed(ReaderHere):
    """Reads while somebody else writes to the file, so many times."""

    writes = 0

    def read(self, path: Path) -> ParsedDocument:
        found = super().read(path)
        if Disturbed.writes:
            Disturbed.writes -= 1
            with path.open("a") as file:
                file.write(f"Line {Disturbed.writes} came later.\n")
        return found


@pytest.mark.parametrize(
    ("writes", "code", "documents"), [(1, "changing", 0), (2, "changing", 0), (0, "", 1)]
)
def test_a_file_that_is_written_to_while_it_is_read_is_not_stored_half(
    folder: Path,
    store: MemoryStore,
    monkeypatch: pytest.MonkeyPatch,
    writes: int,
    code: str,
    documents: int,
) -> None:
    monkeypatch.setattr("ingestion.read_ahead.Reader", Disturbed)
    Disturbed.writes = writes

    [outcome] = run(folder / "roads" / "two.txt", store=store).outcomes
    assert (outcome.code, len(store.items)) == (code, documents)

    Disturbed.writes = 0
    run(folder / "roads" / "two.txt", store=store)
    [item] = store.items.values()
    text = (folder / "roads" / "two.txt").read_text()
    assert "".join(chunk.text for chunk in item.chunks).count("came later") == writes
    assert "came later" in text or not writes


def test_a_file_that_changed_once_is_read_again(
    folder: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = iter([1, 2, 3, 3])
    monkeypatch.setattr("ingestion.prepare.file_stamp", lambda path: next(stamps))

    assert statuses(run(folder / "three.html", store=store)) == {"three.html": "read"}


def test_a_missing_path_and_an_empty_folder_are_errors(tmp_path: Path, store: MemoryStore) -> None:
    with pytest.raises(UsageError, match="no file or folder"):
        run(tmp_path / "missing", store=store)
    with pytest.raises(UsageError, match="There are no files in"):
        run(tmp_path, store=store)
    assert store.runs == []


NEW = ("one.md", "two.txt")


def test_progress_adds_up_to_all_files_chunks_and_bytes(folder: Path, store: MemoryStore) -> None:
    (folder / "empty.txt").write_bytes(b"")
    run(folder / "three.html", store=store)
    watcher = Watcher()

    found = run(folder, store=store, progress=watcher)

    written = [o for o in found.outcomes if o.status in ("read", "replaced")]
    assert watcher.files == len(found.outcomes) == 4
    assert sorted(o.uri for o in watcher.outcomes) == [o.uri for o in found.outcomes]
    assert watcher.chunks == sum(o.chunks for o in written)
    assert watcher.told == watcher.size > 0
    assert watcher.embedded_size == sum((folder / "roads" / name).stat().st_size for name in NEW)


def test_several_readers_give_the_same_graph(folder: Path, store: MemoryStore) -> None:
    other = MemoryStore()
    run(folder, store=store)
    run(folder, store=other, jobs=3)

    assert [i.chunks for i in store.items.values()] == [i.chunks for i in other.items.values()]


class Interrupting(HashingEmbedder):
    """Fails in the third call; with batches of one document, in the third document."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == 3:
            raise self.error
        return super().embed(texts)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ModelError("not finite")])
def test_an_interruption_leaves_whole_documents_and_a_record_and_is_resumed(
    folder: Path, store: MemoryStore, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        run(folder, store=store, embedder=Interrupting(error), batch_chunks=1)

    assert len(store.items) == 2
    assert [o.status for o in store.runs[0].outcomes] == ["read", "read"]
    resumed = run(folder, store=store)
    assert sorted(statuses(resumed).values()) == ["read", "unchanged", "unchanged"]


def test_an_interruption_does_not_wait_for_a_file_that_is_being_read(
    folder: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = StuckReader(ReadLimits())
    monkeypatch.setattr("ingestion.read_ahead.Reader", lambda limits: stuck)
    tasks = [Task(SourceFile(path, folder), GivenMetadata(), None) for path in sorted_files(folder)]
    plan = Plan("default", "public", HashingEmbedder(), ReadLimits())
    results = read_ahead(tasks, plan, jobs=1)

    first = next(results)
    results.close()

    assert isinstance(first, Prepared)
    assert first.document.title == "Paving"
    assert stuck.interrupted.is_set()


class FailingStore(MemoryStore):
    def write(self, items: Sequence[IngestedDocument]) -> None:
        if self.items:
            raise StoreUnavailable("the server is gone")
        super().write(items)


def test_a_store_that_fails_ends_the_run_at_once(folder: Path) -> None:
    failing = FailingStore()

    with pytest.raises(StoreUnavailable):
        run(folder, store=failing, batch_chunks=1)

    assert failing.runs == []
    assert len(failing.items) == 1


def prepared(chunks: int) -> Prepared:
    item = make_document("d", *(f"text {n}" for n in range(chunks)))
    outcome = FileOutcome(item.document.uri, "read")
    return Prepared(item.document, item.sections, item.chunks, outcome)


@given(st.lists(st.integers(1, 9), max_size=30), st.integers(1, 12))
def test_batches_keep_the_order_and_the_limit_unless_one_document_exceeds_it(
    sizes: list[int], limit: int
) -> None:
    documents = [prepared(size) for size in sizes]

    grouped = list(batches(documents, limit))

    assert [document for batch in grouped for document in batch] == documents
    for batch in grouped:
        assert len(batch) == 1 or sum(len(d.chunks) for d in batch) <= limit
