"""What really changed between editions of the samples, from the command line."""

import json
from typing import Any

import pytest

from tests.e2e.conftest import Run

pytestmark = pytest.mark.neo4j


def compared(run: Run, *arguments: str) -> Any:
    done = run("compare", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def section(comparison: Any, title: str) -> Any:
    return next(
        one
        for one in comparison["sections"]
        if one["older"] and one["older"]["section"]["title"] == title
    )


@pytest.fixture(scope="module")
def policy(samples: Run) -> Any:
    return compared(samples, "Common Policy", "1.31", "current")


def test_thirty_days_became_ninety(policy: Any) -> None:
    (found,) = [one for one in policy["figures"] if one["older"] == "30 days"]

    assert found["newer"] == "90 days"
    assert found["runs"] == [
        {"kind": "same", "text": "Certificate applications must be processed and a certificate "
         "issued within"},
        {"kind": "deleted", "text": "30"},
        {"kind": "inserted", "text": "90"},
        {"kind": "same", "text": "days of identity verification."},
    ]  # fmt: skip
    older, newer = found["older_place"], found["newer_place"]
    assert (older["document"]["edition"], older["section"]["number"]) == ("1.31", "4.2.3")
    assert (newer["document"]["edition"], newer["section"]["number"]) == ("2.8", "4.2.3")
    assert (older["pages"], newer["pages"]) == ([45, 45], [44, 44])


def test_nine_years_became_twelve(policy: Any) -> None:
    pairs = [(one["older"], one["newer"]) for one in policy["figures"]]

    assert pairs == [("nine years", "twelve years"), ("30 days", "90 days")]


def test_sections_that_moved_are_found(policy: Any) -> None:
    moved = {
        one["older"]["section"]["number"]: one["newer"]["section"]["number"]
        for one in policy["sections"]
        if one["status"] == "moved"
    }

    assert moved["1.3.4"] == "1.3.6"  # Subscribers
    assert moved["9.6.2"] == "9.6.2.1"  # RA Representations and Warranties, now RA Obligations
    assert moved["12"] == "Appendix D"  # Glossary


def test_sections_that_are_new_or_gone_have_one_side(policy: Any) -> None:
    titles: dict[str, set[str]] = {"added": set(), "removed": set()}
    for one in policy["sections"]:
        if one["status"] in titles:
            side = one["newer"] or one["older"]
            titles[one["status"]].add(side["section"]["title"])

    assert "Key Escrow Database" in titles["added"]
    assert "Code Signing Certificates" in titles["removed"]


def test_every_section_of_both_editions_is_accounted_for(policy: Any, samples: Run) -> None:
    for side, edition in (("older", "1.31"), ("newer", "2.8")):
        ids = [one[side]["section"]["id"] for one in policy["sections"] if one[side]]
        assert len(ids) == len(set(ids)) > 300
        assert {one[side]["document"]["edition"] for one in policy["sections"] if one[side]} == {
            edition
        }
    assert sum(policy["counts"].values()) == len(policy["sections"])


def test_a_revision_without_section_numbers_is_aligned_by_titles_and_text(samples: Run) -> None:
    found = compared(samples, "sp 800-63b", "revision 3", "4 draft")

    recovery = section(found, "Replacement of a Lost Authentication Factor")
    assert recovery["newer"]["section"]["title"] == "Account Recovery"
    (lone,) = [one for one in found["lone_figures"] if one["newer"] == recovery["newer"]]
    assert (lone["only_older"], lone["only_newer"]) == (["7 days"], ["30 days", "24 hours"])
    assert section(found, "Expiration")["status"] == "unchanged"
    (gone,) = [one for one in found["sections"] if one["status"] == "removed"]
    assert gone["older"]["section"]["title"] == "Randomly-Chosen Secrets"
    assert found["counts"]["moved"] == 0


def test_figures_come_first_and_long_parts_are_cut(samples: Run) -> None:
    shown = samples("compare", "Common Policy", "v1.31", "v2.8").stdout
    whole = samples("compare", "Common Policy", "v1.31", "v2.8", "--all").stdout

    assert shown.index("30 days -> 90 days") < shown.index("Changed (")
    assert "within [-30-] {+90+} days of identity verification." in shown
    assert "1.31: 4.2.3 Time to Process Certificate Applications, p. 45" in shown
    assert "more sections: --all" in shown
    assert "--all" not in whole
    assert len(whole) > 3 * len(shown)


def test_one_section_can_be_compared(samples: Run) -> None:
    found = compared(samples, "Common Policy", "2019", "2.8", "--section", "4.2")

    numbers = [one["newer"]["section"]["number"] for one in found["sections"]]
    assert numbers == ["4.2", "4.2.1", "4.2.2", "4.2.3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Common Policy", "1.32", "2.8"), "1.31 (2019); 2.0 (2020); 2.4 (2023); 2.8 (2024)"),
        (("Common Policy", "2.8", "current"), "the same edition"),
        (("SP 800-63B", "3", "4"), "4 draft (2022), current"),
        (("Uncommon Policy", "1", "2"), "Common Policy; FPKI Overview"),
        (("Common Policy", "1.31", "2.8", "--section", "99"), "section '99'"),
        (("Common Policy", "1.31", "2.8", "-C", "other"), "collection 'other'"),
    ],
)
def test_what_does_not_exist_is_named_and_nothing_is_compared(
    samples: Run, arguments: tuple[str, ...], message: str
) -> None:
    done = samples("compare", *arguments)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
