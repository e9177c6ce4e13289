"""Which document a file is, over whole runs into the store in memory."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.errors import UsageError
from graph.model import Document, FileOutcome, IngestRun
from tests.fakes import MemoryStore
from tests.ingesting import ReaderHere, run, statuses

ASPHALT = "Asphalt is laid hot.\n"
GRAVEL = "Gravel is laid cold and dry.\n"


@pytest.fixture(autouse=True, scope="module")
def read_in_this_process() -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr("ingestion.read_ahead.Reader", ReaderHere)
    yield
    patch.undo()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "policy.txt").write_text(ASPHALT)
    (folder / "policy (2).txt").write_text(ASPHALT)
    (folder / "rails.txt").write_text("Rails are made of steel.\n")
    return folder


def file_name(uri: str) -> str:
    return unquote(uri.rsplit("/", 1)[-1])


def documents(store: MemoryStore) -> dict[str, Document]:
    return {file_name(item.document.uri): item.document for item in store.items.values()}


def names(store: MemoryStore) -> list[list[str]]:
    """The names of each document, without folders and escapes, in a fixed order."""
    found = [(item.document.uri, *item.document.copies) for item in store.items.values()]
    return sorted([file_name(uri) for uri in uris] for uris in found)


def outcome(run: IngestRun, name: str) -> FileOutcome:
    [found] = [o for o in run.outcomes if file_name(o.uri) == name]
    return found


def test_the_same_bytes_under_two_names_are_one_document_with_both_names(
    folder: Path, store: MemoryStore
) -> None:
    found = run(folder, store=store)

    copy = outcome(found, "policy (2).txt")
    assert names(store) == [["policy.txt", "policy (2).txt"], ["rails.txt"]]
    assert copy.status == "same"
    assert copy.same_as == (folder / "policy.txt").as_uri()
    assert copy.document_id == outcome(found, "policy.txt").document_id
    assert copy.chunks == 1


def test_a_text_that_is_also_named_as_a_pdf_is_read_as_the_text_that_it_is(
    folder: Path, store: MemoryStore
) -> None:
    shutil.copy(folder / "policy.txt", folder / "a.pdf")

    found = run(folder, store=store)

    assert outcome(found, "policy.txt").status == "read"
    assert outcome(found, "a.pdf").status == "same"
    assert names(store)[0] == ["policy.txt", "policy (2).txt", "a.pdf"]


def test_a_damaged_file_under_two_names_is_refused_under_both_with_the_same_reason(
    folder: Path, store: MemoryStore
) -> None:
    for name in ("a.pdf", "a.docx"):
        (folder / name).write_bytes(b"PK\x03\x04cut off")

    found = run(folder, store=store)

    first, second = outcome(found, "a.docx"), outcome(found, "a.pdf")
    assert (first.status, second.status) == ("refused", "refused")
    assert first.reason == "a damaged zip archive or document; fetch the file again"
    assert second.reason.endswith(f"/a.docx: {first.reason}")


def test_a_copy_that_is_known_is_unchanged(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)
    writes = store.writes

    again = run(folder, store=store)

    assert set(statuses(again).values()) == {"unchanged"}
    assert outcome(again, "policy (2).txt").same_as == (folder / "policy.txt").as_uri()
    assert store.writes == writes


@pytest.mark.parametrize("edited", ["policy.txt", "policy (2).txt"])
def test_whichever_copy_is_edited_the_other_keeps_its_document(
    folder: Path, store: MemoryStore, edited: str
) -> None:
    before = outcome(run(folder, store=store), edited).document_id
    (folder / edited).write_text(GRAVEL)

    found = run(folder, store=store)

    other = "policy (2).txt" if edited == "policy.txt" else "policy.txt"
    assert outcome(found, edited).status == "read"
    assert outcome(found, other).document_id == before
    assert names(store) == [["policy (2).txt"], ["policy.txt"], ["rails.txt"]]
    texts = {item.chunks[0].text for item in store.items.values()}
    assert {ASPHALT.strip(), GRAVEL.strip()} < texts


def test_both_copies_edited_alike_are_still_one_document(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)
    for name in ("policy.txt", "policy (2).txt"):
        (folder / name).write_text(GRAVEL)

    found = run(folder, store=store)

    assert outcome(found, "policy.txt").status == "replaced"
    assert names(store) == [["policy.txt", "policy (2).txt"], ["rails.txt"]]


def test_two_documents_that_become_alike_become_one(folder: Path, store: MemoryStore) -> None:
    (folder / "policy.txt").write_text(GRAVEL)
    run(folder, store=store)
    assert len(store.items) == 3
    (folder / "policy.txt").write_text(ASPHALT)

    run(folder, store=store)

    assert names(store) == [["policy (2).txt", "policy.txt"], ["rails.txt"]]


def test_a_copy_in_another_folder_joins_the_document_that_is_there(
    folder: Path, store: MemoryStore
) -> None:
    run(folder, store=store)
    other = folder.parent / "other"
    other.mkdir()
    shutil.copy(folder / "rails.txt", other / "steel.txt")

    found = run(other, store=store)

    assert outcome(found, "steel.txt").same_as == (folder / "rails.txt").as_uri()
    assert names(store)[1] == ["rails.txt", "steel.txt"]


def test_collections_share_no_document(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)

    assert outcome(run(folder, store=store, collection="b"), "rails.txt").status == "read"
    assert len(store.items) == 4


def test_a_copy_never_shows_to_everyone_what_its_original_shows_to_some(
    folder: Path, store: MemoryStore
) -> None:
    run(folder, store=store, audience="staff")
    (folder / "rails.txt").rename(folder / "renamed.txt")
    shutil.copy(folder / "policy.txt", folder / "policy (3).txt")

    run(folder, store=store)

    assert {item.document.audience for item in store.items.values()} == {"staff"}


def test_copies_for_different_audiences_stay_apart(folder: Path, store: MemoryStore) -> None:
    (folder / "scopes.yaml").write_text("rules:\n  - glob: policy.txt\n    audience: staff\n")

    run(folder, store=store)

    found = documents(store)
    assert (found["policy.txt"].audience, found["policy (2).txt"].audience) == ("staff", "public")
    assert len(store.items) == 3


def test_a_copy_of_a_refused_file_is_refused_with_the_same_reason(
    folder: Path, store: MemoryStore
) -> None:
    for name in ("a.pdf", "b.pdf"):
        (folder / name).write_bytes(b"%PDF-1.7 and nothing else")

    found = run(folder, store=store)

    first, second = outcome(found, "a.pdf"), outcome(found, "b.pdf")
    assert (first.status, second.status, second.code) == ("refused", "refused", first.code)
    assert first.reason in second.reason
    assert "a.pdf" in second.reason


def test_a_gone_file_is_named_and_its_document_stays(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)
    (folder / "rails.txt").unlink()

    found = run(folder, store=store)

    assert outcome(found, "rails.txt").status == "gone"
    assert len(store.items) == 2


def test_pruning_removes_documents_whose_files_are_gone_and_nothing_else(
    folder: Path, store: MemoryStore
) -> None:
    other = folder.parent / "folder 2"
    other.mkdir()
    (other / "gone too.txt").write_text(GRAVEL)
    run(folder, other, store=store)
    (folder / "rails.txt").unlink()
    (other / "gone too.txt").unlink()

    found = run(folder, store=store, prune=True)

    assert outcome(found, "rails.txt").status == "removed"
    assert [o.status for o in found.outcomes].count("removed") == 1
    assert names(store) == [["gone too.txt"], ["policy.txt", "policy (2).txt"]]


@pytest.mark.parametrize(
    ("gone", "kept"), [("policy.txt", "policy (2).txt"), ("policy (2).txt", "policy.txt")]
)
def test_pruning_one_name_keeps_the_document_of_the_other(
    folder: Path, store: MemoryStore, gone: str, kept: str
) -> None:
    run(folder, store=store)
    (folder / gone).unlink()

    found = run(folder, store=store, prune=True)

    removed = outcome(found, gone)
    assert removed.status == "removed"
    assert "stays as" in removed.reason
    assert names(store) == [[kept], ["rails.txt"]]
    assert outcome(run(folder, store=store), kept).status == "unchanged"


def test_a_renamed_file_keeps_its_document_and_is_not_embedded_again(
    folder: Path, store: MemoryStore
) -> None:
    before = outcome(run(folder, store=store), "rails.txt").document_id
    writes = store.writes
    (folder / "rails.txt").rename(folder / "steel rails.txt")

    found = run(folder, store=store)
    pruned = run(folder, store=store, prune=True)

    assert outcome(found, "steel rails.txt").status == "same"
    assert outcome(found, "rails.txt").status == "gone"
    assert outcome(pruned, "rails.txt").status == "removed"
    assert outcome(pruned, "steel rails.txt").document_id == before
    assert store.writes == writes
    assert names(store)[1] == ["steel rails.txt"]


def test_the_old_name_of_a_renamed_file_may_be_used_again(folder: Path, store: MemoryStore) -> None:
    run(folder, store=store)
    (folder / "rails.txt").rename(folder / "steel.txt")
    run(folder, store=store, prune=True)
    (folder / "rails.txt").write_text(GRAVEL)

    found = run(folder, store=store)

    assert outcome(found, "rails.txt").status == "read"
    assert names(store)[1:] == [["rails.txt"], ["steel.txt"]]


def test_a_folder_that_is_empty_now_prunes_nothing(folder: Path, store: MemoryStore) -> None:
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "gravel.txt").write_text(GRAVEL)
    run(folder, store=store)
    for file in folder.iterdir():
        file.unlink()

    with pytest.raises(UsageError, match="There are no files"):
        run(folder, store=store, prune=True)
    found = run(folder, folder.parent / "other", store=store, prune=True)

    assert outcome(found, "rails.txt").status == "gone"
    assert "holds no file now" in outcome(found, "rails.txt").reason
    assert len(store.items) == 3


def test_a_folder_that_is_not_mounted_prunes_nothing(folder: Path, store: MemoryStore) -> None:
    disk = folder.parent / "disk"
    disk.mkdir()
    (disk / "gravel.txt").write_text(GRAVEL)
    (folder / "link").symlink_to(disk)
    run(folder, store=store)
    disk.rename(folder.parent / "elsewhere")
    (folder / "rails.txt").unlink()

    found = run(folder, store=store, prune=True)

    assert "link could not be read" in outcome(found, "rails.txt").reason
    assert {outcome(found, name).status for name in ("rails.txt", "gravel.txt")} == {"gone"}
    assert len(store.items) == 3


def test_a_folder_of_which_a_part_is_closed_prunes_nothing(
    folder: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(folder, store=store)
    (folder / "rails.txt").unlink()
    (folder / "closed").mkdir()
    listing = Path.iterdir

    def refuse(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(Path, "iterdir", refuse)

    found = run(folder, store=store, prune=True)

    assert "closed could not be read" in outcome(found, "rails.txt").reason
    assert len(store.items) == 2


def test_near_copies_are_both_kept_and_reported(folder: Path, store: MemoryStore) -> None:
    words = [f"word{n} of the policy" for n in range(200)]
    (folder / "a.txt").write_text(" ".join(words))
    (folder / "b.txt").write_text(" ".join([*words[:-3], "and an end of its own"]))
    (folder / "c.txt").write_text(" ".join(f"other{n} things" for n in range(200)))

    found = run(folder, store=store)

    assert outcome(found, "b.txt").near_copy_of == (folder / "a.txt").as_uri()
    assert 0.9 < (outcome(found, "b.txt").similarity or 0) < 1
    assert outcome(found, "a.txt").near_copy_of is outcome(found, "c.txt").near_copy_of is None
    assert len(store.items) == 5
    (folder / "d.txt").write_text(" ".join([*words[:-3], "another end"]))
    assert outcome(run(folder, store=store), "d.txt").near_copy_of is not None


NAMES = ("a.txt", "b.txt", "c.txt", "d.txt")
TEXTS = ("one text\n", "two texts\n", "three texts\n")
SHAPES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), min_size=1)
"""What is in the folder at the time of a run."""


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(SHAPES, st.booleans()), min_size=1, max_size=6))
def test_whatever_happens_to_files_each_is_in_the_graph_once_with_its_bytes(
    history: list[tuple[dict[str, str], bool]],
) -> None:
    store = MemoryStore()
    with TemporaryDirectory() as folder:
        for shape, prune in history:
            for name in NAMES:
                Path(folder, name).unlink(missing_ok=True)
            for name, text in shape.items():
                Path(folder, name).write_text(text)

            found = run(Path(folder), store=store, prune=prune)

            held = [
                (Path(uri).name, item.chunks[0].text)
                for item in store.items.values()
                for uri in (item.document.uri, *item.document.copies)
            ]
            there = {name: text.strip() for name, text in shape.items()}
            assert len(held) == len({name for name, _ in held})
            assert there.items() <= dict(held).items()
            assert not prune or len(held) == len(there)
            assert len({text for _, text in held}) == len(store.items) or not prune
            seen = [o for o in found.outcomes if o.status not in ("gone", "removed")]
            assert sorted(Path(o.uri).name for o in seen) == sorted(shape)
