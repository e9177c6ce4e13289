from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from graph.errors import UsageError
from ingestion.scope_map import ScopeMap, load_scope_map

MAP = """
rules:
  - glob: "policies/common-*.pdf"
    scope: policies
    series: Common Policy
    year: 2024
  - glob: "*.pdf"
    audience: staff
  - glob: "policies/**"
    scope: never reached for PDF files
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], ScopeMap]:
    def load(text: str) -> ScopeMap:
        path = tmp_path / "scopes.yaml"
        path.write_text(text, "utf-8")
        return load_scope_map(path)

    return load


def scope(scope_map: ScopeMap, path: str) -> str | None:
    return scope_map.find(PurePosixPath(path)).scope


def test_the_first_rule_that_matches_counts(load: Callable[[str], ScopeMap]) -> None:
    given = load(MAP).find(PurePosixPath("policies/common-27.pdf"))

    assert (given.scope, given.series, given.year) == ("policies", "Common Policy", 2024)
    assert given.audience is None


def test_a_rule_without_scope_leaves_it_to_the_folder(load: Callable[[str], ScopeMap]) -> None:
    given = load(MAP).find(PurePosixPath("guides/deep/a.pdf"))

    assert (given.scope, given.audience) == ("guides", "staff")


def test_without_a_map_the_scope_is_the_first_folder() -> None:
    assert scope(ScopeMap(), "guides/deep/a.md") == "guides"
    assert scope(ScopeMap(), "a.md") == "default"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("rules:\n  - glob: a\n    scop: b\n", 3, "scop"),
        ("rule:\n  - glob: a\n", 2, "rule"),
        ("rules: 3\n", 1, "rules"),
        ("- glob: a\n", 1, "mapping"),
        ("rules:\n  - scope: b\n", 2, "glob"),
        ("rules:\n  - glob: a\n    year: next\n", 3, "next"),
        ("rules:\n  - glob: a\n    date: 5 May\n", 3, "5 May"),
        ("rules:\n  - glob: a\n    scope: [b]\n", 3, "scope"),
        ("rules:\n  - glob: '!'\n", 2, "nothing"),
        ("rules:\n  - glob: 'a\n", 3, "YAML"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    load: Callable[[str], ScopeMap], text: str, line: int, problem: str
) -> None:
    with pytest.raises(UsageError) as raised:
        load(text)

    assert f"scopes.yaml, line {line}:" in str(raised.value)
    assert problem in str(raised.value)


def test_a_missing_map_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_scope_map(tmp_path / "none.yaml")


def test_ignored_files_are_told(load: Callable[[str], ScopeMap]) -> None:
    scope_map = load("ignore:\n  - README.md\n  - drafts/\n")

    ignored = [scope_map.ignores(PurePosixPath(p)) for p in ("a/README.md", "drafts/a.md", "a.md")]
    assert ignored == [True, True, False]


def test_an_empty_map_gives_no_rules(load: Callable[[str], ScopeMap]) -> None:
    assert load("").rules == ()
