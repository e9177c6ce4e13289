from hypothesis import given
from hypothesis import strategies as st

from agents.sentences import one_line, split_sentences, strip_marker


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(text)]


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = (
        "Use PIV cards, e.g. Type A (see Sec. 4.2 and No. 5). The U.S. Government, i.e. GSA, pays."
    )

    assert texts(text) == [
        "Use PIV cards, e.g. Type A (see Sec. 4.2 and No. 5).",
        "The U.S. Government, i.e. GSA, pays.",
    ]


def test_an_abbreviation_ends_a_sentence_where_another_begins() -> None:
    assert texts("It is valid in the U.S. The next rule differs.") == [
        "It is valid in the U.S.",
        "The next rule differs.",
    ]


def test_section_numbers_are_not_split() -> None:
    assert texts("Section 1.3.1.1 applies. See 401.4-2(b) too.") == [
        "Section 1.3.1.1 applies.",
        "See 401.4-2(b) too.",
    ]


def test_initials_and_titles_are_not_split() -> None:
    assert texts("Dr. J. R. Smith of Acme Inc. signed. He left.") == [
        "Dr. J. R. Smith of Acme Inc. signed.",
        "He left.",
    ]


def test_lines_broken_by_a_layout_are_one_sentence() -> None:
    text = "The CA shall verify the identity of each appli-\ncant before a certificate is\nissued."

    assert texts(text) == [
        "The CA shall verify the identity of each appli-cant before a certificate is issued."
    ]


def test_a_sentence_goes_on_over_an_empty_line_that_a_layout_left() -> None:
    text = (
        "The applicant gives a form of identification (e.g., an\n\nAgency badge) as proof\n\nof it."
    )

    assert texts(text) == [
        "The applicant gives a form of identification (e.g., an Agency badge) as proof of it."
    ]


def test_a_paragraph_is_not_joined_with_the_next() -> None:
    assert texts("Keep the logs\n\nBackups are made.\n\niPhones are not.") == [
        "Keep the logs",
        "Backups are made.",
        "iPhones are not.",
    ]


def test_list_items_stand_by_themselves() -> None:
    text = "The applicant gives:\n- a photo\n(b) an address\n3. a form"

    assert texts(text) == ["The applicant gives:", "- a photo", "(b) an address", "3. a form"]
    assert [sentence.in_list for sentence in split_sentences(text)] == [False, True, True, True]


def test_a_section_number_does_not_make_a_list_item() -> None:
    first, _ = split_sentences("4.9.7. CRL Issuance Frequency\n\nCRLs are issued daily.")

    assert not first.in_list


def test_rows_of_a_table_stand_by_themselves() -> None:
    assert texts("Renewal of the card | 3 years\nReplacement of the card | 5 days") == [
        "Renewal of the card | 3 years",
        "Replacement of the card | 5 days",
    ]


def test_a_heading_is_not_joined_with_the_text_below() -> None:
    text = "Audit Logs\nThe audit logs of every certification authority shall be kept for years."

    assert texts(text)[0] == "Audit Logs"


def test_quotes_and_brackets_belong_to_the_sentence_they_close() -> None:
    assert texts("He said “Stop.” (They did.) Then all left.") == [
        "He said “Stop.”",
        "(They did.)",
        "Then all left.",
    ]


def test_markers_of_lists_are_taken_off() -> None:
    assert [strip_marker(text) for text in ("- a", "(b) c", "3. d", "3.5 percent")] == [
        "a",
        "c",
        "d",
        "3.5 percent",
    ]


def test_one_line_closes_up_a_broken_word() -> None:
    assert one_line("multi-\n  factor  and\nso on") == "multi-factor and so on"


@given(st.text(alphabet=st.sampled_from("aB .\n:-!?(1)“”|•\u2028"), max_size=80))
def test_nothing_is_lost_but_white_space(text: str) -> None:
    sentences = split_sentences(text)
    between, position = "", 0
    for sentence in sentences:
        between += text[position : sentence.start]
        position = sentence.end

    assert not (between + text[position:]).strip()
    assert all(sentence.start < sentence.end for sentence in sentences)
