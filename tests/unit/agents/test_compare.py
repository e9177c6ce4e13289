"""Comparing editions in the store in memory."""

import pytest

from agents.compare import compare
from agents.compare_editions import plain_name
from graph.errors import UsageError
from graph.model import Filter
from tests.unit.agents.compared import edition, store_of

ALL = Filter()
LOGS = "Audit logs are reviewed every month by an officer who did not write them."
FIRST = edition(
    "2.4 draft",
    ("1", "Logs", LOGS),
    ("2", "Issuance", "A certificate must be issued within 30 days of the verification."),
    ("2.1", "Fees", "There is a fee."),
    (
        "3",
        "Fire",
        "Halls have extinguishers, which the fire brigade inspects in spring and autumn.",
    ),
    year=2019,
)
SECOND = edition(
    "v2.5",
    ("1", "Scope", "This policy is for everyone who holds a badge of the agency."),
    ("2", "Issuance", "A certificate must be issued within 90 days of the verification."),
    ("2.1", "Fees", "There is a fee."),
    ("4", "Logs", LOGS),
    year=2021,
)
STORE = store_of(FIRST, SECOND)


def test_sections_are_classed_counted_and_cited() -> None:
    found = compare(STORE, "Policy", "2.4 draft", "2.5", ALL)

    shown = [
        (s.status, s.older and s.older.number, s.newer and s.newer.number) for s in found.sections
    ]
    assert shown == [
        ("added", None, "1"),
        ("changed", "2", "2"),
        ("unchanged", "2.1", "2.1"),
        ("removed", "3", None),
        ("moved", "1", "4"),
    ]
    assert dict(found.counts) == {
        "changed": 1, "moved": 1, "added": 1, "removed": 1, "unchanged": 1,
    }  # fmt: skip
    changed = found.sections[1]
    assert [(f.older, f.newer) for f in changed.figures] == [("30 days", "90 days")]
    assert changed.older and changed.older.document.edition == "2.4 draft"
    assert (changed.changes[0].older_pages, changed.changes[0].newer_pages) == ((2, 2), (2, 2))


def test_a_section_is_compared_with_what_is_below_it() -> None:
    for name in ("2", "2.", "Section 2", "issuance"):
        found = compare(STORE, "policy", "2019", "current", ALL, name)

        assert [s.newer and s.newer.number for s in found.sections] == ["2", "2.1"]


def test_a_section_that_neither_edition_has_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"Neither 2.4 draft nor v2.5 .* section '9'"):
        compare(STORE, "Policy", "2019", "2021", ALL, "9")


@pytest.mark.parametrize("missing", ["2.3", "2.4", "2020", "3", "", "2.50"])
def test_a_missing_edition_is_never_replaced_by_another(missing: str) -> None:
    with pytest.raises(UsageError) as error:
        compare(STORE, "Policy", missing, "v2.5", ALL)

    assert f"no edition {missing!r}" in str(error.value)
    assert "2.4 draft (2019); v2.5 (2021), current" in str(error.value)


def test_a_missing_series_gets_the_names_of_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"'Policies' .* The series are Policy\."):
        compare(STORE, "Policies", "1", "2", ALL)
    with pytest.raises(UsageError, match="none that you may see"):
        compare(STORE, "Policy", "1", "2", Filter(collection="other"))


def test_an_edition_is_not_compared_with_itself() -> None:
    with pytest.raises(UsageError, match="the same edition"):
        compare(STORE, "Policy", "2.5", "current", ALL)


def test_a_year_with_two_editions_must_be_made_clear() -> None:
    store = store_of(FIRST, SECOND, edition("v2.6", ("1", "Logs", LOGS), year=2021))

    with pytest.raises(UsageError, match=r"several editions .*v2.5 \(2021\); v2.6 \(2021\)"):
        compare(store, "Policy", "2.4 draft", "2021", ALL)


def test_an_edition_for_another_audience_does_not_exist_for_the_caller() -> None:
    secret = edition("2.6", ("1", "Logs", "Nobody knows."), year=2022, audience="staff")
    store = store_of(FIRST, SECOND, secret)

    with pytest.raises(UsageError) as error:
        compare(store, "Policy", "2.5", "2.6", ALL)
    assert "2.6 (" not in str(error.value)
    with pytest.raises(UsageError, match="no edition 'current'"):
        compare(store, "Policy", "2.5", "current", ALL)

    staff = Filter(audiences=("public", "staff"))
    assert compare(store, "Policy", "2.5", "current", staff).newer.name == "2.6"


def test_an_edition_in_several_documents_is_compared_as_one() -> None:
    older = [
        edition("1", ("6", "Logs", LOGS)),
        edition("1 b", ("7", "Fees", "A fee."), edition="1"),
    ]
    newer = edition("2", ("6", "Logs", LOGS), ("7", "Fees", "A fee."))

    found = compare(store_of(*older, newer), "Policy", "1", "2", ALL)

    assert [s.status for s in found.sections] == ["unchanged", "unchanged"]
    assert len({s.older.document.id for s in found.sections if s.older}) == 2


def test_a_heading_that_changed_is_a_change() -> None:
    older = edition("1", ("1", "Request for Suspension", "A form is filled in."))
    newer = edition("2", ("1", "Request for Suspension and Restoration", "A form is filled in."))

    (section,) = compare(store_of(older, newer), "Policy", "1", "2", ALL).sections

    assert (section.status, section.changes) == ("changed", ())
    assert [(run.kind, run.text) for run in section.heading] == [
        ("same", "Request for Suspension"),
        ("inserted", "and Restoration"),
    ]


def test_amounts_without_a_counterpart_are_listed_for_their_section() -> None:
    older = edition("1", ("1", "Codes", "Codes by mail live for 7 days. Others are void at once."))
    newer = edition("2", ("1", "Codes", "Whoever calls gets one for 20 minutes. Ask at the desk."))

    (section,) = compare(store_of(older, newer), "Policy", "1", "2", ALL).sections

    assert section.figures == ()
    assert (section.figures_gone, section.figures_new) == (("7 days",), ("20 minutes",))


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("v2.4", "2.4"), ("Version 2.4", "2.4"), ("Rev. 3", "3"), ("revision 4 Draft", "4 draft"),
        ("r3", "3"), ("2019", "2019"), ("Edition", "edition"), ("victor", "victor"),
    ],
)  # fmt: skip
def test_words_before_an_editions_number_are_no_part_of_its_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain
