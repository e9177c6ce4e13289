import pytest

from ingestion.contents import contents_lines, is_contents_line


@pytest.mark.parametrize(
    "line",
    ["SECTION 203 - EXCAVATION ..... 45", "SECTION 203 ... 45", "Scope . . . . . iv", "A      45"],
)
def test_dots_or_a_gap_before_a_page_number_make_a_contents_line(line: str) -> None:
    assert is_contents_line(line)


def test_a_run_of_entries_is_a_contents_list_with_its_title() -> None:
    lines = ["Text.", "TABLE OF CONTENTS", "1. Scope 1", "1.1 General 1", "2. Terms 4", "Text."]

    assert contents_lines(lines) == {1, 2, 3, 4}


def test_the_first_half_of_a_wrapped_entry_belongs_to_the_list() -> None:
    lines = [
        "4.1 Aa 10",
        "4.2 A title that is",
        "too long 11",
        "4.3 Cc 12",
        "4.4 Dd 12",
        "4.5 Ee 13",
    ]

    assert contents_lines(lines) == set(range(6))


def test_one_line_that_ends_in_a_figure_is_no_contents_list() -> None:
    assert contents_lines(["4.2 Assurance Level 2", "Text of it.", "More.", "And more."]) == set()


def test_a_list_whose_figures_fall_is_none() -> None:
    assert (
        contents_lines([f"{i}. Row {figure}" for i, figure in enumerate((9, 3, 8, 1, 7))]) == set()
    )


def test_figures_beyond_the_last_page_are_no_page_numbers() -> None:
    lines = [f"({i}) Substance ......... {9600 + i}" for i in range(8)]

    assert contents_lines(lines, pages=19) == set()
