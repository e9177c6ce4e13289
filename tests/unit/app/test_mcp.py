"""The MCP server over the store in memory, asked by the official client."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import validate
from mcp import Client
from mcp.types import CallToolResult, Tool

from app.mcp import MOST_CHANGES, MOST_CHARACTERS, MOST_SECTIONS, Tools, create_server
from app.settings import Settings
from app.systems import build_systems
from app.wiring import App
from graph.errors import StoreUnavailable
from tests.fakes import HashingEmbedder, MemoryStore
from tests.unit.agents.compared import Entry, edition, store_of

QUESTION = "Within how many days must a certificate be issued?"
OLD = edition(
    "1",
    ("4", "Certificates", ""),
    ("4.1", "Issuance", "A certificate must be issued within 30 days of the verification."),
    ("4.2", "Fees", "There is a fee."),
    year=2019,
)
NEW = edition(
    "2",
    ("4", "Certificates", ""),
    ("4.1", "Issuance", "A certificate must be issued within 90 days of the verification."),
    ("4.2", "Fees", "There is a fee."),
    ("5", "Logs", "Audit logs are kept for three years. " * 3),
    year=2021,
)
SECRET = edition("3", ("9", "Salaries", "Salaries are secret."), series="HR", audience="staff")
Call = Callable[..., CallToolResult]


def make_app(folder: Path, store: MemoryStore) -> App:
    settings = Settings(data_dir=folder / "data", cache_dir=folder / "cache")  # type: ignore[call-arg]
    embedder = HashingEmbedder()
    return App(settings, store, embedder, build_systems(settings, store, embedder))  # type: ignore[arg-type]


def calling(tools: Tools) -> Call:
    server = create_server(tools)

    def call(tool: str, **arguments: object) -> CallToolResult:
        async def run() -> CallToolResult:
            async with Client(server) as client:
                return await client.call_tool(tool, arguments)

        return anyio.run(run)

    return call


def tools_over(folder: Path, *items: Any, audiences: tuple[str, ...] = ()) -> Tools:
    @contextmanager
    def opened() -> Iterator[App]:
        yield make_app(folder, store_of(*items))

    return Tools(opened, audiences)


@pytest.fixture
def call(tmp_path: Path) -> Call:
    return calling(tools_over(tmp_path, OLD, NEW, SECRET))


def good(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


def error_of(result: CallToolResult) -> str:
    assert result.is_error
    return result.content[0].text  # type: ignore[union-attr]


def listed(tools: Tools) -> dict[str, Tool]:
    async def run() -> list[Tool]:
        async with Client(create_server(tools)) as client:
            return (await client.list_tools()).tools

    return {tool.name: tool for tool in anyio.run(run)}


def never() -> Any:
    raise AssertionError("opened before it was needed")


def test_tools_are_described_and_listed_without_a_graph() -> None:
    found = listed(Tools(never))

    assert set(found) == {"search", "get_section", "compare_versions", "list_documents", "ask"}
    for tool in found.values():
        assert tool.description
        assert tool.output_schema and tool.output_schema["type"] == "object"
        assert tool.annotations and tool.annotations.read_only_hint
        properties = tool.input_schema["properties"]
        assert not {"audience", "audiences"} & set(properties)


def test_results_are_what_their_schemas_say(call: Call) -> None:
    schemas = {name: tool.output_schema for name, tool in listed(Tools(never)).items()}

    for name, arguments in {
        "search": {"query": QUESTION},
        "ask": {"question": QUESTION},
        "get_section": {"section": "4.1", "series": "Policy"},
        "compare_versions": {"series": "Policy", "older": "1", "newer": "2"},
        "list_documents": {},
    }.items():
        validate(good(call(name, **arguments)), schemas[name] or {})


def test_search_finds_the_passage_with_its_place(call: Call) -> None:
    found = good(call("search", query=QUESTION, edition="1", k=1))

    (hit,) = found["hits"]
    assert "within 30 days" in hit["text"]
    assert (hit["section"]["number"], hit["pages"]) == ("4.1", [2, 2])
    assert hit["document"]["edition"] == "1"


def test_only_the_newest_edition_answers_unless_another_is_asked_for(call: Call) -> None:
    now = good(call("ask", question=QUESTION))
    before = good(call("ask", question=QUESTION, as_of=2020))

    assert "within 90 days" in now["answer"] and "30 days" not in now["answer"]
    assert "within 30 days" in before["answer"]


def test_a_section_is_read_by_id_or_number_with_what_is_below_it(call: Call) -> None:
    by_number = good(call("get_section", section="4", series="policy"))
    old = good(call("get_section", section="Section 4.1", series="Policy", edition="2019"))
    hit = good(call("search", query=QUESTION, k=1))["hits"][0]
    by_id = good(call("get_section", section=hit["section"]["id"]))
    by_document = good(call("get_section", section="fees", document=OLD.document.id[:8]))

    assert [one["section"]["number"] for one in by_number["sections"]] == ["4", "4.1", "4.2"]
    assert [one["text"] for one in old["sections"]] == [OLD.chunks[0].text]
    assert [one["section"] for one in by_id["sections"]] == [hit["section"]]
    assert by_document["sections"][0]["document"]["edition"] == "1"


def test_sections_for_which_there_is_no_room_are_named(tmp_path: Path) -> None:
    half = "word " * (MOST_CHARACTERS // 8)
    long: list[Entry] = [("1", "Top", half), ("1.1", "Middle", half), ("1.2", "Last", "End.")]
    call = calling(tools_over(tmp_path, edition("1", *long)))

    found = good(call("get_section", section="1", series="Policy"))

    assert [one["section"]["title"] for one in found["sections"]] == ["Top"]
    assert [one["title"] for one in found["left_out"]] == ["Middle", "Last"]
    last = good(call("get_section", section=found["left_out"][1]["id"]))
    assert last["sections"][0]["text"] == "End."


def test_versions_are_compared_figures_first(call: Call) -> None:
    found = good(call("compare_versions", series="Policy", older="1", newer="current"))

    (figure,) = found["figures"]
    assert (figure["older"], figure["newer"]) == ("30 days", "90 days")
    assert figure["newer_place"]["section"]["number"] == "4.1"
    assert [one["status"] for one in found["sections"]] == ["changed", "added"]
    assert found["counts"]["unchanged"] == 2


def test_a_long_comparison_comes_in_parts(tmp_path: Path) -> None:
    sentences = [f"Rule {chr(97 + n)} holds for everyone here." for n in range(MOST_CHANGES + 2)]
    many: list[Entry] = [
        (str(n), f"Part {n}", f"Text {n} is as it was written.")
        for n in range(1, MOST_SECTIONS + 4)
    ]
    older, newer = edition("1", *many), edition("2", ("0", "New", " ".join(sentences)))
    call = calling(tools_over(tmp_path, older, newer))
    arguments = {"series": "Policy", "older": "1", "newer": "2"}

    first = good(call("compare_versions", **arguments))
    rest = good(call("compare_versions", **arguments, skip=MOST_SECTIONS))
    one = good(call("compare_versions", **arguments, section="0"))

    added = next(s for s in (*first["sections"], *rest["sections"]) if s["status"] == "added")
    assert (len(added["changes"]), added["changes_left_out"]) == (MOST_CHANGES, 2)
    assert (len(first["sections"]), first["sections_left_out"]) == (MOST_SECTIONS, 4)
    assert (len(rest["sections"]), rest["sections_left_out"]) == (4, 0)
    assert (len(one["sections"][0]["changes"]), one["sections"][0]["changes_left_out"]) == (
        len(sentences),
        0,
    )


def test_documents_are_listed_in_parts(call: Call) -> None:
    found = good(call("list_documents", skip=1, limit=1))

    assert found["total"] == 2
    assert [one["edition"] for one in found["documents"]] == ["2"]


def test_other_audiences_documents_do_not_exist_for_the_caller(tmp_path: Path, call: Call) -> None:
    staff = calling(tools_over(tmp_path, OLD, NEW, SECRET, audiences=("staff",)))

    for tool, arguments in (
        ("get_section", {"section": "9", "document": SECRET.document.id}),
        ("get_section", {"section": SECRET.sections[0].id}),
        ("get_section", {"section": "9", "series": "HR"}),
        ("compare_versions", {"series": "HR", "older": "3", "newer": "current"}),
    ):
        assert "secret" not in error_of(call(tool, **arguments)).lower()
    assert {one["series"] for one in good(call("list_documents"))["documents"]} == {"Policy"}
    texts = [one["text"] for one in good(call("search", query="salaries secret"))["hits"]]
    assert not any("Salaries" in text for text in texts)
    assert good(staff("get_section", section="9", series="HR"))["sections"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("compare_versions", {"series": "Policy", "older": "0", "newer": "2"}, "1 (2019); 2 (202"),
        ("search", {"query": "?!"}, "empty"),
        ("search", {"query": "fees", "scopes": ["nowhere"]}, "The scopes are default"),
        ("get_section", {"section": "4.1"}, "Name the series or the document"),
        ("get_section", {"section": "77", "series": "Policy"}, "no section '77' in 2"),
        ("get_section", {"section": "1", "document": "feed"}, "No documents have the id 'feed'"),
        ("search", {"query": "fees", "k": 0}, "greater than or equal to 1"),
        ("search", {}, "query"),
        ("remove", {}, "remove"),
    ],
)  # fmt: skip
def test_the_caller_reads_what_is_wrong(
    call: Call, tool: str, arguments: dict[str, object], message: str
) -> None:
    assert message in error_of(call(tool, **arguments))


def test_an_argument_that_a_tool_does_not_have_is_refused_by_name(call: Call) -> None:
    answer = call("search", query=QUESTION, scope=["a"])

    assert answer.is_error
    assert "scope" in answer.content[0].text  # type: ignore[union-attr]


def test_a_graph_that_was_away_is_opened_when_it_is_back(tmp_path: Path) -> None:
    attempts: list[str] = []

    @contextmanager
    def opened() -> Iterator[App]:
        attempts.append("opened")
        if len(attempts) == 1:
            raise StoreUnavailable("No Neo4j is running. Start it with `milepost db start`.")
        yield make_app(tmp_path, store_of(OLD))
        attempts.append("closed")

    with Tools(opened) as tools:
        call = calling(tools)
        assert "milepost db start" in error_of(call("list_documents"))
        assert good(call("list_documents"))["total"] == 1
        assert good(call("list_documents"))["total"] == 1
        assert attempts == ["opened", "opened"]

    assert attempts == ["opened", "opened", "closed"]


def test_a_fault_is_not_shown_to_the_caller(tmp_path: Path) -> None:
    @contextmanager
    def opened() -> Iterator[App]:
        raise RuntimeError("password=hunter2")
        yield

    assert "hunter2" not in error_of(calling(Tools(opened))("list_documents"))
