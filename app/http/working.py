"""Blocking work behind a request, in threads; it ends when the client leaves.

The code below knows no `async`. It is handed an event that is set when nobody waits any more, and
looks at it between its steps.
"""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from threading import Event
from typing import TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_T = TypeVar("_T")


async def until_gone(work: Callable[[Event], _T], receive: Receive, limiter: CapacityLimiter) -> _T:
    """Run blocking work in a thread, and tell it when the client leaves.

    Args:
        work: Called with the event that says so; it should raise `ClientGone` then.
        receive: Of the request, whose body has been read.
        limiter: How many may work at the same time.

    Raises:
        Exception: Whatever the work raises.
    """
    stop = Event()
    async with _one_error(), anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, receive, stop.set)
        try:
            result = await to_thread.run_sync(work, stop, limiter=limiter)
        finally:
            stop.set()
        tasks.cancel_scope.cancel()
        return result
    raise AssertionError("a task group that was cancelled by nobody ended early")


class EventStream(Response):
    """Server-sent events made by blocking work.

    The status is sent with the first event, so an error before it has a status of its own. While
    the work is silent a comment is sent now and then. The work is at most one event ahead of the
    client; when the client leaves, it is stopped.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        work: Callable[[Event], Generator[str]],
        limiter: CapacityLimiter,
        heartbeat_seconds: float,
    ) -> None:
        """Make a response; nothing runs yet.

        Args:
            work: Yields whole events, as text; called with the event that says that the client
                left.
            limiter: How many may work at the same time.
            heartbeat_seconds: Silence after which a comment is sent.
        """
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._work = work
        self._limiter = limiter
        self._heartbeat = heartbeat_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        stop = Event()
        events = self._work(stop)
        line = _Line(send, self.status_code, self.raw_headers)
        async with _one_error(), anyio.create_task_group() as tasks:

            def leave() -> None:
                stop.set()
                tasks.cancel_scope.cancel()

            tasks.start_soon(_watch, receive, leave)
            tasks.start_soon(self._beat, line)
            try:
                while (event := await self._next(events)) is not None:
                    await line.send(event)
                await line.end()
            finally:
                stop.set()
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(events.close, limiter=self._limiter)
            tasks.cancel_scope.cancel()

    async def _next(self, events: Generator[str]) -> str | None:
        return await to_thread.run_sync(next, events, None, limiter=self._limiter)

    async def _beat(self, line: "_Line") -> None:
        while True:
            await anyio.sleep(self._heartbeat)
            await line.beat(self._heartbeat)


class _Line:
    """The way to the client; one message at a time."""

    def __init__(self, send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._send = send
        self._start = {"type": "http.response.start", "status": status, "headers": headers}
        self._started = False
        self._last = 0.0
        self._lock = anyio.Lock()

    async def send(self, text: str) -> None:
        async with self._lock:
            if not self._started:
                self._started = True
                await self._send(self._start)
            await self._body(text, more=True)

    async def beat(self, seconds: float) -> None:
        async with self._lock:
            if self._started and anyio.current_time() - self._last >= seconds:
                await self._body(": still working\n\n", more=True)

    async def end(self) -> None:
        async with self._lock:
            await self._body("", more=False)

    async def _body(self, text: str, *, more: bool) -> None:
        self._last = anyio.current_time()
        body = text.encode("utf-8")
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


async def _watch(receive: Receive, leave: Callable[[], None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    leave()


@asynccontextmanager
async def _one_error() -> AsyncGenerator[None]:
    """Raise the error itself, where a task group would raise a group of one."""
    try:
        yield
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
