import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.addresses import MOST, Address, addresses


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What does Section 401.4-2(b) say?", ["401.4-2(b)"]),
        ("requirements of section 203", ["203"]),
        ("sections 203, 204 and 205.1", ["203", "204", "205.1"]),
        ("§ 1005.11(c)(2)(i) on errors", ["1005.11(c)(2)(i)"]),
        ("§§ 1003.2 and § 1003.4", ["1003.2", "1003.4"]),
        ("Sec. 4-3 of the manual", ["4-3"]),
        ("Part 1024, Subpart B", ["Part 1024", "Subpart B"]),
        ("see Appendix C or 4.9.7", ["Appendix C", "4.9.7"]),
        ("Chapter IV", ["Chapter IV"]),
        ("Under 4.9.7, how often?", ["4.9.7"]),
        ("section 4.1\u20102", ["4.1-2"]),  # the hyphen of a PDF
    ],
)
def test_a_section_is_found_however_it_is_named(question: str, numbers: list[str]) -> None:
    assert [address.number for address in addresses(question)] == numbers


@pytest.mark.parametrize(
    "question",
    [
        "Table 5-1",
        "version 1.2.3",
        "v1.2.3",
        "10.0.0.1",
        "on 24.12.2020",
        "$1.2.3",
        "a part of it",
        "section a",
        "in this section",
        "partly 5",
        "how many chapters",
        "I-95",
        "",
    ],
)
def test_what_is_no_section_is_left_alone(question: str) -> None:
    assert addresses(question) == ()


@pytest.mark.parametrize(
    ("number", "coarser"),
    [
        ("401.4-2(b)", ("401.4-2", "401.4", "401")),
        ("1005.11(c)(2)", ("1005.11(c)", "1005.11", "1005")),
        ("203", ()),
        ("Appendix C", ()),
        ("Appendix A.2", ("Appendix A",)),
    ],
)
def test_coarser_sections_come_nearest_first(number: str, coarser: tuple[str, ...]) -> None:
    assert Address(number).coarser == coarser


@given(st.text(alphabet="1.()-, §sectionpartAIV\u2013\n", max_size=200))
def test_any_text_gives_a_few_distinct_addresses(text: str) -> None:
    numbers = [address.number for address in addresses(text)]

    assert len(numbers) == len(set(numbers)) <= MOST


@pytest.mark.parametrize("text", ["1." * 5_000, "(" * 10_000, "section " * 1_000, "1(a)" * 2_500])
def test_long_runs_are_read_without_delay(text: str) -> None:
    assert len(addresses(text)) <= MOST
    assert all(len(address.coarser) < 10_000 for address in addresses(text))
