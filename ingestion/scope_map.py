"""The scope map: a YAML file that says which files belong to which scope, series and edition.

    ignore:
      - README.md
    rules:
      - glob: "policies/common-*.pdf"
        scope: policies
        series: Common Policy
        audience: public

Globs are those of .gitignore, relative to the ingested folder; of the rules that match a file the
first one counts. What `ignore` matches is not ingested. Without a map a file's scope is the first
folder below the ingested one. `series: none` says that a file is an edition of nothing, where its
name looks as if it were.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path, PurePosixPath
from typing import cast

import yaml
from pathspec import GitIgnoreSpec

from graph.errors import UsageError

MAP_NAME = "scopes.yaml"
"""A file of this name in the ingested folder is used by itself, and is not ingested."""

DEFAULT_SCOPE = "default"

NO_SERIES = "none"
"""As series: the file is no edition of anything."""


@dataclass(frozen=True, slots=True)
class GivenMetadata:
    """What a scope map says about a file; None where it says nothing."""

    scope: str | None = None
    series: str | None = None
    audience: str | None = None
    edition: str | None = None
    year: int | None = None
    date: str | None = None
    title: str | None = None


_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
_LISTS = ("ignore", "rules")
_FIELDS = [field.name for field in fields(GivenMetadata)]


@dataclass(frozen=True, slots=True)
class _Rule:
    spec: GitIgnoreSpec
    given: GivenMetadata


@dataclass(frozen=True, slots=True)
class ScopeMap:
    """Rules in order; empty without a map."""

    rules: tuple[_Rule, ...] = ()
    ignored: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec.from_lines([]))

    def ignores(self, path: PurePosixPath) -> bool:
        """Return whether a file is not to be ingested.

        Args:
            path: Relative to the ingested folder.
        """
        return self.ignored.match_file(path)

    def find(self, path: PurePosixPath) -> GivenMetadata:
        """Return what is given for a file, its scope always filled in.

        Args:
            path: Relative to the ingested folder.
        """
        given = self.stated(path)
        if given.scope is not None:
            return given
        scope = path.parts[0] if len(path.parts) > 1 else DEFAULT_SCOPE
        return replace(given, scope=scope)

    def stated(self, path: PurePosixPath) -> GivenMetadata:
        """Return what the map itself says about a file, empty where no rule matches.

        Args:
            path: Relative to the ingested folder.
        """
        return next((r.given for r in self.rules if r.spec.match_file(path)), GivenMetadata())


def load_scope_map(path: Path) -> ScopeMap:
    """Read a scope map.

    Raises:
        UsageError: It cannot be read, is no valid YAML, or has an unknown key or a value that
            makes no sense; the message names file and line.
    """
    try:
        root = yaml.compose(path.read_text("utf-8"), yaml.SafeLoader)
    except OSError as error:
        problem = f"scope map {path} cannot be read ({error.strerror}); check the path"
        raise UsageError(problem) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"scope map {path} is not UTF-8 text; save it as UTF-8") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = f"{path}, line {line}: no valid YAML ({error.problem}); correct it"
        raise UsageError(problem) from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: no valid YAML ({error}); correct it") from error
    lists = _lists(path, root)
    return ScopeMap(
        tuple(_rule(path, node) for node in lists.get("rules", [])),
        _ignored(path, lists.get("ignore", [])),
    )


def _lists(path: Path, root: yaml.Node | None) -> dict[str, list[yaml.Node]]:
    pairs = dict(_pairs(path, root)) if root is not None else {}
    for key, node in pairs.items():
        if key not in _LISTS or not isinstance(node, yaml.SequenceNode):
            problem = f'unknown key or value "{key}"'
            raise _wrong(path, node, problem, 'lists named "rules" and "ignore"')
    return {key: cast("list[yaml.Node]", node.value) for key, node in pairs.items()}


def _ignored(path: Path, nodes: list[yaml.Node]) -> GitIgnoreSpec:
    globs = [_value(path, "glob", node) for node in nodes]
    try:
        return GitIgnoreSpec.from_lines(globs)
    except ValueError as error:
        raise _wrong(path, nodes[0], "a glob that can match nothing", "such as *.bak") from error


def _rule(path: Path, node: yaml.Node) -> _Rule:
    values = {key: _value(path, key, value) for key, value in _pairs(path, node)}
    if "glob" not in values:
        raise _wrong(path, node, "a rule without glob", 'a line such as glob: "reports/**"')
    try:
        spec = GitIgnoreSpec.from_lines([values.pop("glob")])
    except ValueError as error:
        raise _wrong(path, node, "a glob that can match nothing", "one such as *.pdf") from error
    year = values.pop("year", None)
    return _Rule(spec, GivenMetadata(**values, year=int(year) if year else None))


def _value(path: Path, key: str, node: yaml.Node) -> str:
    if key != "glob" and key not in _FIELDS:
        raise _wrong(path, node, f'unknown key "{key}"', ", ".join(["glob", *_FIELDS]))
    if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
        raise _wrong(path, node, f'no simple value for "{key}"', "one line of text")
    value = str(node.value).strip()
    if key == "year" and not (value.isdecimal() and len(value) == 4):
        raise _wrong(path, node, f"{value} as year", "four figures such as 2024")
    if key == "date" and not _DATE.fullmatch(value):
        raise _wrong(path, node, f"{value} as date", "one such as 2024-05-08")
    return value


def _pairs(path: Path, node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(path, node, "not a mapping", '"key: value" lines')
    for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
        yield str(key.value), value


def _wrong(path: Path, node: yaml.Node, problem: str, expected: str) -> UsageError:
    line = node.start_mark.line + 1
    return UsageError(f"{path}, line {line}: {problem}; expected {expected}")
