import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model import Candidate, Passage
from router.evidence_words import found_words, word_features


def candidate(text: str, heading: str = "", title: str = "") -> Candidate:
    passage = Passage(
        chunk_id=text[:20],
        text=text,
        heading=heading,
        document_id="d",
        document=title,
        uri="d.txt",
        section_id="s",
        section_number=None,
        section="",
        page_start=None,
        page_end=None,
        scope="default",
        series=None,
        edition=None,
        year=None,
        is_current=True,
    )
    return Candidate(passage, {})


def test_words_are_found_with_an_ending_and_not_inside_another_word() -> None:
    texts = ("Inspections were made.", "A reinspection was made.", "inspectorates")

    found = found_words("inspecting", [candidate(text) for text in texts])

    assert found.texts[:, 0].tolist() == [True, False, False]


def test_each_text_has_its_own_words_headings_and_titles() -> None:
    first = candidate("the bridge", heading="culvert", title="tunnel")
    second = candidate("the tunnel", heading="bridge")

    found = found_words("bridge culvert tunnel", [first, second])

    assert found.texts.tolist() == [[True, False, False], [False, False, True]]
    assert found.headings.tolist() == [[False, True, False], [True, False, False]]
    assert found.titles.tolist() == [[False, False, True], [False, False, False]]


def test_a_letter_that_grows_in_lower_case_does_not_shift_the_texts() -> None:
    found = found_words("bridge", [candidate("İİİİİİİİİİ bridge"), candidate("road")])

    assert found.texts.tolist() == [[True], [False]]


def test_words_stand_together_within_a_sentence_and_not_across_texts() -> None:
    near = candidate("bridge of the tunnel")
    far = candidate("bridge" + " and so on" * 30 + " tunnel")
    end, begin = candidate("at the bridge"), candidate("tunnel ahead")
    candidates = [near, far, end, begin]

    columns = word_features(found_words("bridge tunnel", candidates), candidates)

    together, pairs = columns[6], columns[5]
    assert together[0] == pytest.approx(1)
    assert all(together[1:] < 1)
    assert pairs.tolist() == [1, 0, 0, 0]


def test_figures_are_counted_for_each_text() -> None:
    found = found_words("rate", [candidate("12 of 345"), candidate("none"), candidate("7")])

    assert found.figures.tolist() == [5, 0, 1]


@given(st.lists(st.text(max_size=60), min_size=1, max_size=6), st.text(min_size=1, max_size=40))
def test_any_texts_give_finite_features(texts: list[str], question: str) -> None:
    candidates = [candidate(text) for text in texts]

    columns = word_features(found_words(question, candidates), candidates)

    assert all(np.isfinite(column).all() and len(column) == len(texts) for column in columns)
