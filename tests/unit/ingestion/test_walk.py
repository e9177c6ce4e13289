import os
from pathlib import Path

import pytest

from graph.errors import UsageError
from graph.model import FileOutcome
from ingestion.walk import SourceFile, absolute, find_files


def write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def relative_paths(*paths: Path) -> list[str]:
    return [str(f.relative) for f in find_files(paths) if isinstance(f, SourceFile)]


def test_files_come_in_the_order_of_their_names_depth_first(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/b/c.md", "c/a.md")

    assert relative_paths(tmp_path) == ["a/b/c.md", "a/z.md", "b.md", "c/a.md"]


def test_hidden_files_and_scope_maps_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".b.md", ".git/c.md", "scopes.yaml", "d/scopes.yaml", "README.md")

    assert relative_paths(tmp_path) == ["README.md", "a.md"]


def test_a_hidden_folder_that_is_named_is_walked(tmp_path: Path) -> None:
    write(tmp_path, ".hidden/a.md")

    assert relative_paths(tmp_path / ".hidden") == ["a.md"]


def test_the_root_of_a_single_file_is_its_folder(tmp_path: Path) -> None:
    [file] = find_files([write(tmp_path, "a/b.md") / "a" / "b.md"])

    assert isinstance(file, SourceFile)
    assert file.root == tmp_path / "a"
    assert file.uri == (tmp_path / "a" / "b.md").as_uri()
    assert file.size == len("a/b.md")


def test_a_relative_path_gives_an_absolute_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "b/c.md")
    monkeypatch.chdir(tmp_path / "b")

    [file] = find_files([Path("../a.md")])

    assert isinstance(file, SourceFile)
    assert file.uri == (tmp_path / "a.md").as_uri()
    assert absolute(Path("../a.md")) == tmp_path / "a.md"


def test_a_link_into_its_own_folder_ends(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)

    assert relative_paths(tmp_path) == ["a/b.md"]


def test_a_linked_folder_outside_is_walked_under_the_links_name(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.md", "inside/b.md")
    (tmp_path / "inside" / "linked").symlink_to(tmp_path / "outside", target_is_directory=True)

    assert relative_paths(tmp_path / "inside") == ["b.md", "linked/a.md"]


def test_a_file_named_twice_is_found_once(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b/c.md")

    assert relative_paths(tmp_path / "a.md", tmp_path, tmp_path / "b") == ["a.md", "b/c.md"]


def test_a_dangling_link_is_found_so_that_it_gets_refused(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")

    assert relative_paths(tmp_path) == ["gone.md"]


def test_a_missing_path_is_an_error_before_anything_is_found(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="check the path"):
        find_files([tmp_path, tmp_path / "missing"])


def test_a_folder_that_cannot_be_opened_is_refused_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "closed/a.md", "open/b.md")
    iterdir = Path.iterdir

    def refuse(path: Path) -> object:  # modes do not bind root, who may run the tests
        if path.name == "closed":
            raise PermissionError(13, os.strerror(13))
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    refused, file = find_files([tmp_path])

    assert isinstance(refused, FileOutcome)
    assert (refused.status, refused.code) == ("refused", "permission")
    assert refused.uri == (tmp_path / "closed").as_uri()
    assert isinstance(file, SourceFile)


def test_a_name_that_is_no_text_has_an_address(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x")

    [file] = find_files([tmp_path])

    assert isinstance(file, SourceFile)
    assert file.uri.endswith("/caf%E9.md")
