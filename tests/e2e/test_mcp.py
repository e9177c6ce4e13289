"""`milepost mcp` as a client starts it, on the samples."""

import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters

from tests.e2e.conftest import ROOT, Run, milepost

pytestmark = pytest.mark.neo4j

COMMAND = str(Path(sys.executable).with_name("milepost"))
DAYS = "Within how many days of identity verification must a certificate be issued?"


def with_client(server: Any, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await work(client)

    return anyio.run(run)


def over_stdio(env: dict[str, str], *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(command=COMMAND, args=["mcp", *arguments], env=env, cwd=ROOT)


def test_every_tool_answers_over_stdio(samples: Run, cli_env: dict[str, str]) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": DAYS, "k": 3}),
        ("ask", {"question": DAYS}),
        ("get_section", {"section": "4.2.3", "series": "Common Policy", "edition": "1.31"}),
        ("compare_versions", {"series": "Common Policy", "older": "1.31", "newer": "2.8"}),
        ("list_documents", {"series": "SP 800-63B"}),
        ("compare_versions", {"series": "Common Policy", "older": "1.32", "newer": "2.8"}),
    ]

    async def work(client: Client) -> Any:
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    *answers, refused = with_client(over_stdio(cli_env), work)

    search, ask, section, comparison, documents = (a.structured_content for a in answers)
    assert len(search["hits"]) == 3
    assert "within 90 days" in ask["answer"]
    assert "within 30 days" in section["sections"][0]["text"]
    assert section["sections"][0]["pages"] == [45, 45]
    figures = [(one["older"], one["newer"]) for one in comparison["figures"]]
    assert ("30 days", "90 days") in figures
    assert comparison["sections_left_out"] > 0
    assert documents["total"] == 6
    assert refused.is_error
    assert "1.31 (2019)" in refused.content[0].text


def test_a_client_can_list_the_tools_while_no_graph_runs(tmp_path: Path) -> None:
    env = {
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "NEO4J_PASSWORD": "x",
        "MILEPOST_DATA_DIR": str(tmp_path / "data"),
    }

    async def work(client: Client) -> Any:
        tools = await client.list_tools()
        return len(tools.tools), await client.call_tool("list_documents", {})

    count, answer = with_client(over_stdio(env), work)

    assert count == 5
    assert answer.is_error
    assert "does not answer" in answer.content[0].text


@pytest.fixture
def address(samples: Run, cli_env: dict[str, str]) -> Iterator[str]:
    """The address of a server on a free port."""
    with subprocess.Popen(
        [COMMAND, "mcp", "--http", "--port", "0"],
        env=cli_env,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        found = re.search(r"http://\S+/mcp", server.stderr.readline())
        try:
            assert found is not None
            yield found.group()
        finally:
            server.terminate()
            server.wait(timeout=30)


def test_http_serves_the_same_tools_to_this_machine_only(address: str) -> None:
    async def work(client: Client) -> Any:
        return await client.call_tool("search", {"query": DAYS, "k": 1})

    answer = with_client(address, work)

    assert len(answer.structured_content["hits"]) == 1
    assert address.startswith("http://127.0.0.1:")
    # A web page that has its own name resolve to this machine must not reach the tools.
    foreign = httpx.post(address, headers={"Host": "evil.example"}, json={})
    assert foreign.status_code == 421


def test_a_port_that_is_taken_gets_one_line(address: str, cli_env: dict[str, str]) -> None:
    port = address.rsplit(":", 1)[1].removesuffix("/mcp")

    done = milepost("mcp", "--http", "--port", port, env=cli_env)

    assert done.returncode == 2
    assert "--port" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
