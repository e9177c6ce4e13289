"""GET /health/live, /health/ready, /health and /metrics."""

from typing import Annotated, Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from app.http.backend import BackendOf, CallerOf
from app.http.errors import RETRY_SECONDS
from graph.errors import StoreError

router = APIRouter(tags=["operation"])


class Live(BaseModel):
    """The process runs."""

    live: bool = True


class Ready(BaseModel):
    """Whether questions can be answered now."""

    ready: bool
    graph: Annotated[str, Field(description='"ok", or what is wrong with the graph.')]


class Health(Live, Ready):
    """Both."""


_AWAY: dict[int | str, dict[str, Any]] = {
    503: {"model": Ready, "description": "Not now; Retry-After says when to ask again."}
}


@router.get("/health/live")
async def live() -> Live:
    """Tell that the process runs; a supervisor restarts it otherwise."""
    return Live()


@router.get("/health/ready", responses=_AWAY)
def ready(backend: BackendOf, response: Response) -> Ready:
    """Tell whether questions can be answered; a load balancer sends none otherwise."""
    return _ready(backend, response)


@router.get("/health", responses=_AWAY)
def health(backend: BackendOf, response: Response) -> Health:
    """Tell both."""
    return Health(**_ready(backend, response).model_dump())


@router.get("/metrics", response_class=Response)
def metrics(backend: BackendOf, _: CallerOf) -> Response:
    """Return counts and times in Prometheus' text format."""
    return Response(backend.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _ready(backend: BackendOf, response: Response) -> Ready:
    try:
        backend.graph.check()
    except StoreError as error:
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_SECONDS)
        return Ready(ready=False, graph=type(error).__name__)
    return Ready(ready=True, graph="ok")
