"""The crawler against a server on this machine that misbehaves in every way we know of."""

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from graph.errors import UnreadableFile, UsageError
from ingestion.crawl import CrawlOptions, CrawlRun, crawl
from ingestion.crawl_fetch import FetchLimits, is_public
from ingestion.crawl_folder import Page, file_name, kept_bytes, load_manifest
from ingestion.crawl_site import find_links, normalised
from ingestion.media import DOCX, HTML, PDF, TEXT, XML
from ingestion.walk import SourceFile, find_files

Route = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A server and what it was asked for."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.headers.append({k.lower(): v for k, v in self.headers.items()})
                route = site.routes.get(self.path)
                with suppress(BrokenPipeError, ConnectionResetError):
                    (route or answer(b"", 404))(self)

            def log_message(self, *args: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def page(self, path: str, *links: str, text: str = "") -> None:
        anchors = "".join(f'<a href="{link}">x</a>' for link in links)
        html = f"<html><title>T {path}</title><body><p>{text or path}</p>{anchors}</body></html>"
        self.routes[path] = answer(html.encode(), 200, **{"Content-Type": "text/html"})


def answer(body: bytes, status: int = 200, **headers: str) -> Route:
    def route(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return route


def redirect(to: str, status: int = 302) -> Route:
    return answer(b"", status, Location=to)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


LIMITS = FetchLimits(seconds=5, bytes=100_000, allow_private=True)
OPTIONS = CrawlOptions(LIMITS, delay=0)


def run(site: Site, folder: Path, path: str = "/", **options: object) -> CrawlRun:
    chosen = replace(OPTIONS, **options)  # type: ignore[arg-type]
    return crawl(site.url + path, folder, chosen, lambda page: None)


def by_path(found: CrawlRun, site: Site) -> dict[str, Page]:
    return {page.url.removeprefix(site.url): page for page in found.pages}


def statuses(found: CrawlRun, site: Site) -> dict[str, str]:
    return {path: page.status for path, page in by_path(found, site).items()}


def kept(folder: Path) -> list[str]:
    files = [entry for entry in find_files([folder]) if isinstance(entry, SourceFile)]
    return [str(file.relative) for file in files]


def test_a_site_becomes_files_that_ingest_finds_with_a_manifest(site: Site, folder: Path) -> None:
    site.page("/", "/a.html", "docs/b.pdf", "/style.css", "mailto:x@y", "#top")
    site.page("/a.html", "/")
    site.routes["/docs/b.pdf"] = answer(b"%PDF-1.7 x", Content_Type="text/html")

    found = run(site, folder)

    assert statuses(found, site) == {"/": "new", "/a.html": "new", "/docs/b.pdf": "new"}
    assert found.complete
    pages = load_manifest(folder)
    assert sorted(kept(folder)) == sorted(str(page.file) for page in pages.values())
    assert pages[f"{site.url}/docs/b.pdf"].file == "docs/b.pdf"
    assert pages[f"{site.url}/a.html"].title == "T /a.html"
    assert all(page.fetched_at for page in pages.values())
    assert site.asked.count("/a.html") == 1


def test_only_what_has_changed_is_written_again(site: Site, folder: Path) -> None:
    site.page("/", "/tagged", "/dated", "/plain", "/edited")
    site.page("/edited", text="before")
    site.page("/plain")
    html = {"Content-Type": "text/html"}

    def conditional(name: str, value: str, condition: str) -> Route:
        def route(handler: BaseHTTPRequestHandler) -> None:
            known = handler.headers.get(condition) == value
            body = b'<a href="/behind">x</a>'
            answer(b"" if known else body, 304 if known else 200, **{name: value, **html})(handler)

        return route

    date = "Tue, 01 Dec 2026 00:00:00 GMT"
    site.routes["/tagged"] = conditional("ETag", '"1"', "If-None-Match")
    site.routes["/dated"] = conditional("Last-Modified", date, "If-Modified-Since")
    site.page("/behind")
    run(site, folder)
    before = {name: (folder / name).stat().st_mtime_ns for name in kept(folder)}
    site.page("/edited", text="after")
    site.asked.clear()

    found = by_path(run(site, folder), site)

    assert {path for path, page in found.items() if page.status == "changed"} == {"/edited"}
    assert (found["/tagged"].code, found["/dated"].code) == ("304", "304")
    assert "/behind" in site.asked  # links of a page that was not sent again are followed
    changed = {n for n in kept(folder) if (folder / n).stat().st_mtime_ns != before[n]}
    assert changed == {found["/edited"].file}


def test_pages_that_are_gone_are_marked_and_removed_on_demand(site: Site, folder: Path) -> None:
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    run(site, folder)
    site.page("/", "/a")
    site.routes["/b"] = answer(b"", 410)

    marked = by_path(run(site, folder), site)["/b"]

    assert marked.status == "gone"
    assert marked.file in kept(folder)
    removed = by_path(run(site, folder, remove_gone=True), site)["/b"]
    assert (removed.status, removed.file) == ("gone", None)
    assert marked.file not in kept(folder)


def test_a_site_that_fails_for_a_while_loses_nothing(site: Site, folder: Path) -> None:
    site.page("/", "/a")
    site.page("/a")
    run(site, folder)
    site.routes["/a"] = answer(b"oops", 500)

    failed = by_path(run(site, folder), site)["/a"]

    assert (failed.status, failed.code) == ("failed", "500")
    assert failed.file in kept(folder)


def test_robots_are_obeyed_and_their_delay_is_kept(site: Site, folder: Path) -> None:
    site.routes["/robots.txt"] = answer(
        b"User-agent: *\nDisallow: /secret\nDisallow: /*.pdf$\nCrawl-delay: 0.2\n"
    )
    site.page("/", "/secret/a", "/b.pdf", "/c", "/d")
    site.page("/c")
    site.page("/d")
    started = time.monotonic()

    found = run(site, folder)

    assert time.monotonic() - started >= 0.4
    assert statuses(found, site) == {
        "/": "new", "/secret/a": "skipped", "/b.pdf": "skipped", "/c": "new", "/d": "new",
    }  # fmt: skip
    assert not {"/secret/a", "/b.pdf"} & set(site.asked)


@pytest.mark.parametrize(
    ("robots", "allowed"),
    [
        (answer(b"", 404), True),
        (answer(b"", 500), False),
        (answer(b"User-agent: *\nDisallow: /\n"), False),
        (answer(b"#" * 600_000 + b"\nUser-agent: *\nDisallow: /\n"), True),
        (answer(b"\xff\xfe\0 not text"), True),
        (redirect("/robots.txt"), True),
    ],
)
def test_robots_that_are_missing_broken_or_huge(
    site: Site, folder: Path, robots: Route, allowed: bool
) -> None:
    site.routes["/robots.txt"] = robots
    site.page("/")

    if allowed:
        assert statuses(run(site, folder), site) == {"/": "new"}
    else:
        with pytest.raises(UsageError, match=r"robots\.txt"):
            run(site, folder)
        assert not folder.exists()


def test_redirects_are_followed_within_the_host_only(site: Site, folder: Path) -> None:
    site.page("/", "/moved", "/loop", "/away", "/metadata", "/file", "/long0")
    site.routes["/moved"] = redirect("/target")
    site.page("/target")
    site.routes["/loop"] = redirect("/loop2")
    site.routes["/loop2"] = redirect("/loop")
    site.routes["/away"] = redirect("http://other.test/")
    site.routes["/metadata"] = redirect("http://169.254.169.254/latest/meta-data/")
    site.routes["/file"] = redirect("file:///etc/passwd")
    for n in range(9):
        site.routes[f"/long{n}"] = redirect(f"/long{n + 1}")

    found = by_path(run(site, folder), site)

    assert (found["/moved"].status, found["/moved"].reason) == ("redirect", site.url + "/target")
    assert found["/target"].status == "new"
    assert {found[path].code for path in ("/away", "/metadata")} == {"other_host"}
    assert {found[path].status for path in ("/loop", "/file", "/long0")} == {"failed"}
    assert len(kept(folder)) == 2


def test_a_redirect_into_what_robots_forbid_is_not_followed(site: Site, folder: Path) -> None:
    site.routes["/robots.txt"] = answer(b"User-agent: *\nDisallow: /secret\n")
    site.page("/", "/door")
    site.routes["/door"] = redirect("/secret")

    assert by_path(run(site, folder), site)["/door"].code == "robots"
    assert "/secret" not in site.asked


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "127.1", "2130706433", "0x7f.1", "0.0.0.0"]
)
def test_this_machine_is_not_fetched_unless_allowed(site: Site, folder: Path, host: str) -> None:
    url = f"http://{host}:{site.server.server_port}/"

    with pytest.raises((UsageError, UnreadableFile), match=r"not on the public internet|answer"):
        crawl(url, folder, CrawlOptions(delay=0), lambda page: None)
    assert site.asked == []
    assert not folder.exists()


def test_a_name_that_changes_its_address_meanwhile_gains_nothing(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("/", "/next")
    addresses = iter([["127.0.0.1"], ["127.0.0.1"], ["127.0.0.1", "10.0.0.1"]])

    async def rebinding(host: str, port: int) -> list[str]:
        assert host == "site.test"
        return next(addresses)

    monkeypatch.setattr(
        "ingestion.crawl_fetch.is_public", lambda address: str(address) == "127.0.0.1"
    )
    options = CrawlOptions(FetchLimits(seconds=5), delay=0, resolve=rebinding)

    found = crawl(
        f"http://site.test:{site.server.server_port}/", folder, options, lambda page: None
    )

    assert [page.code for page in found.pages] == ["200", "private"]
    assert "/next" not in site.asked
    assert site.headers[-1]["host"] == f"site.test:{site.server.server_port}"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2606:4700::1", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False),
        ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False),
        ("::1", False), ("::", False), ("fe80::1", False), ("fd00::1", False), ("fec0::1", False),
        ("::ffff:127.0.0.1", False), ("::ffff:8.8.8.8", True), ("64:ff9b::a00:1", False),
        ("2002:7f00:1::", False), ("ff02::1", False),
    ],
)  # fmt: skip
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    while True:
        handler.wfile.write(b"x" * 10_000)


def slow_body(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.1)


def slow_head(handler: BaseHTTPRequestHandler) -> None:
    for letter in b"HTTP/1.1 200 OK\r\n" + b"X-Header: y\r\n" * 20:
        handler.wfile.write(bytes([letter]))
        handler.wfile.flush()
        time.sleep(0.1)


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


BOMB = gzip.compress(bytes(50_000_000))


@pytest.mark.parametrize(
    ("route", "code"),
    [
        (endless, "too_large"),
        (slow_body, "timeout"),
        (slow_head, "timeout"),
        (hang_up, "unreachable"),
        (answer(BOMB, Content_Encoding="gzip"), "too_large"),
        (answer(BOMB[:40], Content_Encoding="gzip"), "encoding"),
        (answer(b"x", Content_Encoding="br"), "encoding"),
        (answer(b"\x89PNG\r\n", Content_Type="text/html"), "unsupported"),
        (answer(b"a { }", Content_Type="text/css"), "unsupported"),
        (answer(b"", Content_Type="text/html"), "empty"),
        (answer(b"no", 403), "403"),
        (answer(b'<meta name="robots" content="NOINDEX">', Content_Type="text/html"), "noindex"),
        (redirect(""), "redirect"),
        (redirect("http://[bad"), "redirect"),
    ],
)
def test_a_bad_answer_is_named_and_the_crawl_goes_on(
    site: Site, folder: Path, route: Route, code: str
) -> None:
    site.page("/", "/bad", "/good")
    site.routes["/bad"] = route
    site.page("/good")

    limits = replace(LIMITS, seconds=1) if code == "timeout" else LIMITS
    found = by_path(run(site, folder, limits=limits), site)

    assert found["/bad"].code == code
    assert found["/bad"].reason
    assert found["/good"].status == "new"


def test_depth_and_number_of_pages_are_limited(site: Site, folder: Path) -> None:
    for n in range(9):
        site.page(f"/{n}", f"/{n + 1}", f"/{n}?page=1")

    deep = run(site, folder / "deep", path="/0", depth=2)
    few = run(site, folder / "few", path="/0", pages=3)

    assert {path for path in statuses(deep, site) if "?" not in path} == {"/0", "/1", "/2"}
    assert deep.complete
    assert len(few.pages) == 3
    assert not few.complete


def test_a_busy_server_is_asked_again(site: Site, folder: Path) -> None:
    def busy_once(handler: BaseHTTPRequestHandler) -> None:
        site.page("/")
        answer(b"<h1>Busy</h1>", 429, Retry_After="0")(handler)

    site.routes["/"] = busy_once

    assert statuses(run(site, folder), site) == {"/": "new"}


def test_addresses_that_differ_little_get_files_of_their_own_inside_the_folder(
    site: Site, folder: Path
) -> None:
    paths = [
        "/Doc",
        "/doc",
        "/doc?a=1",
        "/doc?a=2",
        "/doc/",
        "/doc.html",
        "/%2e%2e%2fetc%2fpwd",
        "/..%2f..%2fx",
    ]
    paths += ["/a%00b", "/con", "/" + "x" * 300, "/.hidden", "/a.html/b"]
    site.page("/", *paths)
    for path in paths:
        site.page(path)

    found = run(site, folder)

    files = [str(page.file) for page in found.pages]
    assert len({name.lower() for name in files}) == len(paths) + 1
    assert sorted(kept(folder)) == sorted(files)
    assert all((folder / name).resolve().is_relative_to(folder.resolve()) for name in files)
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_an_encoding_that_only_the_server_names_is_kept(site: Site, folder: Path) -> None:
    html = "<p>Zażółć gęślą jaźń</p>"
    site.routes["/"] = answer(
        html.encode("iso-8859-2"), Content_Type="text/html; charset=ISO-8859-2"
    )

    run(site, folder)

    assert (folder / kept(folder)[0]).read_text("utf-8-sig") == html


@pytest.mark.parametrize(
    "url", ["ftp://example.gov/", "file:///etc/passwd", "http://u:p@example.gov/", "x", "http://"]
)
def test_other_addresses_are_wrong_use(folder: Path, url: str) -> None:
    with pytest.raises(UsageError, match="http"):
        crawl(url, folder, OPTIONS, lambda page: None)


def test_a_folder_with_other_things_is_left_alone(site: Site, folder: Path) -> None:
    site.page("/")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")

    with pytest.raises(UsageError, match="empty folder"):
        run(site, folder)
    (folder / "crawl.json").write_text("{}")
    with pytest.raises(UsageError, match="no manifest"):
        run(site, folder)
    (folder / "crawl.json").write_text('{"pages": [{"url": "http://a.test/", "status": "new"}]}')
    with pytest.raises(UsageError, match=r"a crawl of http://a\.test/"):
        run(site, folder)


def test_links_follow_the_base_and_what_the_page_asks_for() -> None:
    html = b'<base href="/docs/"><a href="a">x</a><a rel="nofollow" href="b">x</a><area href="c">'

    assert find_links(html, "http://e.test/").urls == (
        "http://e.test/docs/a",
        "http://e.test/docs/c",
    )
    told = b'<meta name="Robots" content="noindex, nofollow">' + html
    assert find_links(told, "http://e.test/") == replace(
        find_links(told, "x"), urls=(), index=False
    )


def test_addresses_are_compared_in_one_form() -> None:
    assert normalised("HTTP://E.test:80/a/../b?x=1#y") == "http://e.test/b?x=1"
    assert normalised("http://e.test") == "http://e.test/"
    assert normalised("/x", "https://e.test:8443/y") == "https://e.test:8443/x"
    assert normalised("http://e.test:99999/") is None
    assert file_name("http://e.test/a/b.html", "text/html") == "a/b.html"


@pytest.mark.parametrize(
    ("kind", "name"),
    [(PDF, "a.pdf"), (DOCX, "a.docx"), (XML, "a.xml"), (HTML, "a.html"), (TEXT, "a.txt")],
)
def test_a_file_is_named_by_its_kind_and_ingest_reads_it_as_that(kind: str, name: str) -> None:
    assert file_name("http://e.test/a", kind).rpartition("-")[0] == "a"
    assert file_name("http://e.test/a", kind).endswith(name[1:])
    assert file_name(f"http://e.test/{name}", kind) == name


@pytest.mark.parametrize("kind", [PDF, DOCX, XML])
def test_a_kind_that_tells_its_own_encoding_is_kept_byte_for_byte(kind: str) -> None:
    body = '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>'.encode("latin-1")

    assert kept_bytes(body, kind, "application/xml; charset=iso-8859-1") == body


def test_the_command_prints_json_and_sets_exit_codes(site: Site, folder: Path) -> None:
    site.page("/", "/a")
    site.routes["/a"] = answer(b"", 500)
    command = ["crawl", site.url, "--out", str(folder), "--delay", "0", "--quiet"]

    refused = CliRunner().invoke(app, command)
    strict = CliRunner().invoke(app, [*command, "--allow-private", "--json", "--strict"])
    plain = CliRunner().invoke(app, [*command, "--allow-private"])

    assert isinstance(refused.exception, UsageError)
    assert strict.exit_code == 1
    assert json.loads(strict.stdout)["totals"] == {"new": 1, "failed": 1}
    assert plain.exit_code == 0
    assert f"failed {site.url}/a: the server answers 500" in plain.stdout
    assert "2 addresses: 1 failed, 1 unchanged." in plain.stdout
