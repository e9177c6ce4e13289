"""GET /sources/{id} and the pages behind it."""

import hashlib
import io
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from app.http.page_images import PageImages
from app.wiring import App
from graph.model import Filter
from ingestion.parsed import ReadLimits
from tests.fakes import MemoryStore
from tests.graphs import make_document
from tests.unit.app.http.made import LOGS, RAILS, Graph, add_key, make_app, serving
from tests.unit.ingestion.pdf_writer import Page, flowing, write_pdf

PDF = write_pdf([Page(flowing(["Contents"])), Page(flowing(["Chapter 2", "", RAILS]))])


def chunk_id(store: object, text: str) -> str:
    assert isinstance(store, MemoryStore)
    return next(c.id for item in store.items.values() for c in item.chunks if c.text == text)


def put_pdf(app: App, path: Path, *, written: bytes = PDF, **properties: object) -> str:
    """Add a PDF whose second page has the passage on rails; return the passage's id."""
    path.write_bytes(written)
    store: Graph = app.store  # type: ignore[assignment]
    item = make_document(
        "pdf",
        "Chapter 2",
        f"{RAILS} ",
        **{
            "uri": path.as_uri(),
            "sha256": hashlib.sha256(PDF).hexdigest(),
            "media_type": "application/pdf",
            "title": "Rail manual",
        }
        | properties,
    )
    store.write([item])
    store.finish("default")
    return chunk_id(store, f"{RAILS} ")


def test_a_source_is_shown_in_its_section_with_its_place(client: TestClient, app: App) -> None:
    store: Graph = app.store  # type: ignore[assignment]
    item = make_document("manual", "First.", "Second.", "Third.")
    first = item.chunks[0]
    chunks = [
        replace(c, section_id=first.section_id, start=10 * n, end=10 * n + len(c.text))
        for n, c in enumerate(item.chunks)
    ]
    store.write([replace(item, chunks=tuple(chunks))])
    store.finish("default")

    found = client.get(f"/sources/{chunks[1].id}").json()

    assert (found["before"], found["text"], found["after"]) == (
        "First.\n\n",
        "Second.",
        "\n\nThird.",
    )
    assert found["document"]["title"] == "manual"
    assert found["document"]["page_count"] == 3
    assert found["section"]["number"] == "1"
    assert found["pages"] == [2, 2]
    assert found["view"] == "text"


def test_what_a_caller_may_not_see_is_not_there(app: App, tmp_path: Path) -> None:
    secret = put_pdf(app, tmp_path / "a.pdf", audience="staff")
    with serving(app) as client:
        paths = [f"/sources/{secret}", f"/sources/{secret}/page/2.png"]
        public = [client.get(path) for path in paths]
        staff = add_key(app, "hr", "staff")
        held = [client.get(path, headers=staff) for path in paths]

    assert [response.status_code for response in public] == [404, 404]
    assert public[0].json()["error"]["code"] == "unknown_source"
    assert "Rail manual" not in public[0].text + public[1].text
    assert [response.status_code for response in held] == [200, 200]


def test_a_picture_that_was_drawn_for_one_caller_is_not_shown_to_another(
    app: App, tmp_path: Path
) -> None:
    path = f"/sources/{put_pdf(app, tmp_path / 'a.pdf', audience='staff')}/page/2.png"
    staff, others = add_key(app, "hr", "staff"), add_key(app, "web")
    with serving(app) as client:
        first = client.get(path, headers=staff)
        second = client.get(path, headers=others)

    assert first.status_code == 200
    assert first.headers["cache-control"] == "no-store"
    assert second.status_code == 404


def test_other_collections_are_kept_apart(client: TestClient, app: App) -> None:
    path = f"/sources/{chunk_id(app.store, LOGS)}"

    assert client.get(path).status_code == 200
    assert client.get(path, params={"collection": "other"}).status_code == 404


def test_a_page_is_a_picture_with_the_passage_marked(
    client: TestClient, app: App, tmp_path: Path
) -> None:
    id = put_pdf(app, tmp_path / "a.pdf")
    response = client.get(f"/sources/{id}/page/2.png")
    before = client.get(f"/sources/{id}/page/1.png")

    assert client.get(f"/sources/{id}").json()["view"] == "page"
    assert response.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(response.content)).width == 1200
    assert int(response.headers["x-passage-marks"]) == 1
    assert 0.1 < float(response.headers["x-passage-top"]) < 0.2
    assert before.headers["x-passage-marks"] == "0"


@pytest.mark.parametrize(
    ("page", "status", "code"),
    [("3", 404, "no_such_page"), ("0", 422, "invalid"), ("x", 422, "invalid")],
)
def test_pages_that_are_not_there_are_named(
    client: TestClient, app: App, tmp_path: Path, page: str, status: int, code: str
) -> None:
    response = client.get(f"/sources/{put_pdf(app, tmp_path / 'a.pdf')}/page/{page}.png")

    assert response.status_code == status
    assert response.json()["error"]["code"] == code


def test_a_file_that_is_gone_or_has_changed_is_not_shown_and_it_says_what_to_do(
    client: TestClient, app: App, tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    id = put_pdf(app, path, written=PDF + b"changed")
    changed = client.get(f"/sources/{id}/page/2.png")
    path.unlink()
    gone = client.get(f"/sources/{id}/page/2.png")

    assert (changed.status_code, changed.json()["error"]["code"]) == (409, "file_changed")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "file_gone")
    assert "milepost ingest" in changed.json()["error"]["message"]
    assert str(tmp_path) not in changed.text + gone.text
    assert client.get(f"/sources/{id}").json()["text"] == f"{RAILS} "


def test_a_copy_with_the_same_bytes_stands_in_for_a_file_that_is_gone(
    client: TestClient, app: App, tmp_path: Path
) -> None:
    (tmp_path / "copy.pdf").write_bytes(PDF)
    id = put_pdf(app, tmp_path / "a.pdf", copies=((tmp_path / "copy.pdf").as_uri(),))
    (tmp_path / "a.pdf").unlink()

    assert client.get(f"/sources/{id}/page/2.png").status_code == 200


def test_formats_without_pages_have_no_pictures(client: TestClient, app: App) -> None:
    response = client.get(f"/sources/{chunk_id(app.store, LOGS)}/page/1.png")

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "no_pages"


def test_a_web_address_is_never_opened(client: TestClient, app: App, tmp_path: Path) -> None:
    id = put_pdf(app, tmp_path / "a.pdf", uri="https://example.gov/a.pdf")

    assert client.get(f"/sources/{id}").json()["view"] == "text"
    assert client.get(f"/sources/{id}/page/2.png").status_code == 404


@pytest.mark.parametrize("id", ["..%2F..%2Fetc%2Fpasswd", "%00", "x" * 201, "%ff", "'"])
def test_an_id_is_never_a_path(client: TestClient, id: str) -> None:
    responses = [client.get(f"/sources/{id}"), client.get(f"/sources/{id}/page/1.png")]

    assert {response.status_code for response in responses} <= {404, 422}
    assert all("error" in response.json() for response in responses)


def test_a_page_that_takes_too_long_is_given_up(app: App, tmp_path: Path) -> None:
    id = put_pdf(app, tmp_path / "a.pdf")
    with serving(app) as client:
        client.app.state.backend.page_images = PageImages(ReadLimits(seconds=0.001))  # type: ignore[attr-defined]
        response = client.get(f"/sources/{id}/page/2.png")

    assert response.status_code == 422
    assert response.json()["error"]["code"] == "not_drawn"


def test_pictures_are_kept_within_a_bound(app: App, tmp_path: Path) -> None:
    id = put_pdf(app, tmp_path / "a.pdf")
    store: Graph = app.store  # type: ignore[assignment]
    (passage,) = store.passages([id], Filter())
    item = next(item for item in store.items.values() if item.document.title == "Rail manual")
    pictures = PageImages()
    size = len(pictures.draw(item.document, 2, passage).png)
    small = PageImages(kept_bytes=int(1.1 * size))
    try:
        small.draw(item.document, 1, passage)
        small.draw(item.document, 2, passage)

        assert small.kept(item.document, 1, passage) is None
        assert small.kept(item.document, 2, passage) is not None
        (tmp_path / "a.pdf").unlink()
        assert small.draw(item.document, 2, passage).marks
        with pytest.raises(Exception, match="can no longer be read"):
            small.draw(item.document, 1, passage)
    finally:
        pictures.close()
        small.close()


def test_without_the_graph_it_says_when_to_try_again(tmp_path: Path) -> None:
    store = Graph()
    app = make_app(tmp_path, store)
    store.away = True
    with serving(app) as client:
        responses = [client.get("/sources/a"), client.get("/sources/a/page/1.png")]

    assert {response.status_code for response in responses} == {503}
    assert all(response.headers["retry-after"] for response in responses)
