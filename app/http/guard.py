"""Decides who calls and how often, before anything of the request is read."""

import math
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.errors import Refusal, log_problem, problem
from app.http.keys import KeyFile
from app.http.options import HttpOptions, is_loopback
from app.http.rate import RateLimit
from graph.errors import ConfigurationError

OPEN_PATHS = ("/health", "/web")
"""These, and what is below them, need no key and are not limited; so does the page itself, which
asks for the key."""

UPLOAD_PATH = "/documents"
"""Where bodies may be as long as uploads are."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, and what they may do."""

    name: str
    """Of the key; "local" without one."""
    audiences: tuple[str, ...] = ("public",)
    ingest: bool = False
    """Whether documents may be uploaded and removed."""


class Guard:
    """ASGI middleware that sets `state.caller`, or answers 401, 403, 413 or 429.

    Without any key only this machine is served, with what is public and without a right to change
    anything. The name by which it was called is checked, too: else a web page whose own name is
    made to point here could read what its visitor may.
    """

    def __init__(self, app: ASGIApp, *, keys: KeyFile, options: HttpOptions) -> None:
        self._app = app
        self._keys = keys
        self._options = options
        self._rate = RateLimit(options.requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        if scope["path"] != "/" and not _is_below(scope["path"], OPEN_PATHS):
            try:
                scope["state"]["caller"] = self._admit(scope)
            except (Refusal, ConfigurationError) as error:
                found = problem(error)
                log_problem(error, found)
                response = found.response(scope["state"].get("request_id"))
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope) -> Caller:
        address = scope["client"][0] if scope.get("client") else ""
        try:
            caller = self._identify(Headers(scope=scope), address)
        except Refusal:
            self._count(f"address {address}")  # guessing is limited as well
            raise
        self._count(f"key {caller.name}" if self._keys.keys() else f"address {address}")
        self._check_length(scope)
        return caller

    def _check_length(self, scope: Scope) -> None:
        """Refuse a body that says it is too long; FastAPI counts what others send."""
        limit = (
            self._options.upload_bytes if scope["path"] == UPLOAD_PATH else self._options.json_bytes
        )
        given = Headers(scope=scope).get("content-length", "0")
        if given.isdecimal() and int(given) > limit:
            raise Refusal(413, "too_large", f"Send at most {limit:,} bytes in one request.")

    def _identify(self, headers: Headers, address: str) -> Caller:
        if not self._keys.keys():
            return _local(headers, address)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        token = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        if not token:
            raise _unauthorized("This server needs a key: send Authorization: Bearer KEY.")
        key = self._keys.find(token)
        if key is None:
            raise _unauthorized("The key is unknown. `milepost keys add NAME` makes one.")
        return Caller(key.name, key.audiences, key.ingest)

    def _count(self, who: str) -> None:
        wait = self._rate.take(who)
        if wait:
            seconds = math.ceil(wait)
            raise Refusal(
                429,
                "rate_limited",
                f"Too many requests. Try again in {seconds} s.",
                {"Retry-After": str(seconds)},
            )


def _local(headers: Headers, address: str) -> Caller:
    host = headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    if not is_loopback(address) or not is_loopback(name):
        raise Refusal(
            403,
            "local_only",
            "Without keys this server answers only its own machine, as localhost or 127.0.0.1. "
            "`milepost keys add NAME` makes a key.",
        )
    return Caller("local")


def _unauthorized(message: str) -> Refusal:
    return Refusal(401, "invalid_api_key", message, {"WWW-Authenticate": "Bearer"})


def _is_below(path: str, tops: tuple[str, ...]) -> bool:
    return any(path == top or path.startswith(f"{top}/") for top in tops)
