"""Which words of the question a candidate holds, where, and how close together."""

import itertools
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
_FIGURES = re.compile(r"\d+")
_ENDING = re.compile(r"(?:ings?|edly|ed|ies|es|s|ly|ion|ions|ment|ments)$")
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
    places: tuple[tuple[tuple[int, int, int], ...], ...]
    """For each candidate, the matches in its text: word, start, end."""
    question: str

    @property
    def anywhere(self) -> NDArray[np.bool_]:
        """Return what is in text or heading, (n, words)."""
        return self.texts | self.headings


def found_words(question: str, candidates: Sequence[Candidate]) -> Matches:
    """Look for the question's words in every candidate, whatever their ending."""
    words = list(dict.fromkeys(_stem(word) for word in _words(question)))[:MOST_WORDS]
    shape = (len(candidates), len(words))
    texts, headings, titles = (np.zeros(shape, bool) for _ in range(3))
    places: list[tuple[tuple[int, int, int], ...]] = []
    pattern = _pattern(words)
    for row, candidate in enumerate(candidates):
        passage = candidate.passage
        places.append(tuple(_matches(pattern, passage.text)))
        texts[row, [word for word, _, _ in places[-1]]] = True
        headings[row, [word for word, _, _ in _matches(pattern, passage.heading)]] = True
        titles[row, [word for word, _, _ in _matches(pattern, passage.document)]] = True
    return Matches(texts, headings, titles, tuple(places), question)


def word_features(matches: Matches, candidates: Sequence[Candidate]) -> list[NDArray[Any]]:
    """Return the columns `WORD_FEATURES`, each (n,)."""
    held = matches.anywhere
    weights = idf_shares(held)
    coverage = held @ weights
    together = np.array([_together(found, weights) for found in matches.places], np.float32)
    lengths = np.array([len(one.passage.text) for one in candidates], np.float32)
    figures = [sum(map(len, _FIGURES.findall(one.passage.text))) for one in candidates]
    n = len(candidates)
    constants = [held.shape[1] / MOST_WORDS, *(bool(p.search(matches.question)) for p in _ASKED)]
    return [
        coverage,
        coverage - coverage.max(initial=0),
        matches.headings @ weights,
        held.mean(axis=1) if held.shape[1] else np.zeros(n, np.float32),
        matches.titles @ weights,
        np.array([_pairs(found, held.shape[1]) for found in matches.places], np.float32),
        together,
        together - together.max(initial=0),
        np.log1p(lengths) / 10,
        (lengths - lengths.mean()) / (lengths.std() + 1),
        np.array(figures, np.float32) / (lengths + 1),
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
    return stem if len(stem) >= 3 else word


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern whose group n + 1 matches word n with an ending of up to four letters."""
    if not words:
        return None
    ended = [rf"({re.escape(word)})" + (r"\w{0,4}" if len(word) >= 3 else "") for word in words]
    return re.compile(rf"\b(?:{'|'.join(ended)})\b", re.IGNORECASE)


def _matches(pattern: re.Pattern[str] | None, text: str) -> list[tuple[int, int, int]]:
    if pattern is None:
        return []
    return [((found.lastindex or 1) - 1, *found.span()) for found in pattern.finditer(text)]


def _together(found: Sequence[tuple[int, int, int]], weights: Floats) -> float:
    """Return the most that the words within any `WINDOW` weigh together, in [0, 1]."""
    best = 0.0
    for at, (_, start, _) in enumerate(found):
        near = {word for word, begin, _ in found[at : at + MOST_WORDS] if begin - start <= WINDOW}
        best = max(best, sum(float(weights[word]) for word in near))
    return best


def _pairs(found: Sequence[tuple[int, int, int]], words: int) -> float:
    """Return the share of the question's neighbouring words that are neighbours here, in [0, 1]."""
    pairs = {
        first
        for (first, _, end), (second, start, _) in itertools.pairwise(found)
        if second == first + 1 and start - end <= _PAIR_GAP
    }
    return len(pairs) / max(words - 1, 1)
