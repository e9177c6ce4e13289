"""What the settings say of a chat model reaches it."""

from typing import Any, cast

import pytest
from pydantic import SecretStr

from app import settings, wiring
from app.settings import Settings
from app.systems import chat_model
from graph.errors import ConfigurationError


@pytest.fixture
def given() -> Settings:
    changed = {"model_url": "http://127.0.0.1:9/v1", "model_api_key": SecretStr("none")}
    return settings.load().model_copy(update={**changed, "model_seconds": 300.0})


def test_a_call_has_the_time_and_the_room_that_are_set(given: Settings) -> None:
    pytest.importorskip("langchain_openai")
    model: Any = chat_model("openai:local", given, temperature=0.0, answer_tokens=64)

    assert model.request_timeout == 300
    assert model.max_tokens == 64
    assert model.openai_api_base == "http://127.0.0.1:9/v1"


def test_a_run_has_time_for_several_calls(given: Settings) -> None:
    app = wiring.App(given, cast("Any", None), cast("Any", None), {})

    assert app.limits.run_seconds == 900


def test_a_server_of_ones_own_needs_any_key(
    given: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    without = given.model_copy(update={"model_api_key": None})

    with pytest.raises(ConfigurationError, match="MILEPOST_MODEL_API_KEY, to any word"):
        chat_model("openai:local", without)
