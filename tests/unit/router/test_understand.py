import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model import Filter, Holding
from router.retrieve import Guidance
from router.understand import understand

HOLDINGS = [
    Holding("certificate-policy", "X.509 Certificate Policy, common", "1.31", 2019, 1),
    Holding("certificate-policy", "X.509 Certificate Policy, common", "2.4", 2023, 1),
    Holding("certificate-policy", "X.509 Certificate Policy, fbca", "2.30", 2020, 1),
    Holding("certificate-policy", "X.509 Certificate Policy, fbca", "2.4", 2021, 1),
    Holding("tls", "Public Trust TLS Certificate Policy", "v0-2", None, 1),
    Holding("specs", "Standard Specifications", "2018", 2018, 1),
    Holding("specs", "Standard Specifications", "2021", 2021, 1),
    Holding("reports", "Annual Report", None, 2023, 1),
    Holding("rules", "WAC", None, None, 90),
    Holding("statutes", "RCW", None, None, 90),
]
COMMON, FBCA = "X.509 Certificate Policy, common", "X.509 Certificate Policy, fbca"


@pytest.mark.parametrize(
    ("question", "series", "edition"),
    [
        ("What does version 1.31 of the X.509 Certificate Policy, common say?", COMMON, "1.31"),
        ("X.509 certificate policy common 2.4: renewal", COMMON, "2.4"),
        ("renewal in the X.509 Certificate Policy, fbca v2.4", FBCA, "2.4"),
        ("What was said about audits in version 1.31 of the common policy?", COMMON, "1.31"),
        (
            "version 0.2 of the public trust TLS policy",
            "Public Trust TLS Certificate Policy",
            "v0-2",
        ),
    ],
)
def test_an_edition_of_a_named_series_is_certain(question: str, series: str, edition: str) -> None:
    found = understand(question, HOLDINGS)

    assert (found.series, found.edition) == (series, edition)
    assert any("only this one is searched" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    "question",
    [
        "Between version 1.31 and version 2.4 of the X.509 Certificate Policy, common?",
        "Does version 1.31 apply?",  # of what?
        "version 2.4 of the policy",  # two series have it
        "version 9.9 of the X.509 Certificate Policy, common",
        "TLS version 1.2",
    ],
)
def test_an_edition_that_is_not_certain_narrows_nothing(question: str) -> None:
    found = understand(question, HOLDINGS)

    assert found.edition is None


def test_two_editions_are_both_wished_for() -> None:
    found = understand("X.509 Certificate Policy, common version 1.31 or version 2.4?", HOLDINGS)

    assert {("edition", "1.31"), ("edition", "2.4"), ("series", COMMON)} <= set(found.wishes)


def test_an_edition_that_is_not_there_is_named() -> None:
    found = understand("version 9.9 of the X.509 Certificate Policy, common", HOLDINGS)

    assert "edition 9.9 is not in the collection: not searched for" in found.reasons


@pytest.mark.parametrize(
    ("question", "wished"),
    [
        ("How is concrete cured in the Standard Specifications?", ["Standard Specifications"]),
        ("standard specifications: curing", ["Standard Specifications"]),
        ("Are there standards and specifications?", []),
        ("What does the WAC say about gift cards?", ["WAC"]),
        ("what does the wac say", []),
        ("protests penalties under RCW 82.32.050 and WAC 458-20-228", []),
        ("36 WAC 12", []),
        ("Annual Report and Standard Specifications", ["Standard Specifications", "Annual Report"]),
    ],
)
def test_a_series_that_is_named_is_wished_for_and_a_citation_names_none(
    question: str, wished: list[str]
) -> None:
    found = understand(question, HOLDINGS)

    assert [value for field, value in found.wishes if field == "series"] == wished
    assert found.series is None


@pytest.mark.parametrize(
    ("question", "year", "as_of", "wish"),
    [
        ("curing in the 2021 Standard Specifications", 2021, None, False),
        ("the 2018 edition of the specifications", 2018, None, False),
        ("bridges built in 2019", None, None, True),
        ("spending in FY 2023", None, None, True),
        ("spending in fiscal year 2022-23", None, None, True),
        ("rules as of 2020", None, 2020, False),
        ("bridges built in 1999", None, None, False),  # not held
        ("see Section 2019", None, None, False),
        ("RFC 2019", None, None, False),
        ("pay $2,019 or $2019", None, None, False),
        ("WAC 458-20-2019", None, None, False),
        ("call 555-2019", None, None, False),
        ("form 2019/7", None, None, False),
    ],
)
def test_a_year_counts_as_what_it_is(
    question: str, year: int | None, as_of: int | None, wish: bool
) -> None:
    found = understand(question, HOLDINGS)

    assert (found.year, found.as_of) == (year, as_of)
    assert any(field == "year" for field, _ in found.wishes) == wish


@pytest.mark.parametrize(
    ("question", "current"),
    [
        ("What does the current edition require?", True),
        ("the latest version of the policy", True),
        ("the most recent Standard Specifications", True),
        ("How did the current version change from the previous one?", False),
        ("current account numbers", False),
        ("the current version 1.31 of the X.509 Certificate Policy, common", False),
    ],
)
def test_only_what_is_in_force_is_searched_where_that_is_asked(
    question: str, current: bool
) -> None:
    assert understand(question, HOLDINGS).current_only == current


def test_an_address_is_looked_up_where_the_question_is_about_it() -> None:
    short = understand("What do Section 5.1.3 and RCW 82.04.050 say?", HOLDINGS)
    long = understand("The taxpayer protests. " * 8 + "See section 5.1.3.", HOLDINGS)

    assert short.addresses == ("RCW 82.04.050", "5.1.3")
    assert "5.1.3 is looked up first" in short.reasons
    assert long.addresses == ()


def test_a_scope_that_is_named_is_wished_for() -> None:
    assert ("scope", "certificate-policy") in understand("certificate policy", HOLDINGS).wishes


@given(st.text(alphabet="the quick brown fox jumps!?,\n", max_size=80))
def test_a_question_without_names_and_numbers_says_nothing(text: str) -> None:
    assert understand(text, HOLDINGS) == Guidance()


@given(st.text(max_size=200))
def test_any_text_is_understood_or_left_alone(text: str) -> None:
    found = understand(text, HOLDINGS)

    assert found.series is None or found.series in {holding.series for holding in HOLDINGS}


@pytest.mark.parametrize("text", ["1." * 5_000, "(" * 10_000, "version 1" * 1_000, "2021 " * 2_000])
def test_long_runs_are_understood_without_delay(text: str) -> None:
    assert understand(text, HOLDINGS).edition is None


def test_what_the_caller_set_stays() -> None:
    said = Guidance(series="A", edition="1", year=2020, as_of=2020, current_only=True)

    other = said.narrowed(Filter(series="B"))
    same = said.narrowed(Filter(series="A", year=2018))
    free = said.narrowed(Filter(audiences=("public",), scopes=("s",)))

    assert other == Filter(series="B")
    assert (same.year, same.edition) == (2018, "1")
    assert (free.series, free.edition, free.year, free.as_of) == ("A", "1", 2020, 2020)
    assert (free.audiences, free.scopes, free.current_only) == (("public",), ("s",), True)
