"""Front matter: YAML between two lines of dashes at the top of a Markdown file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import yaml

from graph.fold import fold

_FRONT_MATTER = re.compile(
    r"\ufeff?---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.DOTALL | re.MULTILINE
)
_KEY_LINE = re.compile(r"^([A-Za-z][\w-]*):[ \t]*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands above a document's text."""

    fields: Mapping[str, str]
    """Simple values only; lists joined by ", "; keys in lower case."""
    length: int
    """Characters that it takes up at the start of the file."""
    warning: str | None = None


def read_front_matter(source: str) -> FrontMatter:
    """Read the front matter; without one all is empty.

    Where the YAML is broken, its lines of the form "key: value" are taken, with a warning.
    """
    match = _FRONT_MATTER.match(source)
    if match is None:
        return FrontMatter({}, 0)
    try:
        content = cast("object", yaml.load(match[1], Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        fields = {key.lower(): value.strip("'\" ") for key, value in _KEY_LINE.findall(match[1])}
        problem = " ".join(str(error).split())[:200]
        return FrontMatter(fields, match.end(), f"front matter is no valid YAML: {problem}")
    if not isinstance(content, dict):
        return FrontMatter({}, match.end() if not match[1].strip() else 0)
    return FrontMatter(_simple(cast("dict[object, object]", content)), match.end())


def _simple(content: Mapping[object, object]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for key, value in content.items():
        if isinstance(value, list):
            value = ", ".join(item for item in cast("list[object]", value) if isinstance(item, str))
        if isinstance(value, str) and value.strip():
            fields[str(key).lower()] = " ".join(fold(value).split())
    return fields
