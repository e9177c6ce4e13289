import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.bm25 import Bm25


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    index = Bm25(["bridge rail", "bridge post", "bridge deck", "pension rule", "tax rule"])

    scores = index.scores("bridge rail")

    assert np.argsort(-scores).tolist()[:1] == [0]
    assert scores[3] == scores[4] == 0


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["?!"]])
def test_texts_without_words_match_nothing(texts: list[str]) -> None:
    assert Bm25(texts).scores("bridge").tolist() == [0.0] * len(texts)


def test_unknown_words_find_nothing() -> None:
    assert Bm25(["a b", "c d"]).scores("zz").tolist() == [0, 0]


@pytest.mark.parametrize(
    "texts", [["a x", "a y", "b", "c"], ["a"], ["a", "a b"], ["a x", "a y", "a z"]]
)
def test_a_word_that_most_texts_have_still_puts_them_above_the_others(texts: list[str]) -> None:
    scores = Bm25(texts).scores("a")

    with_word = [score for text, score in zip(texts, scores, strict=True) if "a" in text.split()]
    without = [score for text, score in zip(texts, scores, strict=True) if "a" not in text.split()]
    assert min(with_word) > max(without, default=0)


@given(
    st.lists(st.text(alphabet="ab c", max_size=8), max_size=6), st.text(alphabet="abc ", max_size=8)
)
def test_a_text_scores_exactly_when_it_shares_a_word(texts: list[str], question: str) -> None:
    scores = Bm25(texts).scores(question)

    shares = [bool(set(text.split()) & set(question.split())) for text in texts]
    assert (scores > 0).tolist() == shares
