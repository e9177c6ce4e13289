"""`milepost keys`: who may call `milepost serve`, and what each caller may see and do."""

from typing import Annotated

import typer

from app.cli import options

app = typer.Typer(
    help="Keys for callers of milepost serve. With the first one, every caller needs one.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(help="Whose key it is, such as web-page.")]


@app.command()
def add(
    name: Name,
    audience: Annotated[
        list[str] | None,
        typer.Option(
            "--audience", "-A", help="An audience that it holds, beside public; may be repeated."
        ),
    ] = None,
    ingest: Annotated[
        bool, typer.Option("--ingest", help="It may upload and remove documents, too.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Make a key and show it, this once: only its digest is kept.

    Example: milepost keys add web-page --audience staff
    """
    from app import settings
    from app.cli.output import print_json
    from app.http.keys import KeyFile

    token = KeyFile(settings.load().data_dir).add(name, audience or (), ingest=ingest)
    if json:
        print_json({"name": name, "key": token})
        return
    typer.echo(token)
    typer.secho(
        "Keep it now; it cannot be shown again. Callers send: Authorization: Bearer KEY",
        fg="yellow",
        err=True,
    )


@app.command("list")
def list_(json: options.Json = False) -> None:
    """List the keys, without the tokens, which are not kept."""
    from app import settings
    from app.cli.output import console, print_json
    from app.http.keys import KeyFile

    keys = KeyFile(settings.load().data_dir).keys()
    if json:
        rows = [
            {
                "name": key.name,
                "audiences": list(key.audiences),
                "ingest": key.ingest,
                "created_at": key.created_at,
            }
            for key in keys
        ]
        print_json(rows)
        return
    if not keys:
        console().print("No keys: only this machine is served. Make one: milepost keys add NAME.")
    for key in keys:
        rights = "search, ask, ingest" if key.ingest else "search, ask"
        line = f"{key.name:<20} {', '.join(key.audiences)}; may {rights}; since {key.created_at}"
        console().print(line, markup=False, highlight=False, soft_wrap=True)


@app.command()
def remove(name: Name) -> None:
    """Take a key away; a running server refuses it at once.

    Example: milepost keys remove web-page
    """
    from app import settings
    from app.http.keys import KeyFile

    KeyFile(settings.load().data_dir).remove(name)
    typer.echo(f"Removed the key {name}.")
