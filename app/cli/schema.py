"""`milepost schema`: what the graph's indexes are, and bringing them up to date."""

import typer

from app.cli import options

app = typer.Typer(help="Indexes and constraints of the graph.", no_args_is_help=True)


@app.command()
def status(json: options.Json = False) -> None:
    """Show server version, migrations, indexes and embedder."""
    from dataclasses import asdict

    from app import settings, wiring
    from app.cli.output import console, print_json

    with wiring.open_store(settings.load()) as store:
        found = store.status()
    if json:
        print_json(asdict(found))
        return
    out = console()
    out.print(f"Neo4j {found.server} ({found.edition}), {found.chunks:,} chunks")
    for name in found.applied:
        out.print(f"  applied  {name}")
    for name in found.missing:
        out.print(f"  missing  {name}: run milepost schema migrate", style="yellow")
    for index in found.indexes:
        out.print(f"  index    {index['name']} {index['state']} {index['populationPercent']:.0f}%")
    embedder = found.embedder
    name = f"{embedder.name}, {embedder.dimensions} dimensions" if embedder else "none yet"
    out.print(f"Embedder: {name}")


@app.command()
def migrate(json: options.Json = False) -> None:
    """Create what is missing; safe to run at any time."""
    from app import settings, wiring
    from app.cli.output import console, print_json

    with wiring.open_app(settings.load(), migrate=True) as app:
        done = app.migrated
    if json:
        print_json({"applied": list(done)})
    else:
        console().print(f"Applied: {', '.join(done)}" if done else "The schema is up to date.")


@app.command()
def reindex(json: options.Json = False) -> None:
    """Build the vector index anew, after a large load: searches are then many times as fast.

    One to four minutes for 50,000 chunks; questions are refused until it is done.
    """
    import time

    from app import settings, wiring
    from app.cli.output import console, print_json

    started = time.perf_counter()
    with wiring.open_store(settings.load()) as store:
        chunks = store.status().chunks
        console().print(f"Indexing {chunks:,} chunks …") if not json else None
        store.reindex()
    seconds = round(time.perf_counter() - started, 1)
    if json:
        print_json({"chunks": chunks, "seconds": seconds})
    else:
        console().print(f"Done in {seconds:.0f} s.")
