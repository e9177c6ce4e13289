"""GET / and the files of the page, without a browser."""

import re
from importlib.resources import files

import pytest
from starlette.testclient import TestClient

from app.wiring import App
from tests.unit.app.http.made import add_key, serving

NAMES = sorted(one.name for one in files("app").joinpath("web").iterdir())


def test_the_page_and_all_that_it_names_are_served(client: TestClient) -> None:
    page = client.get("/")
    named = set(re.findall(r'(?:src|href)="(/[^"]+)"', page.text))

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert len(named) >= 3
    for path in named:
        assert client.get(path).status_code == 200, path


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".js")])
def test_modules_import_only_files_of_the_page(client: TestClient, name: str) -> None:
    script = client.get(f"/web/{name}")
    imported = re.findall(r'from "([^"]+)"', script.text)

    assert script.headers["content-type"].startswith("text/javascript")
    assert {one.removeprefix("./") for one in imported} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_inline_and_no_text_becomes_html(name: str) -> None:
    text = files("app").joinpath("web", name).read_text("utf-8")
    hosts = set(re.findall(r"https?://[^\s\"'/)]+", text)) - {"http://www.w3.org"}

    assert not hosts
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
    if name.endswith(".html"):
        assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|javascript:", text)


def test_the_page_may_load_nothing_from_elsewhere_and_run_nothing_inline(
    client: TestClient,
) -> None:
    for path in ("/", "/web/page.js"):
        headers = client.get(path).headers
        policy = dict(
            part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'self'"
        assert policy["img-src"] == "'self' blob:"
        assert "script-src" not in policy
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"


def test_a_browser_that_has_a_file_is_not_sent_it_again(client: TestClient) -> None:
    first = client.get("/web/style.css")
    again = client.get("/web/style.css", headers={"If-None-Match": first.headers["etag"]})

    assert again.status_code == 304
    assert again.content == b""


@pytest.mark.parametrize("name", ["no.js", "..%2Fsettings.py", "__init__.py", "%2e%2e"])
def test_only_files_of_the_page_are_served(client: TestClient, name: str) -> None:
    assert client.get(f"/web/{name}").status_code == 404


def test_the_page_loads_without_a_key_and_nothing_else_does(app: App) -> None:
    add_key(app)
    with serving(app, client=("203.0.113.9", 40_000)) as client:
        statuses = {
            path: client.get(path).status_code
            for path in ("/", "/web/page.js", "/webs", "/scopes", "/series", "/sources/a")
        }

    assert statuses.pop("/") == statuses.pop("/web/page.js") == 200
    assert set(statuses.values()) == {401}
