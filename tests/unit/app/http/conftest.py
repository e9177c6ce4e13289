from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.wiring import App
from tests.unit.app.http.made import make_app, serving


@pytest.fixture
def app(tmp_path: Path) -> App:
    return make_app(tmp_path)


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with serving(app) as running:
        yield running
