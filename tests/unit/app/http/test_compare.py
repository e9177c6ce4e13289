"""GET /series and GET /compare."""

import pytest
from starlette.testclient import TestClient

from app.wiring import App
from tests.graphs import make_document
from tests.unit.app.http.made import Graph, add_key, serving

OLD = ("Scope of the policy.", "Logs are kept for two years.", "Staff are trained.")
NEW = ("Scope of the policy.", "Logs are kept for three years.", "Staff are trained.")
ASKED = {"series": "Archive Policy", "old": "1", "new": "2"}


@pytest.fixture
def app(app: App) -> App:
    store: Graph = app.store  # type: ignore[assignment]
    store.write(
        [
            make_document("old", *OLD, series="Archive Policy", edition="1", year=2019),
            make_document("new", *NEW, series="Archive Policy", edition="2", year=2024),
            make_document("pay", "Pay.", series="Pay Scale", audience="staff"),
        ]
    )
    store.finish("default")
    return app


def test_series_are_listed_with_their_editions_oldest_first(client: TestClient) -> None:
    found = client.get("/series").json()

    assert found["series"] == [
        {
            "series": "Archive Policy",
            "editions": [
                {"edition": "1", "year": 2019, "is_current": False},
                {"edition": "2", "year": 2024, "is_current": True},
            ],
        },
        {
            "series": "Common Policy",
            "editions": [{"edition": "2.8", "year": None, "is_current": True}],
        },
    ]


def test_a_change_of_a_figure_comes_with_both_places(client: TestClient) -> None:
    found = client.get("/compare", params=ASKED).json()

    assert found["counts"]["changed"] == 1
    assert found["counts"]["unchanged"] == 2
    (figure,) = found["figures"]
    assert (figure["older"], figure["newer"]) == ("two years", "three years")
    assert figure["older_place"]["pages"] == figure["newer_place"]["pages"] == [2, 2]
    assert [section["status"] for section in found["sections"]] == ["changed"]


def test_sections_can_be_left_out_and_are_counted(client: TestClient) -> None:
    whole = client.get("/compare", params=ASKED | {"limit": 1}).json()
    behind = client.get("/compare", params=ASKED | {"offset": 1}).json()

    assert whole["sections_left_out"] == behind["sections_left_out"] == 0
    assert behind["sections"] == []
    assert behind["counts"] == whole["counts"]


def test_one_section_can_be_compared_alone(client: TestClient) -> None:
    found = client.get("/compare", params=ASKED | {"section": "3"}).json()

    assert found["counts"]["changed"] == 0
    assert found["counts"]["unchanged"] == 1


@pytest.mark.parametrize(
    ("given", "status", "code", "named"),
    [
        ({"series": "Archives"}, 404, "unknown_series", "Archive Policy"),
        ({"series": "Pay Scale"}, 404, "unknown_series", "Archive Policy"),
        ({"old": "7"}, 404, "unknown_edition", "1 (2019)"),
        ({"new": "1"}, 400, "same_edition", "Name two"),
        ({"old": "2019", "new": "1"}, 400, "same_edition", "Name two"),
        ({"section": "9.9"}, 404, "unknown_section", "9.9"),
        ({"limit": "0"}, 422, "invalid", "limit"),
        ({"old": ""}, 422, "invalid", "old"),
    ],
)
def test_what_cannot_be_compared_is_named(
    client: TestClient, given: dict[str, str], status: int, code: str, named: str
) -> None:
    response = client.get("/compare", params=ASKED | given)
    error = response.json()["error"]

    assert (response.status_code, error["code"]) == (status, code)
    assert named in error["message"]


def test_a_key_sees_its_own_series(app: App) -> None:
    staff = add_key(app, "hr", "staff")
    with serving(app) as client:
        found = client.get("/series", headers=staff).json()["series"]

    assert "Pay Scale" in [one["series"] for one in found]
