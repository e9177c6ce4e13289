from dataclasses import replace

import pytest

from agents.answer import ABSTENTION, Answer, Answered, Checks, Source, Usage
from app.cli import ask
from app.cli.output import console
from app.cli.shapes import answered_as_dict
from graph.model import Query, Ranking, Route
from tests.unit.agents.made import hits

HITS = hits("Logs are kept for three years.", "Other things.")
RANKING = Ranking(
    Query("How long?"), "soft_scoped", tuple(HITS), (Route("policy", 0.75),), {"search": 1_230.0}
)
ANSWER = Answer(
    text="Three years [Source 1].",
    sources=tuple(Source(n, hit.passage, n == 1) for n, hit in enumerate(HITS, start=1)),
    checks=Checks(claims=1),
    usage=Usage(1, 300),
    extractive=False,
    supported=True,
)


def shown(answer: Answer, capsys: pytest.CaptureFixture[str]) -> str:
    console.cache_clear()
    ask.print_answered(Answered(RANKING, answer))
    console.cache_clear()
    return " ".join(capsys.readouterr().out.split())


def test_json_adds_the_answer_to_the_shape_of_search() -> None:
    shape = answered_as_dict(Answered(RANKING, ANSWER))

    assert list(shape) == [
        "query", "system", "route", "understood", "timings_ms", "hits",
        "answer", "sources", "checks", "usage",
    ]  # fmt: skip
    assert shape["usage"] == {"llm_calls": 1, "tokens": 300}


def test_json_sources_have_place_text_and_whether_they_are_cited() -> None:
    first, second = answered_as_dict(Answered(RANKING, ANSWER))["sources"]  # type: ignore[misc]

    assert list(first) == [
        "n", "chunk_id", "document", "section", "pages", "printed", "text", "cited",
    ]  # fmt: skip
    assert first["document"]["edition"] == "2.8"
    assert first["pages"] == [12, 13]
    assert (first["cited"], second["cited"]) == (True, False)


def test_people_see_answer_cited_sources_scopes_and_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = shown(ANSWER, capsys)

    assert out.startswith("Three years [Source 1]. [Source 1] Common Policy (2.8), 5.4 Audit")
    assert "pp. 12-13 file:///policy.pdf" in out
    assert "[Source 2]" not in out
    assert "2 passages from policy (2). Most likely scopes: policy (75%). 1.23 s." in out


def test_people_see_what_the_checks_found(capsys: pytest.CaptureFixture[str]) -> None:
    checks = Checks(claims=4, uncited_claims=2, removed_citations=1, marked_claims=3)
    out = shown(replace(ANSWER, checks=checks, passages_left_out=5), capsys)

    assert "statements without a source: 2" in out
    assert "statements with a figure that is not in the source: 3" in out
    assert "removed citations of sources that do not exist: 1" in out
    assert "passages that did not fit into the model's context: 5" in out


def test_people_see_which_limit_ended_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(replace(ANSWER, stopped="5 rounds"), capsys)

    assert "Check: the search ended at its limit of 5 rounds" in out


def test_nothing_is_said_of_checks_that_found_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Check" not in shown(ANSWER, capsys)


def test_an_abstention_lists_no_sources(capsys: pytest.CaptureFixture[str]) -> None:
    sources = tuple(replace(source, cited=False) for source in ANSWER.sources)
    out = shown(replace(ANSWER, text=ABSTENTION, sources=sources, supported=False), capsys)

    assert out.startswith(f"{ABSTENTION} 2 passages from policy")


def test_a_citation_is_not_broken_over_two_lines() -> None:
    text = "The documents say:\n\n- “" + "word " * 14 + "end” [Source 12]"

    for width in range(20, 100):
        lines = ask._wrapped(text, width).split("\n")
        assert sum("[Source 12]" in line for line in lines) == 1
        assert max(map(len, lines)) <= width
    assert " ".join(ask._wrapped(text, 20).split()) == " ".join(text.split())
