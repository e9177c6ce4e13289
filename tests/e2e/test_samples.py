"""Ingest, search, ask and manage the samples, as a newcomer does."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app import settings, wiring
from graph.model import Passage, Query
from tests.e2e.conftest import ROOT, Run, milepost

pytestmark = pytest.mark.neo4j

DAYS = "Within how many days of identity verification must a certificate be issued?"
QUESTIONS = [
    json.loads(line)
    for line in (ROOT / "samples/questions.jsonl").read_text(encoding="utf-8").splitlines()
]


def ok(run: Run, *arguments: str) -> Any:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ingesting_again_writes_nothing(samples: Run) -> None:
    report = ok(samples, "ingest", "samples")

    assert {file["status"] for file in report["files"]} == {"unchanged"}


def test_every_sample_is_accounted_for(samples: Run) -> None:
    files = [p for p in (ROOT / "samples").rglob("*") if p.suffix in {".md", ".pdf"}]
    documents = ok(samples, "documents", "list")

    assert len(documents) == len(files) - 1  # the README is not a document
    assert all(document["chunks"] > 0 for document in documents)
    assert len({document["scope"] for document in documents}) >= 4


def test_the_answer_quotes_the_page_that_says_so(samples: Run) -> None:
    result = ok(samples, "ask", DAYS)

    assert "within 90 days" in result["answer"]
    cited = [int(n) for n in re.findall(r"\[Source (\d+)\]", result["answer"])]
    sources = {source["n"]: source for source in result["sources"]}
    first = sources[cited[0]]
    assert first["document"]["edition"] == "2.8"
    assert first["pages"] == [44, 44]
    assert "within 90 days" in " ".join(first["text"].split())
    assert result["usage"]["llm_calls"] == 0


def test_an_older_edition_answers_for_its_time(samples: Run) -> None:
    result = ok(samples, "ask", DAYS, "--as-of", "2019")

    assert "within 30 days" in result["answer"]
    assert "90 days" not in result["answer"]


def test_only_current_editions_answer_unless_older_ones_are_asked_for(samples: Run) -> None:
    question = "How long must archive records be kept?"

    def cited(*options: str, question: str = question) -> set[bool]:
        sources = ok(samples, "ask", question, *options)["sources"]
        return {source["document"]["is_current"] for source in sources}

    assert cited() == {True}
    assert False in cited("--all-editions")
    assert False in cited("--as-of", "2019")
    assert False in cited(question=f"In version 1.31, {question}")


def test_a_folder_that_cannot_be_written_gets_one_line(
    samples: Run, cli_env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    done = milepost("ask", DAYS, env=cli_env | {"MILEPOST_CACHE_DIR": str(tmp_path / "file" / "x")})

    assert done.returncode == 1
    assert "MILEPOST_CACHE_DIR" in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_output_that_cannot_be_written_gets_one_line(samples: Run, cli_env: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(Path(sys.executable).with_name("milepost")), "search", DAYS],
            env=cli_env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert done.returncode == 1
    assert done.stderr.startswith("milepost: No space left on device")
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_question_beyond_the_documents_is_not_answered(samples: Run) -> None:
    result = ok(samples, "ask", "How many moons does Jupiter have?")

    assert result["answer"] == "The documents do not say."


def test_search_returns_the_shape_that_programs_rely_on(samples: Run) -> None:
    result = ok(samples, "search", DAYS, "-k", "3")

    assert list(result) == ["query", "system", "route", "understood", "timings_ms", "hits"]
    assert list(result["hits"][0]) == [
        "rank", "chunk_id", "document", "section", "pages", "printed", "score", "lists", "text",
    ]  # fmt: skip
    assert [hit["rank"] for hit in result["hits"]] == [1, 2, 3]


def test_explain_shows_route_ranks_and_times(samples: Run) -> None:
    shown = samples("search", DAYS, "--explain").stdout

    assert re.search(r"Route: +certificate-policy \d+%", shown)
    assert re.search(r"score 0\.\d+ from .*fulltext #\d+", shown)
    assert re.search(r"Time: +embed \d+ ms, understand \d+ ms, search \d+ ms", shown)


def test_gold_is_among_the_first_ten_for_most_questions(
    samples: Run, cli_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD"):
        monkeypatch.setenv(name, cli_env[name])
    answerable = [question for question in QUESTIONS if question["gold"]]

    with wiring.open_app(settings.load()) as app:
        found = [
            question["id"]
            for question in answerable
            if any(
                is_gold(hit.passage, gold)
                for hit in app.search(Query(question["question"]), k=10).hits
                for gold in question["gold"]
            )
        ]

    assert len(found) >= 0.9 * len(answerable), found


def is_gold(passage: Passage, gold: dict[str, Any]) -> bool:
    if not passage.uri.endswith(gold["doc"]):
        return False
    first, last = passage.page_start, passage.page_end
    return gold["page"] is None or (first or 0) <= gold["page"] <= (last or 0)


def test_passages_come_with_what_is_around_them(samples: Run) -> None:
    near = ok(samples, "search", DAYS, "-k", "2", "--context", "1")
    whole = ok(samples, "search", DAYS, "-k", "1", "--section")

    for hit in (*near["hits"], *whole["hits"]):
        ids = [passage["chunk_id"] for passage in hit["around"]]
        assert hit["chunk_id"] in ids
        assert len(ids) == len(set(ids))
    assert all(2 <= len(hit["around"]) <= 3 for hit in near["hits"])


def test_a_section_named_in_the_question_comes_first(samples: Run) -> None:
    found = ok(samples, "search", "What does Section 5.4.2 of the Common Policy say?", "-k", "3")

    assert found["hits"][0]["section"]["number"] == "5.4.2"
    assert "5.4.2 is looked up first" in found["understood"]


def test_an_edition_named_in_the_question_is_the_only_one_searched(samples: Run) -> None:
    found = ok(samples, "search", "audit records in version 1.31 of the Common Policy")

    assert {hit["document"]["edition"] for hit in found["hits"]} == {"1.31"}


@pytest.mark.parametrize("system", ["guided", "soft_scoped", "hybrid", "monolithic"])
def test_every_system_can_be_named(samples: Run, system: str) -> None:
    assert ok(samples, "search", DAYS, "--system", system)["system"] == system


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("ask", ""), 2, "empty"),
        (("search", "?!"), 2, "empty"),
        (("search", "a" * 100_000), 2, "100,000 characters"),
        (("search", DAYS, "--system", "nothing"), 2, "guided, convex, hybrid, monolithic"),
        (("search", DAYS, "--scope", "nowhere"), 2, "certificate-policy"),
        (("ingest", "no-such-folder"), 2, "no-such-folder"),
        (("ingest", "tests/e2e/empty"), 2, "tests/e2e/empty"),
        (("ask", DAYS, "--model", "nobody:nothing"), 2, "nobody"),
        (("ask", DAYS, "--collection", "nosuch"), 2, "'nosuch' holds no document"),
        (("ask", DAYS, "--series", "nope"), 2, "--series"),
        (("search", DAYS, "--year", "12"), 2, "--year"),
        (("search", DAYS, "--as-of", "1800", "--series", "Common Policy"), 2, "--as-of"),
    ],
)  # fmt: skip
def test_wrong_use_gets_one_line_that_says_what_to_do(
    samples: Run, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = samples(*arguments)

    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_lucene_syntax_in_a_question_is_only_words(samples: Run) -> None:
    assert ok(samples, "search", 'title:(a OR b) AND [x TO y] && "c~2 ^3 \\ /re/ certificate?')[
        "hits"
    ]


def test_a_removed_document_is_gone_and_can_come_back(samples: Run) -> None:
    uri = next(
        document["uri"]
        for document in ok(samples, "documents", "list")
        if document["uri"].endswith("common-131.pdf")
    )
    assert samples("documents", "remove", uri, "--yes").returncode == 0
    try:
        hits = ok(samples, "search", DAYS, "-k", "50")["hits"]
        assert uri not in {hit["document"]["uri"] for hit in hits}
    finally:
        again = ok(samples, "ingest", "samples")

    assert [Path(file["uri"]).name for file in again["files"] if file["status"] == "read"] == [
        "fpki-x509-cert-policy-common-131.pdf"
    ]
