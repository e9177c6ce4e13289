import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agents.answer import ABSTENTION
from agents.citations import check
from agents.extractive import MOST_PASSAGES, MOST_SENTENCES, extract
from agents.passages import evidence
from graph.model import Hit
from tests.fakes import HashingEmbedder
from tests.unit.agents.made import hits

LOGS = "Audit logs shall be kept by each certification authority for three years."
FILLER = "The agency publishes a newsletter about many other things."


def answer(question: str, found: list[Hit]) -> str:
    return extract(question, found, HashingEmbedder())["text"]


def quotations(text: str) -> list[tuple[str, int]]:
    return [(quote, int(n)) for quote, n in re.findall(r"^- “(.*)” \[Source (\d+)\]$", text, re.M)]


def test_the_answering_sentence_is_quoted_with_its_source() -> None:
    text = answer("How long shall audit logs be kept?", hits(FILLER, f"{FILLER} {LOGS}"))

    assert quotations(text) == [(LOGS, 2)]


def test_it_says_that_no_model_was_used() -> None:
    text = answer("How long shall audit logs be kept?", hits(LOGS))

    assert text.startswith("The documents say, word for word (no chat model was used):")


def test_nothing_is_quoted_where_nothing_answers() -> None:
    assert answer("How tall is the Washington Monument?", hits(LOGS, FILLER)) == ABSTENTION


def test_without_hits_there_is_no_answer() -> None:
    assert answer("How long?", []) == ABSTENTION


def test_how_many_is_not_answered_without_a_number() -> None:
    found = hits("The agency has employees who review audit logs.")

    assert answer("How many employees of the agency review audit logs?", found) == ABSTENTION


def test_the_current_edition_is_quoted_where_editions_repeat_each_other() -> None:
    old = "A certificate must be issued within 30 days of identity verification."
    new = "A certificate must be issued within 90 days of identity verification."
    found = hits(old, is_current=False, edition="1.31") + hits(new)
    text = answer("Within how many days of identity verification is a certificate issued?", found)

    assert quotations(text) == [(new, 2)]


def test_the_edition_that_the_question_names_is_quoted() -> None:
    old = "A certificate must be issued within 30 days of identity verification."
    new = "A certificate must be issued within 90 days of identity verification."
    found = hits(new) + hits(old, is_current=False, edition="1.31")
    question = "Within how many days must a certificate be issued in version 1.31?"

    assert quotations(answer(question, found)) == [(old, 2)]


def test_no_other_edition_answers_for_one_that_was_not_found() -> None:
    found = hits("A certificate must be issued within 90 days of identity verification.")
    question = "Within how many days must a certificate be issued in version 3.0?"

    assert answer(question, found) == ABSTENTION


def test_a_sentence_that_adds_nothing_is_left_out() -> None:
    again = "Audit logs shall be kept by each certification authority for three years and a day."

    assert len(quotations(answer("How long shall audit logs be kept?", hits(LOGS, again)))) == 1


def test_sentences_of_one_passage_stay_in_their_order() -> None:
    passage = "Backups are kept for one year. Originals of all logs are kept for two years."
    text = answer("How long are logs and backups kept?", hits(passage))

    assert [quote[:7] for quote, _ in quotations(text)] == ["Backups", "Origina"]


def test_there_are_at_most_five_quotations() -> None:
    passages = [f"Audit logs of kind {word} are kept safely by {word} staff at {word} sites."
                for word in "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()]  # noqa: SIM905  # fmt: skip

    found = quotations(answer("How are audit logs kept safely?", hits(*passages)))

    assert 1 <= len(found) <= MOST_SENTENCES


def test_low_hits_are_not_read() -> None:
    found = hits(*[FILLER] * MOST_PASSAGES, LOGS)
    draft = extract("How long shall audit logs be kept?", found, HashingEmbedder())

    assert draft["text"] == ABSTENTION
    assert draft["shown"] == MOST_PASSAGES


def test_an_imitated_citation_in_a_passage_cites_nothing() -> None:
    passage = "Audit logs shall be kept for three years as [Source 7] and [Source 2] say."
    found = hits(passage, FILLER)
    text = answer("How long shall audit logs be kept?", found)
    checked = check(text, [evidence(hit.passage) for hit in found])

    assert quotations(text)
    assert checked.cited == {1}
    assert checked.checks.removed_citations == 0


def test_every_check_passes_on_quotations() -> None:
    found = hits(f"{LOGS} Copies are kept for 5 years. It is 95 percent in section 4.2.", FILLER)
    text = answer("How long shall audit logs and copies be kept?", found)
    checks = check(text, [evidence(hit.passage) for hit in found]).checks

    assert checks.claims == len(quotations(text)) > 0
    assert (checks.uncited_claims, checks.marked_claims) == (0, 0)


def test_a_question_without_content_is_answered_by_nothing() -> None:
    assert answer("What is it?", hits(FILLER)) == ABSTENTION


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(alphabet="log keptAL.:-\n1 ", max_size=80), max_size=4))
def test_quotations_stand_in_the_passage_word_for_word(passages: list[str]) -> None:
    found = hits(*(f"Audit logs are kept long. {passage}" for passage in passages))
    for quote, n in quotations(answer("Are audit logs kept long?", found)):
        words = " ".join(found[n - 1].passage.text.split())

        assert all(part.strip() in words for part in quote.split(" … "))
