import io
import tarfile
from pathlib import Path

import pytest

from eval import sets
from eval.sets import known_sets, load_set, unpack
from graph.errors import UsageError
from tests.unit.eval.sets import SMALL, SMALL_QUERIES, write_set


def pack(folder: Path, archive: Path) -> Path:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(folder, arcname=folder.name)
    return archive


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the set `one` as a folder and `two` as an archive."""
    write_set(tmp_path / "sets" / "one", SMALL, SMALL_QUERIES)
    pack(write_set(tmp_path / "two", SMALL, SMALL_QUERIES), tmp_path / "sets" / "two.tar.xz")
    return tmp_path / "sets"


@pytest.mark.parametrize("name", ["one", "two"])
def test_a_set_is_found_by_name_packed_or_not(folder: Path, tmp_path: Path, name: str) -> None:
    found = load_set(name, folder, tmp_path / "cache")

    assert (found.name, len(found.documents)) == (name, len(SMALL))


def test_a_set_is_found_by_path(folder: Path, tmp_path: Path) -> None:
    for path in (folder / "one", folder / "two.tar.xz"):
        found = load_set(str(path), Path("nowhere"), tmp_path / "cache")

        assert found.name == path.name.removesuffix(".tar.xz")


def test_sets_are_joined_by_plus(folder: Path, tmp_path: Path) -> None:
    found = load_set("one+two", folder, tmp_path / "cache")

    assert {document.set for document in found.documents} == {"one", "two"}
    assert found.name == "one+two"


def test_an_unknown_set_is_refused_with_the_known_ones(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'three'.*one, two"):
        load_set("three", folder, tmp_path)
    assert known_sets(folder) == ["one", "two"]


def test_an_archive_is_unpacked_once_and_again_when_it_changed(
    folder: Path, tmp_path: Path
) -> None:
    archive = folder / "two.tar.xz"
    first = unpack(archive, tmp_path / "cache")
    (first / "documents.jsonl").write_text("{}", "utf-8")

    assert unpack(archive, tmp_path / "cache") == first
    assert (first / "documents.jsonl").read_text("utf-8") == "{}"

    pack(write_set(tmp_path / "two", SMALL[:1]), archive)
    assert unpack(archive, tmp_path / "cache") != first


def hostile(archive: Path, name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> Path:
    with tarfile.open(archive, "w:xz") as tar:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, link
        member.size = 4 if kind == tarfile.REGTYPE else 0
        tar.addfile(member, io.BytesIO(b"evil"))
    return archive


@pytest.mark.parametrize(
    ("name", "kind", "link"),
    [
        ("../evil.txt", tarfile.REGTYPE, ""),
        ("set/../../evil.txt", tarfile.REGTYPE, ""),
        ("evil.txt", tarfile.SYMTYPE, "/etc/passwd"),
        ("evil.txt", tarfile.LNKTYPE, "../../evil.txt"),
        ("evil", tarfile.FIFOTYPE, ""),
        ("evil", tarfile.CHRTYPE, ""),
    ],
)
def test_an_archive_cannot_write_outside_its_folder(
    tmp_path: Path, name: str, kind: bytes, link: str
) -> None:
    archive = hostile(tmp_path / "set.tar.xz", name, kind, link)

    with pytest.raises(UsageError, match=r"set\.tar\.xz"):
        unpack(archive, tmp_path / "cache" / "sets")

    assert list(tmp_path.rglob("evil*")) == []
    assert list((tmp_path / "cache" / "sets").iterdir()) == []


def test_an_absolute_name_stays_inside(tmp_path: Path) -> None:
    archive = hostile(tmp_path / "set.tar.xz", str(tmp_path / "evil.txt"))

    unpack(archive, tmp_path / "cache")

    assert not (tmp_path / "evil.txt").exists()


def test_an_archive_that_unpacks_to_too_much_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sets, "MAX_BYTES", 100)

    with pytest.raises(UsageError, match="unpacks to more"):
        unpack(folder / "two.tar.xz", tmp_path / "cache")


@pytest.mark.parametrize("keep", [0, 10, 200])
def test_a_broken_archive_leaves_nothing(folder: Path, tmp_path: Path, keep: int) -> None:
    archive = folder / "two.tar.xz"
    archive.write_bytes(archive.read_bytes()[:keep])

    with pytest.raises(UsageError, match="cannot be unpacked"):
        unpack(archive, tmp_path / "cache")

    assert list((tmp_path / "cache").iterdir()) == []
