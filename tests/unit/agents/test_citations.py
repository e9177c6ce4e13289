import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answer import ABSTENTION
from agents.citations import Evidence, check, normalise_citations

SOURCES = [
    Evidence("At least 95 percent of the cards pass, as section 4.2 says.", "Policy, section 7"),
    Evidence("Records are kept for two years after January 5, 2024."),
    Evidence("Nothing else is said."),
    Evidence("A fourth passage."),
    Evidence("A fifth passage."),
]


@pytest.mark.parametrize(
    ("written", "normal", "removed"),
    [
        ("It is so [Source 0].", "It is so.", 1),
        ("It is so [Source 7].", "It is so.", 1),
        ("It is so [Source 1, 2].", "It is so [Source 1] [Source 2].", 0),
        ("It is so [Source 1,2].", "It is so [Source 1] [Source 2].", 0),
        ("It is so [Sources 1-3].", "It is so [Source 1] [Source 2] [Source 3].", 0),
        ("It is so [Sources 1 – 3].", "It is so [Source 1] [Source 2] [Source 3].", 0),  # noqa: RUF001
        ("It is so [Sources 4-9].", "It is so [Source 4] [Source 5].", 1),
        ("It is so [Sources 4-999999999].", "It is so [Source 4] [Source 5].", 1),
        ("It is so [source 2].", "It is so [Source 2].", 0),
        ("It is so [SOURCE #2].", "It is so [Source 2].", 0),
        ("It is so [Source １].", "It is so [Source 1].", 0),  # noqa: RUF001 (full width)
        ("It is so 【Source 1】.", "It is so [Source 1].", 0),
        ("It is so[Source 1][Source 2].", "It is so [Source 1] [Source 2].", 0),
        ("It is so [Source 1; Source 3].", "It is so [Source 1] [Source 3].", 0),
        ("It is so [Sources 1 and 3].", "It is so [Source 1] [Source 3].", 0),
        ("It is so [Source 2, p. 12].", "It is so [Source 2].", 0),
        ("It is so [Source 2: Common Policy].", "It is so [Source 2].", 0),
        ("It is so [Source: Common Policy].", "It is so.", 1),
        ("It is so [Source 2, 2014].", "It is so [Source 2].", 1),
        ("It is so [Source 1.2].", "It is so.", 1),
        ("- [Source 9] It is so.", "- It is so.", 1),
        ("The [SP 800-63] and [sic] stay.", "The [SP 800-63] and [sic] stay.", 0),
        ("[resource 1] and [sourcebook 2] stay.", "[resource 1] and [sourcebook 2] stay.", 0),
    ],
)
def test_citations_get_one_form_and_wrong_ones_go(written: str, normal: str, removed: int) -> None:
    assert normalise_citations(written, 5) == (normal, removed)


def test_a_figure_that_is_not_in_the_cited_source_is_marked() -> None:
    checked = check("The rate is 98 percent [Source 1].", SOURCES)

    assert checked.text == "The rate is 98 percent [Source 1]. [not in the source: 98 percent]"
    assert checked.checks.marked_claims == 1
    assert checked.checks.unfounded_figures == ("98 percent",)


@pytest.mark.parametrize(
    "claim",
    [
        "The rate is 95% [Source 1].",
        "The rate is at least 95 per cent, by Section 4.2. [Source 1]",
        "They are kept for 2 years after 2024-01-05 [Source 2].",
        "It is 95 percent for two years [Sources 1-2].",
        "1. The rate is 95 percent [Source 1].",
    ],
)
def test_a_figure_that_is_in_the_cited_source_is_not_marked(claim: str) -> None:
    assert check(claim, SOURCES).checks.marked_claims == 0


def test_numbers_of_the_place_are_numbers_but_no_amounts() -> None:
    assert check("Section 7 says so [Source 1].", SOURCES).checks.marked_claims == 0
    assert check("It takes 7 days [Source 1].", SOURCES).checks.marked_claims == 1
    assert check("It takes seven days [Source 1].", SOURCES).checks.marked_claims == 1


def test_a_figure_of_another_source_is_marked() -> None:
    assert check("The rate is 95 percent [Source 2].", SOURCES).checks.marked_claims == 1


def test_the_mark_stands_behind_the_claim_that_it_is_about() -> None:
    text = "It is 98 percent [Source 1]. It takes two years [Source 2]. It is 7 days. [Source 3]"

    assert check(text, SOURCES).text == (
        "It is 98 percent [Source 1]. [not in the source: 98 percent] It takes two years"
        " [Source 2]. It is 7 days. [Source 3] [not in the source: 7 days]"
    )


def test_an_uncited_claim_is_counted_and_held_against_all_sources() -> None:
    checked = check("Cards pass at 95%. Others at 70%. That is all [Source 3].", SOURCES)

    assert checked.checks.claims == 3
    assert checked.checks.uncited_claims == 2
    assert checked.checks.unfounded_figures == ("70%",)


@pytest.mark.parametrize("behind", ["It is so. [Source 1] More text here.", "It is so [Source 1]."])
def test_a_citation_behind_the_full_stop_belongs_to_the_sentence_before(behind: str) -> None:
    checks = check(behind + " And that is it [Source 2].", SOURCES).checks

    assert checks.uncited_claims == ("More" in behind)


def test_leads_headings_and_questions_are_no_claims() -> None:
    text = (
        "## Rates of the cards\n\nWhat is the rate of it?\nThe rates are these:\n- 95% [Source 1]"
    )

    assert check(text, SOURCES).checks.claims == 1


def test_a_quotation_of_two_sentences_is_one_claim() -> None:
    checks = check("- “It is so here. They say so too.” [Source 1]", SOURCES).checks

    assert (checks.claims, checks.uncited_claims) == (1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[Source 1]",
        "[Source 1] [Source 2].",
        "It is surely so.",
        "It is surely so [Source 9].",
        "The documents do not say. [Source 1]",
        "<think>It is so [Source 1].</think>",
        "<think>It is so [Source 1].",
    ],
)
def test_an_answer_without_support_becomes_the_abstention(text: str) -> None:
    checked = check(text, SOURCES)

    assert checked.text == ABSTENTION
    assert not checked.supported
    assert not checked.cited


def test_an_answer_may_say_what_the_documents_leave_open() -> None:
    text = "The documents do not say how long. They name two years [Source 2]."
    checked = check(text, SOURCES)

    assert checked.text == text
    assert checked.checks.claims == 1


def test_reasoning_is_not_part_of_the_answer() -> None:
    assert (
        check("<think>So 98%?</think>It is so [Source 1].", SOURCES).text == "It is so [Source 1]."
    )


def test_without_sources_nothing_is_supported() -> None:
    assert not check("It is so [Source 1].", []).supported


@given(st.text(alphabet=st.sampled_from("[]【】Source 123-,.\n“”8%"), max_size=60))
def test_no_citation_leads_nowhere(text: str) -> None:
    checked = check("It is so [Source 2]. " + text, SOURCES[:2])

    assert {int(n) for n in re.findall(r"\[Source (\d+)\]", checked.text)} <= {1, 2}
    assert checked.cited <= {1, 2}


@given(st.text(alphabet=st.sampled_from("[]【Source 123-,.\n"), max_size=60))
def test_the_normal_form_is_final(text: str) -> None:
    once, _ = normalise_citations(text, 2)

    assert normalise_citations(once, 2) == (once, 0)
