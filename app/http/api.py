"""The FastAPI application: its routes, and what stands around them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version

from anyio import to_thread
from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from agents import machines
from app.http import (
    routes_ask,
    routes_compare,
    routes_documents,
    routes_health,
    routes_openai,
    routes_sources,
    routes_threads,
    routes_web,
)
from app.http.backend import Backend
from app.http.errors import ErrorResponse, add_handlers
from app.http.guard import Guard
from app.http.options import HttpOptions, check_origins
from app.http.request_log import RequestLog
from app.wiring import App

_DESCRIPTION = """\
Answers from public agencies' documents, each claim with a citation that can be checked.

A key (`milepost keys add NAME`) is sent as `Authorization: Bearer KEY`. Every response has an
`X-Request-ID`; every error has the shape of OpenAI's API, and says what to do."""

_EXPOSED = ["X-Request-ID", "Retry-After", "X-Passage-Marks", "X-Passage-Top"]


def create_api(app: App, options: HttpOptions) -> FastAPI:
    """Return the server's application over an opened `App`, which stays the caller's to close.

    Raises:
        UsageError: An origin that web pages are let in from is none.
    """
    check_origins(options.cors_origins)
    backend = Backend(app, options)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        # The first caller would wait for it: building one takes a second, mostly imports.
        await to_thread.run_sync(machines.build, app.settings.machine)
        backend.jobs.start()
        yield
        await to_thread.run_sync(backend.jobs.stop)
        await to_thread.run_sync(backend.close)
        await to_thread.run_sync(backend.page_images.close)

    api = FastAPI(
        title="Milepost",
        version=version("milepost"),
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        responses={"default": {"model": ErrorResponse, "description": "An error."}},
    )
    api.state.backend = backend
    add_handlers(api)
    for router in (
        routes_health.router,
        routes_ask.router,
        routes_documents.router,
        routes_documents.upload_router(options),
        routes_openai.router,
        routes_threads.router,
        routes_sources.router,
        routes_compare.router,
        routes_web.router,
    ):
        api.include_router(router, max_body_size=options.json_bytes)
    # The last one added is the outermost.
    api.add_middleware(Guard, keys=backend.keys, options=options)
    api.add_middleware(RequestLog, metrics=backend.metrics, client_seconds=options.client_seconds)
    if options.cors_origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
            expose_headers=_EXPOSED,
        )
    return api
