"""The web page: GET / and the files that it consists of. It talks to the same API as programs."""

import hashlib
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from app.http.errors import Refusal

router = APIRouter(include_in_schema=False)

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

# Text of documents and models is put into the page as text. Should that ever fail, nothing in it
# can run or be fetched: no inline script, no other host, no string becomes HTML.
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@router.get("/")
async def page(request: Request) -> Response:
    """Return the page."""
    return _respond(request, "index.html")


@router.get("/web/{name}")
async def part(name: str, request: Request) -> Response:
    """Return a file of the page."""
    if name not in _files():
        raise Refusal(404, "not_found", "The page has no such file. It begins at /.")
    return _respond(request, name)


def _respond(request: Request, name: str) -> Response:
    content, tag = _files()[name]
    headers = {**_HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """Return content and tag of each file, by name; only these can be asked for."""
    found = {
        one.name: one.read_bytes()
        for one in files("app").joinpath("web").iterdir()
        if one.name.rpartition(".")[2] in _TYPES
    }
    return {
        name: (content, f'"{hashlib.sha256(content).hexdigest()[:24]}"')
        for name, content in found.items()
    }
