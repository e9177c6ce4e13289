"""Fetches one address from the network, trusting nothing that answers.

A name is resolved once, every address it has is checked, and the connection goes to an address
that was checked: a name server that answers differently the second time gains nothing. Time, size
and unpacked size are limited over the whole answer, so neither a server that sends a byte a second
nor a small answer that unpacks to gigabytes holds up the crawl.
"""

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from types import TracebackType
from typing import Self

import httpx

from graph.errors import UnreadableFile

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host name and port."""

_NAT64 = IPv6Network("64:ff9b::/96")
_ENCODINGS = ("", "identity", "gzip", "x-gzip", "deflate")


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one address may cost."""

    seconds: float = 60.0
    """From resolving the name to the last byte."""
    connect_seconds: float = 10.0
    bytes: int = 50_000_000
    """Of the content, unpacked."""
    allow_private: bool = False
    """Whether addresses of this machine and of private networks may be fetched."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One answer; redirects are answers, too."""

    url: str
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    truncated: bool = False
    """True where only the beginning was asked for, and there was more."""


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public internet.

    Addresses of version 4 that are wrapped into version 6 are judged by what they hold.
    """
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system finds them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


class Fetcher:
    """Fetches addresses one after the other; an asynchronous context manager."""

    def __init__(self, limits: FetchLimits, agent: str, resolve: Resolve = resolve) -> None:
        """Set the client up; nothing is opened.

        Args:
            limits: For each address.
            agent: What the servers are told of who asks.
            resolve: Finds addresses of names.
        """
        self._limits = limits
        self._resolve = resolve
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            trust_env=False,  # a proxy would connect to addresses that nobody has checked
            timeout=httpx.Timeout(limits.seconds, connect=limits.connect_seconds),
            limits=httpx.Limits(max_keepalive_connections=0),  # each connection is a checked one
            headers={"User-Agent": agent, "Accept-Encoding": "gzip"},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def get(
        self, url: str, headers: Mapping[str, str] | None = None, *, first_bytes: int | None = None
    ) -> Fetched:
        """Fetch one address, without following redirects.

        Args:
            url: With scheme http or https.
            headers: Further ones, such as If-None-Match.
            first_bytes: Read no more than this, and take that for an answer; None reads all.

        Raises:
            UnreadableFile: With "private", "unreachable", "timeout", "too_large" or "encoding".
        """
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._get(httpx.URL(url), headers or {}, first_bytes)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise UnreadableFile(
                "timeout", f"no whole answer within {self._limits.seconds:.0f} s"
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            said = str(error) or type(error).__name__
            raise UnreadableFile("unreachable", f"the server does not answer ({said})") from error

    async def _get(
        self, url: httpx.URL, headers: Mapping[str, str], first_bytes: int | None
    ) -> Fetched:
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        address = await self._checked_address(url.host, port)
        request = self._client.build_request(
            "GET",
            url.copy_with(host=str(address)),
            headers={**headers, "Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        )
        response = await self._client.send(request, stream=True)
        try:
            limit = self._limits.bytes if first_bytes is None else first_bytes
            body, more = await _read(response, limit)
        finally:
            await response.aclose()
        if more and first_bytes is None:
            raise UnreadableFile("too_large", f"larger than {limit / 1e6:,.0f} MB; raise --max-mb")
        found = {name.lower(): value for name, value in response.headers.items()}
        return Fetched(str(url), response.status_code, found, body, more)

    async def _checked_address(self, host: str, port: int) -> Address:
        addresses = [ip_address(found) for found in await self._resolve(host, port)]
        if not addresses:
            raise UnreadableFile("unreachable", f"{host} has no address")
        private = [address for address in addresses if not is_public(address)]
        if private and not self._limits.allow_private:
            raise UnreadableFile(
                "private",
                f"{host} has the address {private[0]}, which is not on the public internet; "
                "--allow-private permits it",
            )
        # Many machines have no route to addresses of version 6.
        return min(addresses, key=lambda address: address.version)


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    """Return at most so many bytes of the unpacked content, and whether there was more."""
    body = bytearray()
    async for part in _unpacked(response, limit + 1):
        body += part
        if len(body) > limit:
            return bytes(body[:limit]), True
    return bytes(body), False


async def _unpacked(response: httpx.Response, largest: int) -> AsyncIterator[bytes]:
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise UnreadableFile("encoding", f"sent in an encoding that was not asked for: {encoding}")
    if encoding in ("", "identity"):
        async for raw in response.aiter_raw():
            yield raw
        return
    unpacker = zlib.decompressobj(wbits=47)  # gzip or zlib, by its header
    try:
        async for raw in response.aiter_raw():
            # No more than the limit is ever unpacked, however much the packed bytes stand for.
            yield unpacker.decompress(raw, largest)
        yield unpacker.flush()
    except zlib.error as error:
        raise UnreadableFile("encoding", f"the packed content is damaged ({error})") from error
    if not unpacker.eof:
        raise UnreadableFile("encoding", "the packed content ends in the middle")
