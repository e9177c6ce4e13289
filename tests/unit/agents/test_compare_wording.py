"""Changes of wording and of figures between two texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.sentences import one_line, strip_marker
from agents.wording import FigureChange, Run, compare_texts, missing_amounts, same_words


def runs(older: str, newer: str) -> list[list[tuple[str, str]]]:
    return [[(r.kind, r.text) for r in change.runs] for change in compare_texts(older, newer)]


def figures(older: str, newer: str) -> list[tuple[str, str]]:
    return [(f.older, f.newer) for c in compare_texts(older, newer) for f in c.figures]


def test_a_changed_word_is_shown_in_its_sentence() -> None:
    older = "Logs are kept. Certificates must be issued within 30 days of verification."
    newer = "Logs are kept. Certificates must be issued within 90 days of verification."

    (change,) = compare_texts(older, newer)

    assert change.runs == (
        Run("same", "Certificates must be issued within"),
        Run("deleted", "30"),
        Run("inserted", "90"),
        Run("same", "days of verification."),
    )
    assert change.figures == (FigureChange("30 days", "90 days"),)
    assert older[slice(*change.older or ())] == newer[slice(*change.newer or ())].replace("9", "3")


def test_layout_typography_and_punctuation_are_no_changes() -> None:
    older = "The CA's logs - all of\nthem - are kept, and reviewed."
    newer = "The CA’s logs – all of them – are kept and reviewed;"  # noqa: RUF001

    assert compare_texts(older, newer) == []
    assert same_words(older, newer)


def test_must_in_capitals_is_another_word() -> None:
    assert runs("Keys must be safe.", "Keys MUST be safe.") == [
        [("same", "Keys"), ("deleted", "must"), ("inserted", "MUST"), ("same", "be safe.")]
    ]


def test_a_sentence_that_only_changed_places_is_no_change() -> None:
    assert compare_texts("Logs are kept. Keys are safe.", "Keys are safe. Logs are kept.") == []


def test_sentences_that_are_new_or_gone_stand_where_they_were() -> None:
    older = "Logs are kept. Nobody enters at night. Keys are safe."
    newer = "Logs are kept. Keys are safe. Halls have many windows."

    assert runs(older, newer) == [
        [("deleted", "Nobody enters at night.")],
        [("inserted", "Halls have many windows.")],
    ]


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("Keep it for three years.", "Keep it for 3 years.", []),
        ("It runs for six (6) hours.", "It runs for 12 hours.", [("6 hours", "12 hours")]),
        ("Pay $1,000 to them now.", "Pay $1,500 to them now.", [("$1,000", "$1,500")]),
        ("It is up 99% of the time.", "It is up 99.5 percent of the time.", [("99%", "99.5%")]),
        ("Use a 128-bit key for this.", "Use a 256-bit key for this.", [("128 bits", "256 bits")]),
        ("Check it after one day.", "Check it after one week.", [("one day", "one week")]),
        ("See Section 3.2 for this.", "See Section 4.1 for this.", []),
    ],
)  # fmt: skip
def test_amounts_are_paired_by_what_they_measure(
    older: str, newer: str, expected: list[tuple[str, str]]
) -> None:
    assert [(a, b.replace(" percent", "%")) for a, b in figures(older, newer)] == expected


def test_amounts_of_different_kinds_do_not_replace_each_other() -> None:
    older, newer = "It may cost $5 or take a while.", "It may cost money or take 5 days a while."

    assert figures(older, newer) == []
    assert missing_amounts(older, newer) == ("$5",)
    assert missing_amounts(newer, older) == ("5 days",)


_TEXT = st.text(alphabet="ab 1%.\n-—(", max_size=80)


@given(_TEXT, _TEXT)
def test_runs_read_as_either_sentence(older: str, newer: str) -> None:
    for change in compare_texts(older, newer):
        for kind, text, place in (
            ("inserted", older, change.older),
            ("deleted", newer, change.newer),
        ):
            kept = " ".join(run.text for run in change.runs if run.kind != kind)
            said = strip_marker(one_line(text[slice(*place)])) if place else ""
            assert [c for c in kept if c in "ab1%"] == [c for c in said if c in "ab1%"]


@given(_TEXT)
def test_nothing_differs_from_itself(text: str) -> None:
    assert compare_texts(text, text) == []
