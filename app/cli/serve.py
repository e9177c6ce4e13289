"""`milepost serve`: questions and answers over HTTP."""

import socket
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.http.keys import KeyFile
    from app.http.options import HttpOptions
    from app.wiring import App

MEGABYTE = 1_000_000
QUOTED_AT_ONCE = 8
"""Quoting takes the processor: more threads only make some wait much longer than others."""
WRITTEN_AT_ONCE = 32
"""A chat model is waited for."""
RETRY_SECONDS = 3.0
"""A caller waits no longer than that for a graph that is away; it is told when to try again."""


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine's need a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0 takes any that is free.", min=0, max=65535)] = 8080,
    rate: Annotated[
        int,
        typer.Option(
            help="Requests a minute for each key, or address without keys; 0: no limit.", min=0
        ),
    ] = 600,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Web pages of this origin may call, such as https://docs.example.org; may be "
            "repeated. Without it none may."
        ),
    ] = None,
    max_upload_mb: Annotated[int, typer.Option(help="Largest upload.", min=1)] = 50,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Answers made at the same time; further ones wait. 8 where they are quoted, 32 "
            "where a chat model writes them.",
            min=1,
            max=1000,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Serve search and answers over HTTP, to programs and to any client of OpenAI's API.

    Example: milepost serve, then in another terminal:

    curl localhost:8080/ask -H 'Content-Type: application/json' -d '{"query": "Who may …?"}'

    Without keys only this machine is served, with public documents. Make one for each caller:
    milepost keys add web-page --audience staff.

    /openapi.json describes every address. OpenAI's clients: base_url http://localhost:8080/v1.
    """
    from app import settings, wiring
    from app.http.keys import KeyFile
    from app.http.options import HttpOptions, check_origins

    chosen = settings.load()
    options = HttpOptions(
        host=host,
        requests_per_minute=rate,
        cors_origins=tuple(cors_origin or ()),
        upload_bytes=max_upload_mb * MEGABYTE,
        workers=workers or (QUOTED_AT_ONCE if chosen.model == "extractive" else WRITTEN_AT_ONCE),
    )
    check_origins(options.cors_origins)
    _check_host(host, KeyFile(chosen.data_dir))
    with (
        _listen(host, port) as listening,
        wiring.open_app(chosen, migrate=True, retry_seconds=RETRY_SECONDS) as app,
    ):
        _serve(app, options, listening)


def _check_host(host: str, keys: "KeyFile") -> None:
    from app.http.options import is_loopback
    from graph.errors import UsageError

    if not is_loopback(host) and not keys.keys():
        raise UsageError(
            f"Serving {host} lets other machines in, and there is no key. Make one first, such as "
            "`milepost keys add web-page`, or leave --host out."
        )


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is loaded.

    Raises:
        UsageError: It is taken, or the address is not this machine's.
    """
    from graph.errors import UsageError

    name = host.strip("[]")
    try:
        family = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0][0]
        # Only with the protocol named does asyncio send small pieces at once (TCP_NODELAY).
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((name, port))
    except OSError as error:
        raise UsageError(
            f"{host} port {port} cannot be served ({error.strerror}). Choose another --port, or 0 "
            "for any that is free, or another --host."
        ) from error
    return listening


def _warm_up(app: "App") -> None:
    """Answer one question, so that the first caller does not wait for caches and imports."""
    from agents import soft_scoped
    from agents.answering import ask
    from agents.context import Context

    context = Context(system=app.system("guided"), embedder=app.embedder)
    ask(soft_scoped.build(), "What is the purpose of this document?", context)


def _serve(app: "App", options: "HttpOptions", listening: socket.socket) -> None:
    import uvicorn

    from app.http import logs
    from app.http.api import create_api

    _warm_up(app)
    logs.configure()
    config = uvicorn.Config(
        create_api(app, options),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
        lifespan="on",
    )
    address, port = listening.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    typer.echo(f"Serving http://{shown}:{port} (Ctrl-C ends it).", err=True)
    uvicorn.Server(config).run(sockets=[listening])
