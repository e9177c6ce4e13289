import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model import Filter, Holding
from router.addresses import Address
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
        ("Annual Report and Standard Specifications", ["Annual Report", "Standard Specifications"]),
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


@pytest.mark.parametrize(
    "text",
    [
        "1." * 5_000,
        "(" * 10_000,
        "version 1" * 1_000,
        "2021 " * 2_000,
        "version 1, " * 900,
        "1.1.1.1" * 1_400,
        "WAC " * 2_500,
        "how did " * 1_200,
        "what a " * 1_400,
    ],
)
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


@pytest.mark.parametrize(
    "question",
    [
        "X.509 Certificate Policy, common 1.31 against X.509 Certificate Policy, common 2.4",
        "X.509 Certificate Policy, common 2.4 and the Annual Report",
        "rules before version 2.4 of the X.509 Certificate Policy, common",
        "any version other than version 2.4 of the X.509 Certificate Policy, common",
        "How does version 2.4 of the X.509 Certificate Policy, common differ?",
        "X.509 Certificate Policy, common, 2.4 million certificates",
        "X.509 Certificate Policy, common 2.4% of keys",
        "TLS version 2.4 in the X.509 Certificate Policy, common",
        "the 2018 edition and the 2021 edition",
        "Which rules are not the 2018 edition?",
        "Compare the current and the 2018 edition",
        "What do the current edition and the 2018 edition say?",
        "the 2018\u20132021 report",
        "bridges in 2019 report cards",
        "as of 2018 and as of 2021",
        "as of 1 January 2021",  # an edition of that year may be younger
    ],
)
def test_what_is_compared_excluded_or_something_else_narrows_nothing(question: str) -> None:
    found = understand(question, HOLDINGS)

    assert found.narrowed(Filter()) == Filter()


@pytest.mark.parametrize(
    ("question", "year", "as_of"),
    [
        ("the FY2023 report", 2023, None),
        ("the FY 2023 annual report", 2023, None),
        ("the 2022-23 report", 2023, None),
        ("as of December 31, 2018", None, 2018),
        ("the current 2021 edition", 2021, None),
    ],
)
def test_words_around_a_year_make_it_certain(
    question: str, year: int | None, as_of: int | None
) -> None:
    found = understand(question, HOLDINGS)

    assert (found.year, found.as_of) == (year, as_of)


@pytest.mark.parametrize(
    "question",
    [
        "use tax after 1 January 2019",
        "filed before December 31, 2019",
        "34 WTD 169 (2019)",
        "as decided 2018-2019",
    ],
)
def test_the_year_of_a_day_or_a_citation_is_no_year(question: str) -> None:
    assert understand(question, HOLDINGS).wishes == ()


def test_a_name_of_which_another_is_a_part_hides_it_wherever_it_stands() -> None:
    held = [
        Holding("a", "Common Policy", "2.4", 2023, 1),
        Holding("b", "Federal Common Policy", None, 2023, 1),
    ]

    found = understand("Federal Common Policy or the Federal Common Policy 2.4", held)

    assert (found.edition, found.wishes) == (None, (("series", "Federal Common Policy"),))


def test_a_revision_behind_a_name_with_figures_is_read() -> None:
    held = [Holding("n", "SP 800-63", "3", 2017, 1), Holding("n", "SP 800-63", "4", 2025, 1)]

    assert understand("authenticators in SP 800-63-3", held).edition == "3"
    assert understand("authenticators in SP 800-63", held).edition is None


def test_an_edition_that_the_named_series_lacks_lifts_no_other_series() -> None:
    found = understand("Annual Report, version 2.30", HOLDINGS)

    assert found.wishes == (("series", "Annual Report"),)


@pytest.mark.parametrize(
    "question",
    ["chapter 82.62 RCW credits", "exempt under RCW [82.08.0283]", "under chapter 19.85 RCW"],
)
def test_an_acronym_beside_a_number_names_no_series(question: str) -> None:
    assert understand(question, HOLDINGS).wishes == ()


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("wac 458-20-100", ("WAC 458-20-100",)),
        ("Sections 4.1-4.3", ("4.1", "4.3")),
        ("Sections 4.1\u20134.3", ("4.1", "4.3")),
        ("Sections 203-1 and 203-2", ("203-1", "203-2")),
        ("\u00a7\u00a7 1003.2\u20131003.4", ("1003.2", "1003.4")),
        ("12 CFR 1003.4(a)", ("12 CFR 1003.4", "1003.4(a)")),
        ("Division 200 and Title 24", ("Division 200", "Title 24")),
        ("In chapter I, what is said", ("Chapter I",)),
        ("for my part I think so", ()),
        ("IP 10.0.0.1", ()),
        ("release 1.2.3, v. 1.2.3 and ver 1.2.3", ()),
        ("$ 1.2.3", ()),
        ("on 1.2.20 at 10.30.00", ()),
    ],
)
def test_sections_are_told_from_other_numbers(question: str, found: tuple[str, ...]) -> None:
    assert understand(question, HOLDINGS).addresses == found


@pytest.mark.parametrize(
    ("question", "current"),
    [
        ("Which rules are currently in force?", True),
        ("What policy is in force?", True),
        ("the latest Annual Report", True),
        ("What was in force in 2019?", False),
        ("while the agreement is in force", False),
    ],
)
def test_what_is_in_force_now_is_what_is_current(question: str, current: bool) -> None:
    assert understand(question, HOLDINGS).current_only == current


@pytest.mark.parametrize("run", ["1.1", "1(a)", "1-1", "a"])
def test_an_address_has_few_levels_however_long_it_is(run: str) -> None:
    found = understand("section " + f"{run}." * 2_000, HOLDINGS)

    assert all(len(Address(number).coarser) <= 12 for number in found.addresses)


@given(
    st.lists(
        st.sampled_from(
            [
                "version",
                "2.4",
                "of",
                "the",
                "X.509",
                "Certificate",
                "Policy,",
                "common",
                "2021",
                "edition",
                "FY",
                "not",
                "as",
                "before",
                "section",
                "1.2",
                "RCW",
                "WAC",
                "and",
                "Annual",
                "Report",
                "1.31",
                "current",
            ]
        ),
        max_size=25,
    )
)
def test_what_is_certain_is_held_and_written_in_the_question(words: list[str]) -> None:
    found = understand(" ".join(words), HOLDINGS)

    if found.edition is not None:
        assert (found.series, found.edition) in {(h.series, h.edition) for h in HOLDINGS}
        assert found.edition in words
    assert found.year is None or found.year in {h.year for h in HOLDINGS}
    if found.series is not None:
        assert found.edition is not None
