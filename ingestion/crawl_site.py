"""What belongs to the site that is crawled: addresses, links and the rules of robots.txt."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx
from bs4 import BeautifulSoup
from protego import Protego

from graph.errors import UsageError

ROBOTS_BYTES = 500 * 1024
"""Of robots.txt this much is read (RFC 9309, section 2.5)."""
LONGEST_DELAY = 60.0
"""Seconds; a longer Crawl-delay is taken for this one."""
LONGEST_URL = 2_000
_PORTS = {"http": 80, "https": 443}
_NOT_PAGES = {
    "7z", "avi", "bmp", "css", "csv", "doc", "dot", "eot", "exe", "gif", "gz", "ico", "jpeg",
    "jpg", "js", "json", "mov", "mp3", "mp4", "mpeg", "png", "ppt", "pptx", "rar", "rss", "svg",
    "tar", "tif", "tiff", "ttf", "wav", "webm", "webp", "wmv", "woff", "woff2", "xls", "xlsx",
    "zip",
}  # fmt: skip
"""Endings of addresses that are never documents which `ingest` reads."""


@dataclass(frozen=True, slots=True)
class Links:
    """What a page says about others and about itself."""

    urls: tuple[str, ...]
    """Absolute and normalised, in the page's order, each once."""
    index: bool
    """False where a robots element asks not to keep the page."""
    title: str
    """Empty where the page has none."""


def normalised(url: str, base: str | None = None) -> str | None:
    """Return an address in the form in which addresses are compared; None if it cannot be crawled.

    Scheme and host are in lower case, without the usual port, user name, fragment or dots in the
    path; the query stays as it is.
    """
    try:
        joined = httpx.URL(urljoin(base, url.strip()) if base else url.strip())
        if joined.scheme not in _PORTS or not joined.host or joined.userinfo:
            return None
        if not 0 < (joined.port or 1) < 65_536:
            return None
        path = joined.raw_path if joined.path else b"/" + joined.raw_path
        found = str(joined.copy_with(fragment=None, raw_path=path))
        return found if len(found) <= LONGEST_URL else None
    except (httpx.InvalidURL, ValueError, UnicodeError):
        return None


def start_url(url: str) -> str:
    """Return the address at which a crawl begins.

    Raises:
        UsageError: It is not one of http or https, or holds a user name.
    """
    found = normalised(url)
    if found is None:
        raise UsageError(
            f"{url!r} cannot be crawled: give an address with http:// or https://, without a user "
            "name or password."
        )
    return found


def is_same_host(url: str, start: str) -> bool:
    """Return whether an address is on the host of another; http and https are one host."""
    a, b = urlsplit(url), urlsplit(start)
    usual = all(parts.port is None for parts in (a, b))
    return a.hostname == b.hostname and (usual or a.port == b.port)


def may_be_document(url: str) -> bool:
    """Return whether an address can lead to something that `ingest` reads, by its ending."""
    name = urlsplit(url).path.rsplit("/", 1)[-1]
    return name.rpartition(".")[2].lower() not in _NOT_PAGES if "." in name else True


def find_links(html: bytes, url: str) -> Links:
    """Return the links of a page.

    Args:
        html: As it was fetched or kept.
        url: Its address.
    """
    soup = BeautifulSoup(html, "lxml")
    base_element = soup.find("base", href=True)
    base = urljoin(url, str(base_element["href"])) if base_element else url
    told = {
        word.strip().lower()
        for meta in soup.find_all("meta", attrs={"name": True, "content": True})
        if str(meta["name"]).lower() == "robots"
        for word in str(meta["content"]).split(",")
    }
    urls = () if told & {"nofollow", "none"} else _followed(soup, base)
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    return Links(tuple(dict.fromkeys(urls)), not told & {"noindex", "none"}, title)


def _followed(soup: BeautifulSoup, base: str) -> Iterator[str]:
    for element in soup.find_all(["a", "area"], href=True):
        if "nofollow" in str(element.get("rel") or "").lower():
            continue
        found = normalised(str(element["href"]), base)
        if found is not None:
            yield found


class Robots:
    """The rules of one host's robots.txt (RFC 9309)."""

    def __init__(self, text: str | None, agent: str) -> None:
        """Read the rules.

        Args:
            text: Of the file; "" where there is none, None where it could not be asked for,
                which forbids everything (RFC 9309, section 2.3.1.4).
            agent: Name of who asks.
        """
        self._rules = Protego.parse(text) if text is not None else None
        self._agent = agent

    def allows(self, url: str) -> bool:
        """Return whether an address may be fetched."""
        return self._rules is not None and self._rules.can_fetch(url, self._agent)

    @property
    def delay(self) -> float:
        """Seconds that the site wants between two fetches."""
        wanted = self._rules.crawl_delay(self._agent) if self._rules is not None else None
        return min(float(wanted or 0), LONGEST_DELAY)
