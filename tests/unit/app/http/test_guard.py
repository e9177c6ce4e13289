"""Who is served, how often, and how much they may send."""

import json
import stat
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.http.keys import KeyFile
from app.http.options import check_origins, is_loopback
from app.http.rate import RateLimit
from app.wiring import App
from graph.errors import ConfigurationError, UsageError
from tests.unit.app.http.made import QUESTION, add_key, serving

BODY = {"query": QUESTION}


def test_without_keys_other_machines_are_refused(app: App) -> None:
    with serving(app, client=("192.0.2.7", 1)) as client:
        refused = client.post("/search", json=BODY)

        assert refused.status_code == 403
        assert "milepost keys add" in refused.json()["error"]["message"]
        assert client.get("/health/live").status_code == 200


def test_without_keys_a_foreign_name_for_this_machine_is_refused(client: TestClient) -> None:
    for host, status in [
        ("evil.example", 403),
        ("evil.example:80", 403),
        ("localhost:8080", 200),
        ("[::1]:8080", 200),
    ]:
        assert client.get("/scopes", headers={"Host": host}).status_code == status


def test_with_a_key_every_caller_needs_one(app: App) -> None:
    key = add_key(app)
    with serving(app, client=("192.0.2.7", 1)) as client:
        token = key["Authorization"].removeprefix("Bearer ")
        for headers, status in [
            ({}, 401),
            ({"Authorization": f"Bearer {token}x"}, 401),
            ({"Authorization": f"Basic {token}"}, 401),
            ({"Authorization": "Bearer é".encode()}, 401),
            ({"X-API-Key": token}, 200),
            (key, 200),
        ]:
            assert client.get("/scopes", headers=headers).status_code == status, headers
        assert client.get("/scopes").headers["www-authenticate"] == "Bearer"
        for path in ("/metrics", "/openapi.json", "/v1/models", "/nowhere"):
            assert client.get(path).status_code == 401


def test_a_removed_key_is_refused_by_a_running_server(app: App) -> None:
    key, other = add_key(app, "page"), add_key(app, "other")
    with serving(app) as client:
        assert client.get("/scopes", headers=key).status_code == 200
        KeyFile(app.settings.data_dir).remove("page")

        assert client.get("/scopes", headers=key).status_code == 401
        assert client.get("/scopes", headers=other).status_code == 200


def test_only_a_digest_is_kept_in_a_file_that_nobody_else_may_read(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    token = keys.add("page", ["staff"], ingest=True)
    text = keys.path.read_text()

    assert len(token) > 40
    assert token not in text
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    found = keys.find(token)
    assert found is not None
    assert (found.name, found.audiences, found.ingest) == ("page", ("public", "staff"), True)
    assert keys.find(token[:-1]) is None
    assert [path.name for path in tmp_path.iterdir() if "lock" not in path.name] == ["keys.json"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"keys": [{"name": "a"}]}', '{"keys": 3}'])
def test_a_broken_key_file_is_an_error_and_lets_nobody_in(tmp_path: Path, text: str) -> None:
    keys = KeyFile(tmp_path)
    keys.add("page", [], ingest=False)
    keys.path.write_text(text)

    with pytest.raises(ConfigurationError, match=r"keys\.json"):
        keys.keys()
    with pytest.raises(ConfigurationError):
        keys.keys()


def test_a_key_file_that_others_may_read_is_an_error(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path)
    keys.add("page", [], ingest=False)
    keys.path.chmod(0o644)

    with pytest.raises(ConfigurationError, match="chmod 600"):
        KeyFile(tmp_path).keys()


@pytest.mark.parametrize("name", ["", " ", "a/b", "a" * 65, "page", "ä b"])
def test_a_name_that_is_none_or_taken_is_refused(tmp_path: Path, name: str) -> None:
    keys = KeyFile(tmp_path)
    keys.add("page", [], ingest=False)

    with pytest.raises(UsageError):
        keys.add(name, [], ingest=False)


def test_a_bucket_fills_again_with_time() -> None:
    now = [0.0]
    limit = RateLimit(60, clock=lambda: now[0])  # one a second, fifteen at once

    assert [limit.take("a") for _ in range(15)] == [0.0] * 15
    assert limit.take("a") == pytest.approx(1.0)
    assert limit.take("b") == 0.0
    now[0] = 0.5
    assert limit.take("a") == pytest.approx(0.5)
    now[0] = 1.0
    assert limit.take("a") == 0.0
    now[0] = 1000.0
    assert [limit.take("a") for _ in range(16)].count(0.0) == 15


def test_no_limit_is_no_limit() -> None:
    limit = RateLimit(0)

    assert not any(limit.take("a") for _ in range(1000))


def test_too_many_requests_are_told_when_to_come_again(app: App) -> None:
    key, other = add_key(app), add_key(app, "other")
    with serving(app, requests_per_minute=4) as client:
        assert client.get("/scopes", headers=key).status_code == 200
        refused = client.get("/scopes", headers=key)

        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 15
        assert client.get("/scopes", headers=other).status_code == 200
        assert client.get("/health/live").status_code == 200


def test_guessing_keys_is_limited_as_well(app: App) -> None:
    add_key(app)
    with serving(app, requests_per_minute=4) as client:
        statuses = [client.get("/scopes").status_code for _ in range(3)]

        assert statuses == [401, 429, 429]


def test_a_body_that_is_too_large_is_refused_whether_its_length_is_told_or_not(app: App) -> None:
    with serving(app, json_bytes=1000) as client:
        big = json.dumps({"query": "a" * 2000}).encode()
        headers = {"Content-Type": "application/json"}
        told = client.post("/search", content=big, headers=headers)
        untold = client.post("/search", content=iter([big[:900], big[900:]]), headers=headers)

        assert told.status_code == untold.status_code == 413
        assert "at most 1,000 bytes" in told.json()["error"]["message"]
        assert "Send less" in untold.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"\xff", b'{"query": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(client: TestClient, body: bytes) -> None:
    response = client.post("/ask", content=body, headers={"Content-Type": "application/json"})

    assert response.status_code in (400, 422)
    assert response.json()["error"]["message"]


def test_web_pages_are_let_in_from_the_origins_set_and_no_others(app: App) -> None:
    ours, theirs = "https://docs.example.org", "https://evil.example"
    with serving(app) as closed:
        response = closed.get("/scopes", headers={"Origin": ours})
        assert "access-control-allow-origin" not in response.headers
    with serving(app, cors_origins=(ours,)) as client:
        wanted = {"Access-Control-Request-Method": "POST"}
        for origin, allowed in [(ours, ours), (theirs, None)]:
            preflight = client.options("/ask", headers=wanted | {"Origin": origin})
            failed = client.get("/jobs/x", headers={"Origin": origin})

            assert preflight.headers.get("access-control-allow-origin") == allowed
            assert failed.status_code == 403
            assert failed.headers.get("access-control-allow-origin") == allowed


@pytest.mark.parametrize("origin", ["*", "https://*.example.org", "example.org", "https://a/b", ""])
def test_origins_that_are_none_are_refused_at_start(app: App, origin: str) -> None:
    with pytest.raises(UsageError):
        check_origins((origin,))


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("127.8.9.1", True), ("localhost", True), ("::1", True),
     ("[::1]", True), ("::ffff:127.0.0.1", True), ("0.0.0.0", False), ("::", False),
     ("192.168.1.2", False), ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_only_this_machines_addresses_are_its_own(host: str, here: bool) -> None:
    assert is_loopback(host) is here
