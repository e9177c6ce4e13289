from agents.quotable import Quotable, quotables
from tests.unit.agents.made import hits


def quoted(*texts: str, preferred: list[bool] | None = None) -> list[Quotable]:
    return quotables(hits(*texts), preferred or [True] * len(texts))


def texts(*passages: str) -> list[str]:
    return [one.text for one in quoted(*passages)]


def test_a_sentence_that_leans_on_the_one_before_is_quoted_with_it() -> None:
    found = texts("The sponsor requests a certificate. They shall sign the form in person.")

    assert found[1] == "The sponsor requests a certificate. They shall sign the form in person."


def test_a_short_list_is_quoted_with_its_lead() -> None:
    assert texts("The applicant shall provide:\n- a photo;\n- an address.") == [
        "The applicant shall provide: - a photo; - an address."
    ]


def test_an_item_of_a_long_list_is_quoted_with_its_lead() -> None:
    items = [f"- {kind} " + f"{kind}word " * 12 for kind in "abcdefgh"]
    found = texts("The applicant shall provide all of these:\n" + "\n".join(items))

    assert len(found) == 8
    assert found[3].startswith("The applicant shall provide all of these: … - d dword")


def test_headings_questions_and_contents_lines_are_not_quoted() -> None:
    passage = "4.9.7. CRL Issuance Frequency\n\nWhat is a certificate revocation list?\n\n"
    passage += "Certificate revocation lists in general ........ 17\n\nLists are issued every day."

    assert texts(passage) == ["Lists are issued every day."]


def test_the_same_wording_is_quoted_once_from_the_better_rank() -> None:
    sentence = "Audit logs shall be kept by each certification authority for three years."
    found = quoted(sentence, sentence)

    assert [one.n for one in found] == [1]


def test_of_two_editions_the_preferred_ones_wording_stays() -> None:
    found = quoted(
        "A certificate must be issued within 30 days of identity verification.",
        "A certificate must be issued within 90 days of identity verification.",
        preferred=[False, True],
    )

    assert [(one.n, one.rank) for one in found] == [(2, 1)]
    assert "90 days" in found[0].text


def test_a_torn_sentence_is_not_whole() -> None:
    torn, whole = quoted("and so on until the last of all the logs is kept. This is kept whole.")

    assert not torn.whole
    assert whole.whole


def test_text_without_capitals_is_split_where_it_can_be() -> None:
    found = texts("the company has a lease. " * 60)

    assert all(len(text.split()) <= 130 for text in found)


def test_bullets_are_not_part_of_the_quotation() -> None:
    assert texts("- Use alt text for all images.") == ["Use alt text for all images."]
