"""Which words of the question a candidate holds, where, and how close together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.fold import fold
from graph.model import Candidate

Floats = NDArray[np.float32]

WORD_FEATURES = (
    "words: coverage", "words: coverage - best", "words: in the heading", "words: share",
    "words: in the title", "words: pairs", "words: together", "words: together - best",
    "length", "length, standardised", "figures", "question: length", "question: for a number",
    "question: for a time", "question: for a person",
)  # fmt: skip

MOST_WORDS = 24
"""Of a question; those behind are left out."""

WINDOW = 120
"""Characters within which words stand together: a sentence or so."""

_WORD = re.compile(r"\w+")
_ENDING = re.compile(r"(?:ings?|edly|ed|ies|es|s|ly|ion|ions|ment|ments)$")
_BETWEEN = "\n"
"""Between texts that are searched as one: no word goes on behind it."""
_WITH_ENDING = 3
"""Letters of a word that may have an ending."""
_ZERO, _NINE = ord("0"), ord("9")
_PAIR_GAP = 8
"""Characters between two words that are neighbours, so that "of the" may stand there."""
_ASKED = (
    re.compile(r"\bhow (?:many|much|long|often)\b|\bnumber of\b|\bpercent|\brate\b", re.IGNORECASE),
    re.compile(r"\bwhen\b|\bwhat (?:year|date|time)\b|\bhow soon\b", re.IGNORECASE),
    re.compile(r"\bwhom?\b|\bwhose\b", re.IGNORECASE),
)
_EMPTY_WORDS = (
    "a about all an and any are as at be been but by can could did do does for from had has have "
    "how i if in into is it its may me must my no not of on or our should such than that the their "
    "then there these they this to us was we were what when where which who why will with would "
    "you your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())


@dataclass(frozen=True, slots=True)
class Matches:
    """Which of the question's words, in columns, each candidate holds, in rows."""

    texts: NDArray[np.bool_]
    """In the text, (n, words)."""
    headings: NDArray[np.bool_]
    titles: NDArray[np.bool_]
    """In the title of the document."""
    rows: NDArray[np.int64]
    """Of each match in a text, in the order of the texts: the candidate, (matches,)."""
    words: NDArray[np.int64]
    """Which word, (matches,)."""
    starts: NDArray[np.int64]
    """Where, counted over all texts, (matches,)."""
    ends: NDArray[np.int64]
    figures: NDArray[np.int64]
    """Digits in each text, (n,)."""
    question: str

    @property
    def anywhere(self) -> NDArray[np.bool_]:
        """Return what is in text or heading, (n, words)."""
        return self.texts | self.headings


def found_words(question: str, candidates: Sequence[Candidate]) -> Matches:
    """Look for the question's words in every candidate, whatever their ending.

    All texts are searched as one, which takes a fifth of the time of one after the other.
    """
    words = list(dict.fromkeys(_stem(word) for word in _words(question)))[:MOST_WORDS]
    passages = [one.passage for one in candidates]
    parts = [
        *(one.text for one in passages),
        *(one.heading for one in passages),
        *(one.document for one in passages),
    ]
    whole = _BETWEEN.join(parts).lower()
    lengths = list(map(len, parts))
    if len(whole) != sum(lengths) + len(parts) - 1:  # "İ" is two characters in lower case
        lengths = [len(part.lower()) for part in parts]
    first = np.cumsum([0, *(length + 1 for length in lengths)])
    found = _occurrences(words, whole)
    places = np.searchsorted(first, found[:, 0], side="right") - 1
    n = len(candidates)
    held = np.zeros((3 * n, len(words)), bool)
    held[places, found[:, 2]] = True
    inside = found[: np.count_nonzero(places < n)]  # the texts stand first, in order
    starts, ends, word = inside.T
    rows = places[: len(inside)]
    figures = _digits(whole[: first[n]], first[: n + 1])
    return Matches(
        held[:n], held[n : 2 * n], held[2 * n :], rows, word, starts, ends, figures, question
    )


def word_features(matches: Matches, candidates: Sequence[Candidate]) -> list[NDArray[Any]]:
    """Return the columns `WORD_FEATURES`, each (n,)."""
    held = matches.anywhere
    weights = idf_shares(held)
    coverage = held.astype(np.float32) @ weights
    together = _together(matches, weights)
    lengths = np.array([len(one.passage.text) for one in candidates], np.float32)
    n = len(candidates)
    constants = [held.shape[1] / MOST_WORDS, *(bool(p.search(matches.question)) for p in _ASKED)]
    return [
        coverage,
        coverage - coverage.max(initial=0),
        matches.headings.astype(np.float32) @ weights,
        held.mean(axis=1) if held.shape[1] else np.zeros(n, np.float32),
        matches.titles.astype(np.float32) @ weights,
        _pairs(matches),
        together,
        together - together.max(initial=0),
        np.log1p(lengths) / 10,
        (lengths - lengths.mean()) / (lengths.std() + 1),
        matches.figures / (lengths + 1),
        *(np.full(n, value, np.float32) for value in constants),
    ]


def idf_shares(held: NDArray[np.bool_]) -> Floats:
    """Return what each word weighs, summing to 1: the fewer rows hold it, the more (BM25's idf).

    Args:
        held: Shape (rows, words).
    """
    having = held.sum(axis=0)
    idf = np.log1p((len(held) - having + 0.5) / (having + 0.5)) + 0.05
    return (idf / max(float(idf.sum()), 1e-6)).astype(np.float32)


def _words(text: str) -> list[str]:
    words = _WORD.findall(fold(text).lower())
    return [word for word in words if word not in _EMPTY] or words


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word)
    return stem if len(stem) >= _WITH_ENDING else word


def _occurrences(words: Sequence[str], whole: str) -> NDArray[np.int64]:
    """Return start, end and number of each word found, (matches, 3), in the order of the text.

    A word of three letters or more is found with an ending of up to four.
    """
    found: dict[int, tuple[int, int, int]] = {}
    for number, word in enumerate(words):
        # A pattern that begins with letters is looked for as fast as these letters alone are;
        # with the border of a word before them it takes ten times as long.
        ending = r"\w{0,4}\b" if len(word) >= _WITH_ENDING else r"\b"
        for one in re.finditer(re.escape(word) + ending, whole):
            start = one.start()
            before = whole[start - 1] if start else " "
            if not (before.isalnum() or before == "_"):
                found.setdefault(start, (start, one.end(), number))  # the first word has it
    return np.array([found[start] for start in sorted(found)], np.int64).reshape(-1, 3)


def _digits(whole: str, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many digits, 0 to 9, each text has, (n,), given where texts begin."""
    codes = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)
    before = np.concatenate([[0], np.cumsum((codes >= _ZERO) & (codes <= _NINE))])
    return np.diff(before[np.minimum(first, len(codes))])


def _together(matches: Matches, weights: Floats) -> Floats:
    """Return the most that the words within any `WINDOW` weigh together, (n,), in [0, 1]."""
    count, n = len(matches.rows), len(matches.texts)
    near = np.zeros(
        (count, len(weights)), np.float32
    )  # words that stand near each match, from it on
    for step in range(min(MOST_WORDS, count)):
        here, there = slice(0, count - step), slice(step, count)
        is_near = (matches.rows[here] == matches.rows[there]) & (
            matches.starts[there] - matches.starts[here] <= WINDOW
        )
        if not is_near.any():
            break
        at = np.flatnonzero(is_near)
        near[at, matches.words[there][at]] = 1
    best = np.zeros(n, np.float32)
    np.maximum.at(best, matches.rows, near @ weights)
    return best


def _pairs(matches: Matches) -> Floats:
    """Return the share of the question's neighbouring words that are neighbours here, (n,)."""
    n, words = matches.texts.shape
    rows, word, ends = matches.rows[:-1], matches.words, matches.ends[:-1]
    is_pair = (
        (rows == matches.rows[1:])
        & (word[1:] == word[:-1] + 1)
        & (matches.starts[1:] - ends <= _PAIR_GAP)
    )
    pairs = np.zeros((n, words), bool)
    pairs[rows[is_pair], word[:-1][is_pair]] = True
    return (pairs.sum(axis=1) / max(words - 1, 1)).astype(np.float32)
