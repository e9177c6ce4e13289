"""Around every request: an id, a line in the log, its metrics, and a limit on slow clients."""

import re
import time
import traceback
from uuid import uuid4

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.errors import UNEXPECTED
from app.http.logs import log
from app.http.metrics import Metrics

_ID = re.compile(r"[\w.:/+=-]{1,128}", re.ASCII)


class RequestLog:
    """ASGI middleware; what a failing endpoint raises ends here, so that errors have CORS headers.

    Neither address parameters nor bodies nor messages of unexpected errors are logged, as they may
    hold what was asked and what the documents say.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, client_seconds: float) -> None:
        self._app = app
        self._metrics = metrics
        self._client_seconds = client_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        exchange = _Exchange(receive, send, self._client_seconds, _request_id(scope))
        scope.setdefault("state", {})["request_id"] = exchange.request_id
        with (
            structlog.contextvars.bound_contextvars(request_id=exchange.request_id),
            self._metrics.running.track_inprogress(),
        ):
            try:
                await self._run(scope, exchange)
            finally:
                self._tell(scope, exchange, time.perf_counter() - started)

    async def _run(self, scope: Scope, exchange: "_Exchange") -> None:
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except TimeoutError:
            # The connection is closed, as its response is not complete.
            log.warning("client_too_slow", seconds=self._client_seconds)
        except Exception as error:  # noqa: BLE001 (this is where a failing request ends)
            frames = traceback.extract_tb(error.__traceback__)[-8:]
            where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
            log.error("unexpected", error=type(error).__name__, where=where)
            if exchange.status is None:
                await UNEXPECTED.response(exchange.request_id)(
                    scope, exchange.receive, exchange.send
                )

    def _tell(self, scope: Scope, exchange: "_Exchange", seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        caller = scope["state"].get("caller")
        status = exchange.status or 499
        self._metrics.request(scope["method"], route, status, seconds)
        if status == 200 and route.startswith("/health"):
            return  # asked every few seconds, and nothing to tell
        log.info(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            complete=exchange.complete,
            ms=round(seconds * 1000, 1),
            key=caller.name if caller else None,
        )


class _Exchange:
    """One request's messages, each within the time that a client may take."""

    def __init__(self, receive: Receive, send: Send, seconds: float, request_id: str) -> None:
        self._receive = receive
        self._send = send
        self._seconds = seconds
        self.request_id = request_id
        self.status: int | None = None
        self.complete = False
        self._body_ended = False

    async def receive(self) -> Message:
        if self._body_ended:
            return await self._receive()  # waits until the client has left
        try:
            with anyio.fail_after(self._seconds):
                message = await self._receive()
        except TimeoutError as error:
            raise HTTPException(
                408, f"Nothing arrived for {self._seconds:g} s. Send it again."
            ) from error
        self._body_ended = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = self.request_id
        with anyio.fail_after(self._seconds):
            await self._send(message)
        if message["type"] == "http.response.body":
            self.complete = not message.get("more_body", False)


def _request_id(scope: Scope) -> str:
    """Return the caller's own id where it is a decent one, else a new one."""
    given = Headers(scope=scope).get("x-request-id", "")
    return given if _ID.fullmatch(given) else uuid4().hex
