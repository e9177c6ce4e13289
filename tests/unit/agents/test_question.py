import pytest

from agents.question import parse


def test_the_words_that_say_what_it_is_about_are_kept() -> None:
    assert parse("How long must the audit logs be kept?").words == ("audit", "log", "kept")


def test_figures_and_quoted_phrases_are_literals() -> None:
    assert parse('What does 5.1.3 say of "Full Backups" in 2024?').literals == (
        "5.1.3",
        "2024",
        "full backups",
    )


@pytest.mark.parametrize(
    "name", ["version 1.31", "Version  1.31", "v1.31", "ver. 1.31", "rev 1.31"]
)
def test_an_edition_is_recognised_by_its_name(name: str) -> None:
    assert parse(f"What did {name} of the policy say?").editions == {"1.31"}


def test_a_number_alone_names_no_edition() -> None:
    assert not parse("What does section 1.31 say about 3 days?").editions


@pytest.mark.parametrize(
    ("question", "answer", "met"),
    [
        ("How many cards are there?", "There are 12 cards.", True),
        ("How many cards are there?", "There are three cards.", True),
        ("How many cards are there?", "3. There are cards.", False),
        ("How many cards are there?", "FIPS-201 has cards.", False),
        ("How many cards are there?", "On October 15, 2010 there were cards.", False),
        ("In what year was it?", "It was in 2010.", True),
        ("Where is it said on which date it ends?", "It is said in the column.", True),
        ("What does a domain cost?", "Domains are free of charge.", True),
        ("What does a domain cost?", "Domains are registered.", False),
        ("How often is it reviewed?", "It is reviewed monthly.", True),
        ("How often is it reviewed?", "It is reviewed thoroughly in 4.2.", False),
        ("How long is it kept?", "It is kept for two years.", True),
        ("How long is it kept?", "It is kept as section 3.2 says.", False),
        ("When is it due?", "It is due after the audit.", True),
        ("Who reviews it?", "The auditor reviews it.", True),
    ],
)
def test_an_answer_has_what_the_question_asks_for(question: str, answer: str, met: bool) -> None:
    assert parse(question).is_met_by(answer) == met


@pytest.mark.parametrize(
    ("question", "opening", "matches"),
    [
        ("What is a privileged user?", "A privileged user is one who may", True),
        ("What is a privileged user?", "Privileged users are those who", True),
        ("What is PIV?", "PIV (Personal Identity Verification) means a card", True),
        ("What is PIV?", "Cards of PIV are", False),
    ],
)
def test_a_definition_is_recognised(question: str, opening: str, matches: bool) -> None:
    pattern = parse(question).opening

    assert pattern is not None
    assert bool(pattern.match(opening)) == matches


def test_a_term_is_explained_only_where_it_stands() -> None:
    question = parse("What is a privileged user?")

    assert question.is_met_by("Privileged users perform security duties.")
    assert not question.is_met_by("Manage the privileges of users.")


def test_a_long_description_is_no_term() -> None:
    assert parse("What are the assurance levels in SP 800-63?").is_met_by("There are levels.")


def test_other_questions_ask_for_no_definition() -> None:
    assert parse("Who may request a certificate?").opening is None
