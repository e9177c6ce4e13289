"""`milepost mcp`: the documents as tools for assistants, by the Model Context Protocol."""

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

HOST = "127.0.0.1"
"""There are no keys, so no other machine is served."""


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP on this machine, instead of stdin/stdout.")
    ] = False,
    port: Annotated[
        int, typer.Option(help="For --http; 0 takes any that is free.", min=0, max=65535)
    ] = 8090,
    audience: options.Audience = None,
) -> None:
    """Offer search, get_section, compare_versions, list_documents and ask to an MCP client.

    Example, in the client's configuration: {"command": "milepost", "args": ["mcp"]}

    With --http: the address is http://127.0.0.1:8090/mcp.

    Whoever calls holds the audiences given here, beside public.
    """
    from app import settings, wiring
    from app.mcp import Tools, create_server

    chosen = settings.load()
    with Tools(lambda: wiring.open_app(chosen), tuple(audience or ())) as tools:
        server = create_server(tools)
        if http:
            _serve_http(server, port)
        else:
            server.run()


def _serve_http(server: "MCPServer", port: int) -> None:
    import socket

    import uvicorn

    from graph.errors import UsageError

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()  # so that who reads the address can call it at once
    except OSError as error:
        listening.close()
        raise UsageError(
            f"Port {port} cannot be served ({error.strerror}). Choose another --port, or 0 for any "
            "that is free."
        ) from error
    api = server.streamable_http_app(host=HOST, stateless_http=True)
    config = uvicorn.Config(api, log_level="warning", timeout_graceful_shutdown=5)
    address = f"http://{HOST}:{listening.getsockname()[1]}/mcp"
    typer.echo(f"Serving {address} (Ctrl-C ends it).", err=True)
    uvicorn.Server(config).run(sockets=[listening])
