from hypothesis import given
from hypothesis import strategies as st

from graph.editions import ALWAYS, Edition, first_day, order_editions
from graph.model import OPEN_ENDED


def edition(id: str, label: str | None = None, year: int | None = None, date: str | None = None):
    return Edition(id, label, year, date)


def test_a_date_a_month_and_a_year_become_the_first_day() -> None:
    assert first_day(edition("a", date="2024-10-10")) == "20241010"
    assert first_day(edition("a", date="2024-10")) == "20241001"
    assert first_day(edition("a", date="2024")) == "20240101"
    assert first_day(edition("a", year=2024)) == "20240101"
    assert first_day(edition("a")) == ALWAYS


def test_dates_order_editions_and_each_ends_where_the_next_begins() -> None:
    old, new = order_editions([edition("new", year=2021), edition("old", year=2018)])

    assert (old.id, old.valid_from, old.valid_to, old.supersedes) == (
        "old", "20180101", "20210101", (),
    )  # fmt: skip
    assert (new.id, new.valid_to, new.supersedes) == ("new", OPEN_ENDED, ("old",))
    assert (old.is_current, new.is_current) == (False, True)


def test_edition_numbers_are_read_as_a_person_would() -> None:
    ordered = order_editions([edition("c", "2.10"), edition("a", "1.32"), edition("b", "2.9")])

    assert [validity.id for validity in ordered] == ["a", "b", "c"]


def test_a_draft_comes_before_the_edition_it_drafts() -> None:
    ordered = order_editions([edition("final", "4"), edition("draft", "4 draft")])

    assert [validity.id for validity in ordered] == ["draft", "final"]


def test_an_undated_edition_among_dated_ones_is_placed_by_its_number() -> None:
    ordered = order_editions([edition("b", "2"), edition("c", "3", 2020), edition("a", "1", 2010)])

    assert [validity.id for validity in ordered] == ["a", "b", "c"]


@given(st.permutations([edition(str(n), str(n % 4), 2000 + n % 4) for n in range(8)]))
def test_the_order_of_ingestion_does_not_matter(editions: list[Edition]) -> None:
    ordered = order_editions(editions)

    assert ordered == order_editions(sorted(editions, key=lambda e: e.id))
    assert {validity.id for validity in ordered if validity.is_current} == {"3", "7"}
    assert {validity.id for validity in ordered} == {e.id for e in editions}


def test_one_edition_in_several_files_is_replaced_and_replaces_as_a_whole() -> None:
    old = [edition("old 1", "3", 2017), edition("old 2", "3", 2017)]
    new = [edition("new 1", "4", 2023), edition("new 2", "4", 2023)]

    validity = {v.id: v for v in order_editions(old + new)}

    assert [id for id, v in validity.items() if v.is_current] == ["new 1", "new 2"]
    assert validity["new 2"].supersedes == ("old 1", "old 2")


def test_a_date_found_in_one_file_does_not_part_an_edition() -> None:
    files = [edition("undated", "2024", 2024), edition("dated", "2024", 2024, "2024-09-19")]

    assert all(validity.is_current for validity in order_editions(files))


def test_files_of_a_series_that_nothing_tells_apart_are_all_current() -> None:
    assert all(v.is_current for v in order_editions([edition("a"), edition("b")]))
