from agents.abbreviations import expanded, find_abbreviations
from agents.quotable import folded_words


def both(question: str, *texts: str) -> frozenset[str]:
    return expanded(frozenset(folded_words(question)), find_abbreviations(question, texts))


def test_a_defined_abbreviation_meets_its_long_form() -> None:
    texts = ("Each Registration Authority (RA) is vetted.",)

    assert "ra" in both("Who vets a registration authority?", *texts)
    assert {"registration", "authority"} <= expanded(
        frozenset({"ra"}), find_abbreviations("", texts)
    )


def test_small_words_are_not_part_of_the_initials() -> None:
    found = find_abbreviations("", ["the Office of Management and Budget (OMB) decides"])

    assert found["omb"] == frozenset(folded_words("Office of Management and Budget"))


def test_a_bracket_that_is_no_abbreviation_is_left_alone() -> None:
    assert not find_abbreviations("", ["The applicant gives two forms (PDF) of it."])


def test_words_of_the_question_meet_their_initials_in_the_text() -> None:
    assert "ca" in both("What must a certification authority keep?", "CAs keep archives.")


def test_initials_in_small_letters_are_words() -> None:
    assert "it" not in both("Which information technology is used?", "it is used")
