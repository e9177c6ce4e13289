"""What people see: one console for results, one for progress, and places in documents in words."""

import json
from functools import cache
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from graph.model import Passage


@cache
def console() -> "Console":
    """Return the console for results, on standard output."""
    from rich.console import Console

    return Console()


@cache
def progress_console() -> "Console":
    """Return the console for progress, on standard error, so that results can be piped."""
    from rich.console import Console

    return Console(stderr=True)


def print_json(value: object) -> None:
    """Print JSON, unwrapped and uncoloured, with characters as they are."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def where_it_is(passage: "Passage") -> str:
    """Return document, edition, section and pages in one line."""
    title = passage.document
    if passage.edition and passage.edition not in title:
        title = f"{title} ({passage.edition})"
    if not passage.is_current:
        title += " [superseded]"
    number = f"{passage.section_number} " if passage.section_number else ""
    parts = [title, f"{number}{passage.section}".strip(), page_range(passage)]
    return ", ".join(part for part in dict.fromkeys(parts) if part)


def page_range(passage: "Passage") -> str:
    """Return "p. 12", "pp. 12-13" or "p. 3 of the file (printed: iii)"; nothing without pages."""
    first, last = passage.page_start, passage.page_end
    if first is None:
        return ""
    pages = f"p. {first}" if last in (None, first) else f"pp. {first}-{last}"
    return f"{pages} of the file (printed: {passage.printed})" if passage.printed else pages
