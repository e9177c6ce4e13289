from hypothesis import given
from hypothesis import strategies as st

from ingestion.page_match import find_passage

PASSAGE = "Certificate applications must be processed within 90 days of identity verification."


def found(page: str, passage: str) -> list[str]:
    return [page[start:end] for start, end in find_passage(page, passage)]


def test_line_breaks_hyphens_and_ligatures_make_no_difference() -> None:
    page = (
        "4.2.3 Time\r\nCerti\ufb01cate appli-\r\ncations must be pro\ufffecessed within\r\n"
        "90  days of identity\r\nveri\ufb01cation. 43"
    )

    assert found(page, PASSAGE) == [page[12:-3]]


def test_a_passage_that_is_not_on_the_page_is_not_found() -> None:
    assert found("Audit logs shall be kept for three years. Identity verification.", PASSAGE) == []
    assert found("", PASSAGE) == []
    assert found(PASSAGE, "") == []


def test_the_part_that_is_on_the_page_is_found_and_no_like_words_elsewhere() -> None:
    start, rest = PASSAGE[:52], PASSAGE[52:]
    page = f"The identity verification. {'Other words stand here. ' * 20}{start}"

    assert found(page, PASSAGE) == [start.strip()]
    assert found(f"{rest} {'Other words stand here. ' * 20}", PASSAGE) == [rest.strip()]


def test_what_stands_in_between_is_left_out() -> None:
    page = PASSAGE.replace("within", "RUNNING HEAD OF THE PAGE within")

    assert found(page, PASSAGE) == [
        "Certificate applications must be processed",
        "within 90 days of identity verification.",
    ]


def test_a_short_passage_is_found_whole_or_not_at_all() -> None:
    assert found("a. No stipulation. b", "No stipulation.") == ["No stipulation."]
    assert found("No stipends are paid.", "No stipulation.") == []
    assert found("It is 7 m.", "7 m") == ["7 m."]


@given(st.text(), st.text())
def test_any_text_gives_spans_that_are_apart_and_in_order(page: str, passage: str) -> None:
    spans = find_passage(page, passage)

    ends = [0, *(place for span in spans for place in span)]
    assert ends == sorted(ends)
    assert all(start < end <= len(page) for start, end in spans)


@given(st.text(min_size=1), st.text(), st.text())
def test_what_was_taken_from_a_page_is_found_on_it(passage: str, before: str, after: str) -> None:
    letters = [c for c in passage if c.isalnum()]
    spans = find_passage(f"{before} {passage} {after}", passage)

    assert bool(spans) == bool(letters)
