"""`milepost compare`: what changed between two editions of a series."""

from typing import Annotated

import typer

from app.cli import options


def compare(
    series: Annotated[str, typer.Argument(help="Name of the series, such as 'Common Policy'.")],
    older: Annotated[str, typer.Argument(help="An edition: its name, current, or a year.")],
    newer: Annotated[str, typer.Argument(help="The edition to compare it with.")],
    section: Annotated[
        str | None,
        typer.Option(
            "--section", help="Only the section of this number or title, and those below it."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every section and sentence, whole.")
    ] = False,
    scope: options.Scopes = None,
    collection: options.Collection = "default",
    audience: options.Audience = None,
    json: options.Json = False,
) -> None:
    """Show what changed between two editions: figures first, then wording, with both places.

    Example: milepost compare "Common Policy" 1.31 current --section 4.2
    """
    from agents.compare import compare as compare_editions
    from app import settings, wiring
    from app.cli.compare_shape import comparison_as_dict
    from app.cli.compare_text import ComparisonText
    from app.cli.output import console, print_json
    from graph.model import Filter

    where = Filter(
        collection=collection,
        audiences=("public", *(audience or ())),
        scopes=tuple(scope or ()),
    )
    with wiring.open_store(settings.load()) as store:
        found = compare_editions(store, series, older, newer, where, section)
    if json:
        print_json(comparison_as_dict(found))
    else:
        ComparisonText(found, console(), whole=everything).print()
