import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.figures import figures_in_claim, figures_in_source


def normal(claim: str) -> set[str]:
    return {figure.normal for figure in figures_in_claim(claim)}


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("95%", "95 percent"),
        ("95 per cent", "95%"),
        ("１２ percent", "12%"),  # noqa: RUF001 (full width)
        ("1,000 cards", "1000 cards"),
        ("$1.5 million", "$1,500,000"),
        ("$5.00", "$5"),
        ("3 years", "three years"),
        ("ninety-eight percent", "98%"),
        ("124 days", "one hundred and twenty-four days"),
        ("90 to 95 percent", "90–95%"),  # noqa: RUF001 (a real dash)
        ("90%", "90 to 95 percent"),
        ("95", "95 percent"),
        ("section 401.4-2(b)", "as 401.4-2(b) says"),
        ("January 5, 2024", "2024-01-05"),
        ("January 5, 2024", "1/5/2024"),
        ("5 January 2024", "Jan. 5, 2024"),
        ("the 5th day", "day 5"),
    ],
)
def test_spelling_makes_no_difference(claim: str, source: str) -> None:
    assert normal(claim)
    assert normal(claim) <= figures_in_source(source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("98 percent", "95 percent"),
        ("95 percent", "95 days"),
        ("two years", "three years"),
        ("section 4.2", "section 4.2.1"),
        ("February 5, 2024", "January 5, 2024"),
        ("1,000", "10,000"),
        ("1.10", "1.1"),
    ],
)
def test_another_figure_is_another_figure(claim: str, source: str) -> None:
    assert not normal(claim) <= figures_in_source(source)


def test_a_figure_is_shown_as_it_was_written_with_its_unit() -> None:
    figures = figures_in_claim("At least 95 percent of 1,000 within three years and 4 days.")

    assert {figure.written for figure in figures} == {
        "95 percent",
        "1,000",
        "three years",
        "4 days",
    }


def test_amounts_are_told_from_numbers() -> None:
    figures = figures_in_claim("Section 4.2 wants 95%, $7, 3 days and 2 million of level 1.")

    assert {figure.normal for figure in figures if figure.measures} == {"95%", "7", "3", "2000000"}


def test_a_number_word_without_a_unit_is_no_figure() -> None:
    assert not figures_in_claim("This is one of the two ways; it may take long.")


def test_number_words_that_follow_each_other_are_not_added_up() -> None:
    assert {"2", "3"} <= figures_in_source("between two and three years")
    assert "5" not in figures_in_source("between two and three years")


@given(st.integers(min_value=0, max_value=10**9))
def test_a_number_is_found_with_and_without_commas(number: int) -> None:
    assert normal(f"{number:,}") == normal(str(number))
