"""Uploads, their jobs, and removal."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.http.jobs import safe_name
from app.wiring import App
from ingestion import read_ahead
from tests.ingesting import ReaderHere
from tests.unit.app.http.made import Graph, add_key, serving

TEXT = "# Snow\n\nSnow shall be removed from platforms within two hours.\n"


@pytest.fixture
def loader(app: App, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A client whose key may ingest."""
    monkeypatch.setattr(read_ahead, "Reader", ReaderHere)
    key = add_key(app, "loader", "staff", ingest=True)
    with serving(app) as client:
        client.headers.update(key)
        yield client


def upload(client: TestClient, text: str = TEXT, name: str = "snow.md", **form: str) -> Any:
    sent = client.post("/documents", files={"file": (name, text.encode())}, data=form)
    assert sent.status_code == 202, sent.text
    return finished(client, sent.json()["id"])


def finished(client: TestClient, id: str) -> Any:
    until = time.monotonic() + 20
    while (job := client.get(f"/jobs/{id}").json())["status"] in ("queued", "running"):
        assert time.monotonic() < until
        time.sleep(0.01)
    return job


def files(app: App) -> list[Path]:
    return [path for path in (app.settings.data_dir / "uploads").rglob("*") if path.is_file()]


def test_an_upload_becomes_a_document_that_answers(loader: TestClient) -> None:
    job = upload(loader, scope="winter", series="Snow Manual", edition="3", year="2024")
    asked = {"query": "Within what time shall snow be removed from platforms?"}
    hit = loader.post("/search", json=asked).json()["hits"][0]

    assert (job["status"], job["file"], job["chunks"]) == ("done", "snow.md", 1)
    assert hit["document"]["id"] == job["document_id"]
    assert hit["document"]["title"] == "Snow"
    assert {key: hit["document"][key] for key in ("scope", "series", "edition", "year")} == {
        "scope": "winter", "series": "Snow Manual", "edition": "3", "year": 2024,
    }  # fmt: skip


def test_the_same_name_again_replaces_the_document(app: App, loader: TestClient) -> None:
    first = upload(loader)
    second = upload(loader, TEXT.replace("two", "three"))
    hits = loader.post("/search", json={"query": "snow on platforms"}).json()["hits"]

    assert first["document_id"] == second["document_id"]
    snow = [hit["text"] for hit in hits if "Snow shall" in hit["text"]]
    assert len(snow) == 1
    assert "three hours" in snow[0]
    assert len(files(app)) == 1


def test_a_file_that_cannot_be_read_is_a_failed_job_and_leaves_the_one_before(
    app: App, loader: TestClient
) -> None:
    upload(loader)
    job = upload(loader, "")

    assert job["status"] == "failed"
    assert "empty" in job["message"]
    assert [path.read_text() for path in files(app)] == [TEXT]
    assert loader.get("/documents").json()["total"] == 4


def test_an_upload_is_seen_by_its_audience_only(app: App, loader: TestClient) -> None:
    upload(loader, audience="staff")
    public = add_key(app, "public")

    assert loader.get("/documents").json()["total"] == 4
    assert loader.get("/documents", headers=public).json()["total"] == 2


def test_an_audience_that_the_key_does_not_hold_cannot_be_given(
    app: App, loader: TestClient
) -> None:
    sent = loader.post("/documents", files={"file": ("a.md", b"a")}, data={"audience": "board"})

    assert sent.status_code == 403
    assert not files(app)


def test_without_the_right_nothing_is_changed(app: App, loader: TestClient) -> None:
    reader = add_key(app, "reader", "staff")
    id = loader.get("/documents").json()["documents"][0]["id"]
    sent = [
        loader.post("/documents", files={"file": ("a.md", b"a")}, headers=reader),
        loader.delete(f"/documents/{id}", headers=reader),
        loader.get("/jobs/x", headers=reader),
    ]

    assert [response.status_code for response in sent] == [403, 403, 403]
    assert "--ingest" in sent[0].json()["error"]["message"]
    assert loader.get("/documents").json()["total"] == 3


def test_without_keys_nothing_is_changed(client: TestClient) -> None:
    assert client.post("/documents", files={"file": ("a.md", b"a")}).status_code == 403


def test_a_removed_document_is_gone_with_its_file(app: App, loader: TestClient) -> None:
    id = upload(loader)["document_id"]

    assert loader.delete(f"/documents/{id}").json() == {"id": id, "removed": True}
    assert loader.delete(f"/documents/{id}").status_code == 404
    assert loader.get("/documents").json()["total"] == 3
    assert not files(app)


def test_a_document_of_another_audience_cannot_be_removed(app: App, loader: TestClient) -> None:
    store: Graph = app.store  # type: ignore[assignment]
    secret = next(id for id, item in store.items.items() if item.document.scope == "hr")
    public = add_key(app, "other", ingest=True)

    assert loader.delete(f"/documents/{secret}", headers=public).status_code == 404
    assert loader.delete(f"/documents/{secret}").status_code == 200


def test_a_job_is_its_callers_own(app: App, loader: TestClient) -> None:
    id = upload(loader)["id"]
    other = add_key(app, "other", ingest=True)

    assert loader.get(f"/jobs/{id}", headers=other).status_code == 404
    assert loader.get("/jobs/nothing").status_code == 404


def test_an_upload_may_be_longer_than_json_but_not_without_end(app: App) -> None:
    key = add_key(app, "loader", ingest=True)
    with serving(app, json_bytes=1000, upload_bytes=100_000) as client:
        client.headers.update(key)
        large = client.post("/documents", files={"file": ("a.md", b"a" * 50_000)})
        larger = client.post("/documents", files={"file": ("a.md", b"a" * 200_000)})

    assert large.status_code == 202
    assert larger.status_code == 413


def test_what_a_killed_server_left_behind_is_deleted_after_a_day(app: App) -> None:
    arriving = app.settings.data_dir / "uploads" / "arriving"
    arriving.mkdir(parents=True)
    for name, age in (("old", 90_000), ("new", 3600)):
        (arriving / name).write_bytes(b"x")
        os.utime(arriving / name, (time.time() - age,) * 2)
    with serving(app):
        assert [path.name for path in files(app)] == ["new"]


def test_a_lost_graph_fails_the_job_with_what_to_do(loader: TestClient, app: App) -> None:
    store: Graph = app.store  # type: ignore[assignment]
    store.unwritable = True
    job = upload(loader)

    assert job["status"] == "failed"
    assert "Try again" in job["message"]
    assert not files(app)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("../x.pdf", "x.pdf"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\x.pdf", "x.pdf"),
        ("a/../../x.pdf", "x.pdf"),
        ("%2e%2e%2fx.pdf", "_2e_2e_2fx.pdf"),
        ("", "document_"),
        (".", "document_"),
        ("..", "document_"),
        (".hidden", "hidden"),
        ("CON.pdf", "document_CON.pdf"),
        ("x\0.pdf", "x_.pdf"),
        ("Common Policy (v2.8).pdf", "Common Policy (v2.8).pdf"),
        ("scopes.yaml/", "document_"),
    ],
)
def test_a_clients_file_name_is_a_label_only(label: str, name: str) -> None:
    assert safe_name(label) == name


@given(st.text(max_size=400))
def test_no_label_leaves_its_folder(label: str) -> None:
    name = safe_name(label)

    assert name not in ("", ".", "..")
    assert not set(name) & set("/\\\0\n")
    assert not name.startswith(".")
    assert len(name) <= 140


@pytest.mark.parametrize("name", ["../../escape.md", "scopes.yaml", ".hidden.md", "crawl.json"])
def test_a_strange_name_stays_below_the_upload_folder(
    app: App, loader: TestClient, name: str
) -> None:
    upload(loader, name=name)
    outside = [path for path in app.settings.data_dir.parent.rglob("*escape*")]

    root = app.settings.data_dir / "uploads" / "files"
    assert all(root in path.parents for path in [*outside, *files(app)])
