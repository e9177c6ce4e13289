"""What /openapi.json promises, tried with made-up requests on a real server and a real graph."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.internal.conjecture import utils as conjecture
from neo4j import Driver
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.schemas import APIOperation, BaseSchema

from tests.e2e.conftest import milepost
from tests.e2e.test_http import Server

pytestmark = pytest.mark.neo4j

EXAMPLES = 8
"""Of requests for each operation, and as many that break what is described."""
TOO_NARROW = {
    "POST /documents",  # files are sent as plain fields, which are no files
    "POST /v1/chat/completions",  # the last message must be the user's, and ask something
}
"""Operations that refuse requests for reasons that JSON Schema cannot tell."""
TEXT = "# Moons\n\nJupiter has 97 moons that are confirmed.\n\n## Rings\n\nSaturn has rings.\n"


@dataclass(frozen=True)
class Api:
    """A server, its description, and names of what it has."""

    schema: BaseSchema
    headers: dict[str, str]
    chunk_id: str

    def aim(self, case: schemathesis.Case) -> None:
        """Name what there is, as made-up names are hardly ever those of anything."""
        known: dict[str, Any] = {
            "collection": "default",
            "audiences": None,
            "scopes": [],
            "system": None,
            "model": "milepost",
            "chunk_id": self.chunk_id,
            "series": None,
            "edition": None,
            "year": None,
        }
        for part in (case.body, case.path_parameters):
            if isinstance(part, dict) and "file" not in part:
                part.update({name: known[name] for name in known.keys() & part.keys()})


def connect(url: str, key: str) -> Api:
    headers = {"Authorization": f"Bearer {key}"}
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", headers=headers)
    schema.config.generation.update(with_security_parameters=False)
    found = httpx.post(f"{url}/search", json={"query": "moons"}, headers=headers, timeout=60)
    return Api(schema, headers, found.json()["hits"][0]["chunk_id"])


@pytest.fixture(scope="module")
def api(
    neo4j_driver: Driver, cli_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Api]:
    """A server on a small graph, and a key that may do everything."""
    folder = tmp_path_factory.mktemp("schema")
    (folder / "docs").mkdir()
    (folder / "docs" / "moons.md").write_text(TEXT)
    neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
    env = cli_env | {"MILEPOST_DATA_DIR": str(folder / "data")}
    done = milepost("ingest", str(folder / "docs"), env=env)
    assert done.returncode == 0, done.stderr
    key = json.loads(milepost("keys", "add", "all", "--ingest", "--json", env=env).stdout)["key"]
    server = Server(env)
    yield connect(server.url, key)
    server.end()


class _Many(conjecture.many):
    """`many` with the method that hypothesis-jsonschema calls and newer Hypothesis has not."""

    _steps: Iterator[None] | None = None

    def more(self) -> bool:
        if self._steps is None:
            self._steps = iter(self.__enter__())
        return next(self._steps, False) is None


@pytest.fixture(autouse=True)
def fitting(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(conjecture.many, "more"):
        fit = SimpleNamespace(**vars(conjecture) | {"many": _Many})
        monkeypatch.setattr("hypothesis_jsonschema._from_schema.cu", fit)


@pytest.mark.filterwarnings("ignore")  # of schemathesis, about itself
def test_every_answer_is_as_described(api: Api) -> None:
    failed: list[Exception] = []
    tried: list[str] = []
    for found in api.schema.get_all_operations():
        operation = found.ok()
        tried.append(operation.label)
        try:
            try_out(api, operation, GenerationMode.POSITIVE)
            if not operation.path_parameters:  # where any text is a name, none can be wrong
                try_out(api, operation, GenerationMode.NEGATIVE)
        except Exception as error:  # noqa: BLE001 (all of them are shown, not the first alone)
            failed.append(error)

    assert len(tried) > 15
    if failed:
        raise ExceptionGroup("answers that are not as described", failed)


def try_out(api: Api, operation: APIOperation, mode: GenerationMode) -> None:
    left_out = ["positive_data_acceptance"] if operation.label in TOO_NARROW else []

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), aimed=st.booleans())
    def check(case: schemathesis.Case, aimed: bool) -> None:
        if aimed and mode is GenerationMode.POSITIVE:
            api.aim(case)
        excluded = CHECKS.get_by_names(left_out)
        case.call_and_validate(timeout=30, headers=api.headers, excluded_checks=excluded)

    try:
        check()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE  # an operation that takes nothing
