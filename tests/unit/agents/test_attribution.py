"""Citations for answers that have none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import soft_scoped
from agents.answer import ABSTENTION
from agents.answering import ask
from agents.attribution import attributed, held
from agents.citations import Evidence, check
from tests.unit.agents.scripted import LOGS, QUESTION, context, model

RAILS = Evidence("Rails are inspected twice a week on main tracks.")
KEPT = Evidence(LOGS, "Common Policy, edition 2.0, section 5.4 Audit")
SOURCES = [RAILS, KEPT]


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        (
            "Audit logs are kept for three years.",
            "Audit logs are kept for three years [Source 2].",
        ),
        (
            "Logs are kept for 3 years. Rails are inspected twice a week!",
            "Logs are kept for 3 years [Source 2]. Rails are inspected twice a week [Source 1]!",
        ),
        (
            "- Rails are inspected twice a week\n- Nobody knows who pays the inspectors",
            "- Rails are inspected twice a week [Source 1]\n- Nobody knows who pays the inspectors",
        ),
    ],
)
def test_a_sentence_is_cited_to_the_passage_that_holds_it(written: str, cited: str) -> None:
    assert attributed(written, SOURCES) == cited


@pytest.mark.parametrize(
    "written",
    [
        "Audit logs are kept for five years.",  # the figure is in no source
        "Three years, surely.",
        "Auditors must travel to every certification authority by train.",
        ABSTENTION,
        "",
    ],
)
def test_what_no_passage_holds_stays_uncited(written: str) -> None:
    assert attributed(written, SOURCES) == written


@pytest.mark.parametrize(
    "written", ["Rails are inspected twice a week. Logs too [source 2].", "Rails, says [Sources 1]"]
)
def test_an_answer_with_a_citation_is_left_as_it_is(written: str) -> None:
    assert attributed(written, SOURCES) == written


def test_a_citation_of_a_source_that_does_not_exist_is_none() -> None:
    said = "Audit logs are kept for three years [Source 9]."

    assert check(attributed(said, SOURCES), SOURCES).cited == {2}


def test_what_a_model_says_to_itself_is_not_cited() -> None:
    said = "<think>Audit logs are kept for three years.</think>Ask the auditors, they may know."

    assert attributed(said, SOURCES) == "Ask the auditors, they may know."


def test_the_share_counts_content_words() -> None:
    # audit, logs, kept are there; shredded is not
    assert held("Audit logs are kept and shredded.", KEPT) == 3 / 4


@given(st.text(), st.lists(st.text(), max_size=3))
def test_words_are_never_lost(written: str, texts: list[str]) -> None:
    sources = [Evidence(text) for text in texts]
    again = attributed(written, sources)

    assert check(again, sources).checks.claims >= 0
    if "<think" not in written.lower():
        assert len(again) >= len(written)


def test_an_answer_without_citations_is_not_lost() -> None:
    said = "Audit logs are kept by each certification authority for three years."
    answer = ask(soft_scoped.build(), QUESTION, context(model(said))).answer
    (cited,) = [source.passage.text for source in answer.sources if source.cited]

    assert cited == LOGS
    assert answer.supported
    assert answer.checks.uncited_claims == 0
