import pytest

from ingestion.dates import find_dates, find_years

LATEST = 2027


@pytest.mark.parametrize(
    ("name", "years"),
    [
        ("2021_Standard_Specs_FINAL(2)", [(2021, "")]),
        ("2019 Supplement to 2018 Standard Specs", [(2019, ""), (2018, "")]),
        ("Specs(2020)", [(2020, "")]),
        ("Specs 2027", [(2027, "")]),
        ("Specs 2028", []),
        ("Section 2014 Rev 3", []),
        ("Form_1080", []),
        ("NCHRP_2001", []),
        ("2035_plan", []),
        ("2024_plan", []),
        ("FY24", [(2024, "fiscal")]),
        ("FY2023-24", [(2024, "fiscal"), (2023, "")]),
        ("budget '21", [(2021, "short")]),
        ("v2.1", []),
        ("minutes Jan-21", [(2021, "short")]),
        ("requirements_v1.2_20240913", [(2024, "")]),
        ("call 555-2014", [(2014, "")]),
    ],
)
def test_a_year_is_told_from_other_figures_in_a_name(
    name: str, years: list[tuple[int, str]]
) -> None:
    assert find_years(name, LATEST) == years


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("October 10, 2024", "2024-10-10"),
        ("Sept. 9th, 2022", "2022-09-09"),
        ("2 November 2023", "2023-11-02"),
        ("2024-05-08T10:00:00Z", "2024-05-08"),
        ("09-19-2024", "2024-09-19"),
        ("20240528", "2024-05-28"),
        ("August 2021", "2021-08"),
        ("2022-12", "2022-12"),
    ],
)
def test_dates_are_read_in_the_usual_forms(text: str, iso: str) -> None:
    assert [found.iso for found in find_dates(f"of {text}.", LATEST)] == [iso]


@pytest.mark.parametrize("text", ["February 30, 2024", "2024-13-01", "March 3, 2090", "12-34-5678"])
def test_what_is_no_day_of_the_calendar_is_no_date(text: str) -> None:
    assert find_dates(text, LATEST) == []
