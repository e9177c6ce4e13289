"""Which status, and which words, each error gets over HTTP: here, and nowhere else.

Every error has one shape, that of OpenAI's API, so that its clients understand it everywhere:

    {"error": {"message": "…", "type": "…", "param": null, "code": "…", "request_id": "…"}}

A caller is told what the caller can change. What is wrong with the server's own settings, addresses
and models goes to its log.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from app.http.logs import log
from graph.errors import (
    MilepostError,
    ModelError,
    StoreFull,
    StoreUnavailable,
    UsageError,
)

RETRY_SECONDS = 5
"""What a client is told to wait while the graph is away."""


class Refusal(Exception):
    """A request that is not served, with the status that says why."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Say what is refused.

        Args:
            status: HTTP status.
            code: Short machine-readable reason.
            message: What is wrong and what to do.
            headers: Of the response.
        """
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})


class ClientGone(Exception):
    """The client has left, so nobody waits for the answer any more."""


class ErrorBody(BaseModel):
    """What went wrong."""

    message: str
    """What is wrong and what to do."""
    type: str
    param: str | None = None
    """The part of the request that is wrong."""
    code: str
    request_id: str | None = None


class ErrorResponse(BaseModel):
    """The body of every error."""

    error: ErrorBody


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a caller sees it."""

    status: int
    code: str
    message: str
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def body(self, request_id: str | None) -> ErrorResponse:
        """Return the error's one shape."""
        kind = _TYPES.get(self.status, "server_error" if self.status >= 500 else _INVALID)
        return ErrorResponse(
            error=ErrorBody(
                message=self.message,
                type=kind,
                param=self.param,
                code=self.code,
                request_id=request_id,
            )
        )

    def response(self, request_id: str | None) -> JSONResponse:
        """Return the response that tells it."""
        content = self.body(request_id).model_dump()
        return JSONResponse(content, self.status, headers=dict(self.headers))


_INVALID = "invalid_request_error"
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_AGAIN = {"Retry-After": str(RETRY_SECONDS)}
UNEXPECTED = Problem(
    500, "internal", "The server failed. Its log has the reason under the request id."
)


def problem(error: Exception) -> Problem:
    """Return what a caller is told of an error."""
    if isinstance(error, Refusal):
        return Problem(error.status, error.code, str(error), headers=error.headers)
    if isinstance(error, UsageError):
        return Problem(422, "invalid", str(error))
    if isinstance(error, StoreUnavailable):
        message = "The graph database does not answer. Try again in a few seconds."
        return Problem(503, "graph_unavailable", message, headers=_AGAIN)
    if isinstance(error, StoreFull):
        message = "The graph database is out of memory or disk space. Try again later."
        return Problem(503, "graph_full", message, headers=_AGAIN)
    if isinstance(error, ModelError):
        return Problem(502, "model_failed", str(error))
    if isinstance(error, MilepostError):
        message = "The server is not set up rightly. Its log says what to change."
        return Problem(500, "misconfigured", message)
    return UNEXPECTED


def log_problem(error: Exception, found: Problem) -> None:
    """Log what the operator has to know: the server's faults, not the caller's."""
    if found.status >= 500:
        reason = str(error) if isinstance(error, MilepostError) else ""
        log.warning("failed", code=found.code, error=type(error).__name__, reason=reason)


def add_handlers(api: FastAPI) -> None:
    """Let every error of an endpoint get its status and its shape."""

    def known(request: Request, error: Exception) -> Response:
        found = problem(error)
        log_problem(error, found)
        return _respond(request, found)

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _respond(request, _invalid(error))

    def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = _PLAIN.get(error.status_code, str(error.detail))
        code = message.split(".")[0].lower().replace(" ", "_")
        headers = error.headers or {}
        return _respond(request, Problem(error.status_code, code, message, headers=headers))

    def gone(request: Request, error: Exception) -> Response:
        return Response(status_code=499)  # nginx's status for it; nobody is there to read it

    api.add_exception_handler(Refusal, known)
    api.add_exception_handler(MilepostError, known)
    api.add_exception_handler(RequestValidationError, invalid)
    api.add_exception_handler(HTTPException, plain)
    api.add_exception_handler(ClientGone, gone)


_PLAIN = {
    400: "Unreadable body. Send valid JSON, or multipart form data for an upload.",
    404: "Not found. /openapi.json names every address.",
    405: "Method not allowed. /openapi.json names the methods of every address.",
    413: "Too large. Send less in one request.",
}


def _respond(request: Request, found: Problem) -> Response:
    # OpenAI's clients know 400 for what is wrong with a request.
    if found.status == 422 and request.url.path.startswith("/v1/"):
        found = Problem(400, found.code, found.message, found.param)
    return found.response(getattr(request.state, "request_id", None))


def _invalid(error: RequestValidationError) -> Problem:
    """Name the first thing that is wrong, without repeating what was sent."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    if first["type"] == "json_invalid":
        return Problem(422, "invalid", "The body is no valid JSON. Send an object, such as {…}.")
    message = str(first["msg"]).removeprefix("Value error, ")
    if not where:
        return Problem(422, "invalid", f"The body is wrong: {message}. /openapi.json describes it.")
    return Problem(422, "invalid", f"{where}: {message}", where)
