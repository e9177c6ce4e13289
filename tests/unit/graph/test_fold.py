import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.fold import fold

ANY_TEXT = st.text(st.characters(codec=None))
"""Lone surrogates included."""


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ("a\ud83d b", "a b"),
        ("\ud83d\ude00", "\U0001f600"),
        ("F\x0013", "F13"),
        ("\x1f item", " item"),
        ("\x07", ""),
        ("\x0c", "\n"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("\ufb01nal o\ufb03ce \ufb05", "final office st"),
        ("DARPA\u2010BAA\u201115", "DARPA-BAA-15"),
        ("op\u00adtional", "optional"),
        ("September\u00a029,\u202f2015", "September 29, 2015"),
        ("\ufeffmark\ufffe", "mark"),
    ],
)
def test_what_cannot_be_typed_or_stored_is_repaired(broken: str, repaired: str) -> None:
    assert fold(broken) == repaired


def test_accents_quotes_dashes_and_case_stay() -> None:
    text = "Änderung \u201cquoted\u201d \u2013 10\u00b0 \u00a7 8.3 \u2265 5 \U0001f44d a\u0301"

    assert fold(text) == text


@given(ANY_TEXT)
def test_folded_text_can_be_stored_and_holds_no_control_characters(text: str) -> None:
    folded = fold(text)

    folded.encode("utf-8")
    assert not [c for c in folded if unicodedata.category(c) == "Cc" and c not in "\t\n"]


@given(ANY_TEXT)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
