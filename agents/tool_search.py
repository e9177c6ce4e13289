"""Tools that search: one for everything that the caller may see, and one for each scope of it."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field, TypeAdapter

from agents.context import Context
from agents.passages import disarm
from agents.tool import Arguments, Found, Tool
from graph.errors import UsageError
from graph.model import Filter, Query
from graph.ports import Store

EVERYWHERE = "search"
"""The tool that searches everything which the caller may see."""
MOST_SCOPES = 12
"""Scopes with a tool of their own: the largest. Models choose worse among more, and the other
scopes can be named to the general tool."""
_MOST_SERIES = 4
"""That a description names."""
_MOST_NAMES = 30
"""Scopes that a message lists."""
_LONGEST_NAME = 60
"""Characters of a scope's or series' name in a description."""
_LONGEST_TOOL_NAME = 48

_QUERY = Field(
    min_length=1,
    max_length=2_000,
    description="What to look for, in the words that the document would use.",
)


class InScope(Arguments):
    """Arguments of a search within a scope."""

    query: str = _QUERY


class Anywhere(Arguments):
    """Arguments of the general search."""

    query: str = _QUERY
    scope: str | None = Field(None, description="Name of a scope, to search only there.")


@dataclass(frozen=True, slots=True)
class ScopeTool:
    """A scope that gets a tool."""

    tool: str
    scope: str
    description: str


SCOPE_TOOLS = TypeAdapter(tuple[ScopeTool, ...])
"""To their JSON form and back."""


def scope_tools(store: Store, where: Filter) -> tuple[ScopeTool, ...]:
    """Return the scopes that get a tool, by name; none where there is no choice between scopes."""
    scopes = sorted(store.list_scopes(where), key=lambda scope: (-scope.chunks, scope.name))
    if len(scopes) < 2:
        return ()
    series: dict[str, list[str]] = {}
    for holding in store.holdings(where):
        known = series.setdefault(holding.scope, [])
        if holding.series and holding.series not in known:
            known.append(holding.series)
    tools: dict[str, ScopeTool] = {}
    for scope in sorted(scopes[:MOST_SCOPES], key=lambda scope: scope.name):
        name = _unused(f"search_{_slug(scope.name)}", tools)
        kept = f"{scope.documents:,} document{'s' if scope.documents != 1 else ''}"
        about = "; ".join(_short(one) for one in series.get(scope.name, [])[:_MOST_SERIES])
        text = f"Search only in the scope {_short(scope.name)}: {kept}"
        tools[name] = ScopeTool(
            name, scope.name, f"{text}, such as {about}." if about else f"{text}."
        )
    return tuple(tools.values())


def search_tools(context: Context, scopes: Sequence[ScopeTool]) -> list[Tool]:
    """Return the tools that search, the general one first."""

    def anywhere(arguments: Anywhere) -> Iterable[Found]:
        return _search(context, arguments.query, arguments.scope)

    def within(one: ScopeTool) -> Tool:
        def find(arguments: InScope) -> Iterable[Found]:
            return _search(context, arguments.query, one.scope)

        return Tool(one.tool, one.description, InScope, find)

    general = Tool(EVERYWHERE, "Search in all documents.", Anywhere, anywhere)
    return [general, *(within(one) for one in scopes)]


def _search(context: Context, query: str, scope: str | None) -> Iterable[Found]:
    where = context.filter
    if scope:
        where = replace(where, scopes=(_visible(context, scope),))
    yield Found(context.system(Query(query, where), context.k).hits)


def _visible(context: Context, name: str) -> str:
    """Return the scope of that name, if the caller may see any of it.

    Raises:
        UsageError: There is none; a scope that the caller may not see is not told from that.
    """
    names = [scope.name for scope in context.graph.list_scopes(context.filter)]
    for known in names:
        if known == name or known.casefold() == name.casefold():
            return known
    shown = ", ".join(names[:_MOST_NAMES]) or "none"
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    raise UsageError(f"There is no scope {name!r}. The scopes are: {shown}{more}.")


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:_LONGEST_TOOL_NAME] or "scope"


def _unused(name: str, taken: Iterable[str]) -> str:
    names = set(taken)
    tries = (name if n == 1 else f"{name}_{n}" for n in range(1, len(names) + 2))
    return next(one for one in tries if one not in names)


def _short(name: str) -> str:
    text = " ".join(disarm(name).split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
