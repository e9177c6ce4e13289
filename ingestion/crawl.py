"""Crawls one site into a folder that `ingest` reads.

One address after the other, with a pause between them, nearest to the start first. What an
earlier crawl kept is asked for with its ETag and date, and written again only where its bytes
changed. Addresses that an earlier crawl knew and to which no link leads now are asked for last.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from graph.errors import UnreadableFile, UsageError
from ingestion.crawl_fetch import Fetched, Fetcher, FetchLimits, Resolve, resolve
from ingestion.crawl_folder import (
    Page,
    PageStatus,
    file_name,
    kept_bytes,
    kept_type,
    load_manifest,
    save_manifest,
    write_file,
)
from ingestion.crawl_site import (
    ROBOTS_BYTES,
    Links,
    Robots,
    find_links,
    is_same_host,
    may_be_document,
    normalised,
    start_url,
)
from ingestion.media import HTML

AGENT = "Milepost"
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_BUSY = (429, 503)
_LONGEST_WAIT = 60.0
_SAVE_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """How to crawl."""

    limits: FetchLimits = field(default_factory=FetchLimits)
    delay: float = 1.0
    """Seconds between two fetches; a longer Crawl-delay of robots.txt counts."""
    depth: int = 5
    """Links from the start."""
    pages: int = 500
    """Most addresses that are asked for."""
    remove_gone: bool = False
    """Whether to remove the files of pages that the server has no longer, or elsewhere."""
    resolve: Resolve = resolve


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """What a crawl found."""

    start: str
    folder: str
    pages: tuple[Page, ...]
    """Every address that was asked for in this run, by address."""
    complete: bool
    """False where the limit of pages ended it."""


def crawl(url: str, folder: Path, options: CrawlOptions, told: Callable[[Page], None]) -> CrawlRun:
    """Crawl the host of an address into a folder; Ctrl-C keeps what was fetched.

    Args:
        url: Where to begin.
        folder: New, empty, or of an earlier crawl of the same host.
        options: How to crawl.
        told: Called with each address that is finished.

    Raises:
        UsageError: The address or the folder makes no sense, robots.txt forbids the address, or it
            is of a private network.
        UnreadableFile: The first address could not be fetched; nothing was changed.
    """
    start = start_url(url)
    known = load_manifest(folder)
    foreign = next((page.url for page in known.values() if not is_same_host(page.url, start)), None)
    if foreign:
        raise UsageError(f"{folder} holds a crawl of {foreign}: give another folder.")
    return asyncio.run(_crawl(start, folder, known, options, told))


async def _crawl(
    start: str,
    folder: Path,
    known: dict[str, Page],
    options: CrawlOptions,
    told: Callable[[Page], None],
) -> CrawlRun:
    async with Fetcher(options.limits, f"{AGENT} (crawler)", options.resolve) as fetcher:
        visit = _Visit(start, folder, known, options, fetcher)
        try:
            await visit.run(told)
        finally:
            if visit.done:
                save_manifest(folder, start, visit.pages)
    pages = tuple(visit.done[address] for address in sorted(visit.done))
    return CrawlRun(start, str(folder), pages, not visit.waiting)


class _Visit:
    """One crawl while it goes on."""

    def __init__(
        self,
        start: str,
        folder: Path,
        known: dict[str, Page],
        options: CrawlOptions,
        fetcher: Fetcher,
    ) -> None:
        self.start = start
        self.pages = dict(known)
        """The manifest."""
        self.done: dict[str, Page] = {}
        """Asked for in this run."""
        self.waiting: deque[tuple[str, int]] = deque([(start, 0)])
        self._queued = {start}
        self._folder = folder
        self._options = options
        self._fetcher = fetcher
        self._robots: dict[str, Robots] = {}
        self._asked = 0
        self._last = float("-inf")

    async def run(self, told: Callable[[Page], None]) -> None:
        """Ask for one address after the other."""
        saved = time.monotonic()
        known = sorted(self.pages.values(), key=lambda page: (page.depth, page.url))
        while self._asked < self._options.pages:
            if not self.waiting:
                # Those to which no link leads now are asked for last.
                self._queue([page.url for page in known], 0, keep_depth=True)
                known = []
            if not self.waiting:
                return
            url, depth = self.waiting.popleft()
            if url not in self.done:
                told(await self._visit(url, depth))
            if time.monotonic() - saved > _SAVE_EVERY_SECONDS:
                save_manifest(self._folder, self.start, self.pages)
                saved = time.monotonic()

    def _queue(self, urls: Sequence[str], depth: int, *, keep_depth: bool = False) -> None:
        if depth > self._options.depth:
            return
        for url in urls:
            if url in self._queued or not is_same_host(url, self.start) or not may_be_document(url):
                continue
            self._queued.add(url)
            self.waiting.append((url, self.pages[url].depth if keep_depth else depth))

    async def _visit(self, url: str, depth: int) -> Page:
        before = self.pages.get(url)
        try:
            page = await self._page(url, depth, before)
        except UnreadableFile as error:
            if url == self.start and not self.done:
                raise self._useless_start(error) from error
            status: PageStatus = "skipped" if error.status in _SKIPPED else "failed"
            # What an earlier crawl kept stays: a site that is down for a day loses nothing.
            page = Page(url, status, reason=str(error), code=error.status, depth=depth)
            page = _keeping(page, before)
        page = replace(page, fetched_at=datetime.now(UTC).isoformat(timespec="seconds"))
        self.pages[url] = self.done[url] = page
        return page

    async def _page(self, url: str, depth: int, before: Page | None) -> Page:
        answer = await self._ask(url, before)
        if answer.status in _REDIRECTS:
            return await self._redirected(url, depth, answer)
        return self._answered(url, depth, before, answer)

    async def _redirected(self, url: str, depth: int, answer: Fetched) -> Page:
        """Follow redirects, each checked like a link, to a page of its own."""
        seen = {url}
        target = url
        for _ in range(_MOST_REDIRECTS):
            following = normalised(answer.headers.get("location", ""), target)
            if following is None:
                raise UnreadableFile("redirect", "redirects to nothing that can be fetched")
            if not is_same_host(following, self.start):
                raise UnreadableFile("other_host", f"redirects to another host: {following}")
            if following in seen:
                raise UnreadableFile("redirect", "redirects in a circle")
            seen.add(following)
            target = following
            moved = Page(url, "redirect", reason=target, code=str(answer.status), depth=depth)
            if target in self.done:
                return self._given_up(moved, self.pages.get(url))
            before = self.pages.get(target)
            answer = await self._ask(target, before)
            if answer.status not in _REDIRECTS:
                page = self._answered(target, depth, before, answer)
                now = datetime.now(UTC).isoformat(timespec="seconds")
                self._queued.add(target)
                self.pages[target] = self.done[target] = replace(page, fetched_at=now)
                return self._given_up(moved, self.pages.get(url))
        raise UnreadableFile("redirect", f"redirects more than {_MOST_REDIRECTS} times")

    def _answered(self, url: str, depth: int, before: Page | None, answer: Fetched) -> Page:
        """Return the page for an answer, its file written where it is new or changed."""
        page = Page(url, "new", code=str(answer.status), depth=depth)
        if answer.status == 304 and before is not None and before.file:
            body = (self._folder / before.file).read_bytes()
            self._follow(url, depth, body, before.file)
            return replace(before, status="unchanged", code="304", reason="", depth=depth)
        if answer.status in (404, 410):
            gone = replace(page, status="gone", reason="the server has it no longer")
            return self._given_up(gone, before)
        if answer.status != 200:
            raise UnreadableFile(str(answer.status), f"the server answers {answer.status}")
        return self._kept(page, before, answer)

    def _kept(self, page: Page, before: Page | None, answer: Fetched) -> Page:
        content_type = answer.headers.get("content-type", "")
        kind = kept_type(answer.body, page.url, content_type)
        data = kept_bytes(answer.body, kind, content_type)
        links = self._follow(page.url, page.depth, data, ".html" if kind == HTML else "")
        if links is not None and not links.index:
            raise UnreadableFile("noindex", "the page asks not to be kept")
        page = replace(
            page,
            file=file_name(page.url, kind),
            title=links.title if links else "",
            etag=answer.headers.get("etag", ""),
            last_modified=answer.headers.get("last-modified", ""),
            sha256=sha256(answer.body).hexdigest(),
        )
        if before is not None and self._has(before):
            if (before.file, before.sha256) == (page.file, page.sha256):
                return replace(page, status="unchanged")
            if before.file != page.file:  # of another kind now
                (self._folder / str(before.file)).unlink()
            page = replace(page, status="changed")
        write_file(self._folder, str(page.file), data)
        return page

    def _given_up(self, page: Page, before: Page | None) -> Page:
        """Return a page that is no longer at its address, with its old file unless unwanted."""
        if before is None or not self._has(before):
            return page
        if self._options.remove_gone:
            (self._folder / str(before.file)).unlink()
            return page
        return _keeping(page, before)

    def _follow(self, url: str, depth: int, data: bytes, file: str) -> Links | None:
        if not file.endswith(".html"):
            return None
        links = find_links(data, url)
        self._queue(links.urls, depth + 1)
        return links

    async def _ask(self, url: str, before: Page | None) -> Fetched:
        """Fetch an address that robots.txt allows, again after a while where the host is busy."""
        robots = await self._rules(url)
        if not robots.allows(url):
            raise UnreadableFile("robots", "robots.txt forbids it")
        headers: dict[str, str] = {}
        if before is not None and self._has(before):
            conditions = {"If-None-Match": before.etag, "If-Modified-Since": before.last_modified}
            headers = {name: value for name, value in conditions.items() if value}
        self._asked += 1
        answer = await self._get(url, headers, robots.delay)
        if answer.status in _BUSY:
            await asyncio.sleep(_retry_after(answer, self._options.delay))
            answer = await self._get(url, headers, robots.delay)
        return answer

    async def _get(self, url: str, headers: dict[str, str], delay: float) -> Fetched:
        pause = max(delay, self._options.delay) - (time.monotonic() - self._last)
        if pause > 0:
            await asyncio.sleep(pause)
        try:
            return await self._fetcher.get(url, headers)
        finally:
            self._last = time.monotonic()

    async def _rules(self, url: str) -> Robots:
        origin = normalised("/", url) or url
        if origin not in self._robots:
            self._robots[origin] = Robots(await self._robots_text(origin), AGENT)
        return self._robots[origin]

    async def _robots_text(self, origin: str) -> str | None:
        """Return robots.txt; "" where there is none, None where it cannot be told."""
        address = origin + "robots.txt"
        try:
            for _ in range(_MOST_REDIRECTS):
                answer = await self._fetcher.get(address, first_bytes=ROBOTS_BYTES)
                if answer.status not in _REDIRECTS:
                    break
                following = normalised(answer.headers.get("location", ""), address)
                if following is None or not is_same_host(following, self.start):
                    return ""
                address = following
            else:
                return ""
        except UnreadableFile as error:
            if error.status == "private":
                raise
            return None
        if answer.status == 200:
            return answer.body.decode("utf-8", "replace")
        return None if answer.status in _BUSY or answer.status >= 500 else ""

    def _has(self, page: Page | None) -> bool:
        """Return whether a page's file is still there."""
        return page is not None and bool(page.file) and (self._folder / str(page.file)).is_file()

    def _useless_start(self, error: UnreadableFile) -> UsageError | UnreadableFile:
        if error.status in ("private", "other_host"):
            return UsageError(f"{self.start} cannot be crawled: {error}.")
        if error.status == "robots":
            return UsageError(
                f"{self.start} may not be crawled: its robots.txt forbids it or cannot be read."
            )
        return UnreadableFile(
            error.status, f"{self.start} could not be fetched: {error}. Check the address."
        )


_SKIPPED = ("robots", "unsupported", "broken", "empty", "encrypted", "noindex", "other_host")


def _keeping(page: Page, before: Page | None) -> Page:
    """Return the page with the file that an earlier crawl kept."""
    if before is None:
        return page
    return replace(
        page,
        file=before.file,
        title=before.title,
        etag=before.etag,
        last_modified=before.last_modified,
        sha256=before.sha256,
    )


def _retry_after(answer: Fetched, delay: float) -> float:
    """Return the seconds to wait that the host asks for, within reason."""
    wanted = answer.headers.get("retry-after", "")
    return min(float(wanted), _LONGEST_WAIT) if wanted.isdecimal() else max(delay, 1.0)
