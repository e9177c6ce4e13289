"""Options that several commands share."""

from typing import Annotated, Literal

import typer

Collection = Annotated[
    str, typer.Option("--collection", "-C", help="The collection to work in; they are kept apart.")
]
Audience = Annotated[
    list[str] | None,
    typer.Option("--audience", help="An audience you hold, beside public; may be repeated."),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", help="Only this scope; may be repeated. See: milepost documents list."),
]
Series = Annotated[str | None, typer.Option(help="Only editions of this series.")]
Year = Annotated[int | None, typer.Option(help="Only documents of this year.", max=9999)]
AsOf = Annotated[
    int | None,
    typer.Option("--as-of", help="Only editions in force at the end of this year.", max=9999),
]
Current = Annotated[bool, typer.Option("--current", help="Only the newest edition of each series.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
SystemName = Annotated[
    str | None,
    typer.Option(
        "--system", "-S", help="Retrieval system: guided, hybrid, monolithic, bm25 or another."
    ),
]
Hits = Annotated[int, typer.Option("-k", help="How many passages.", min=1, max=1000)]
Rerank = Annotated[
    Literal["none", "topics"],
    typer.Option(help="topics orders anew by the scorer that milepost train made."),
]


def reranked(system: str, rerank: Literal["none", "topics"]) -> str:
    """Return the name of a system with or without the scorer behind it."""
    from router.rerank import SUFFIX

    return system if rerank == "none" or system.endswith(SUFFIX) else system + SUFFIX
