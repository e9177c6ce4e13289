"""Finds abbreviations where documents define them, so that "CA" and "certification authority" meet.

A definition is the long form followed by its initials in brackets, as agencies write it at first
use: a simple case of Schwartz and Hearst, "A simple algorithm for identifying abbreviation
definitions in biomedical text" (2003).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from agents.quotable import folded_words

_SHORT = re.compile(r"(?<=[ \n])\(([A-Z][A-Za-z]{1,7})\)")
_NO_WORD = re.compile(r"[^\w'’ \n-]")  # noqa: RUF001 (a typographic apostrophe)
_LONGEST, _MOST_LETTERS = 8, 200
"""Of a long form: words, and letters to look for them in."""
_CAPITALS = re.compile(r"\b[A-Z]{2,6}(?=s?\b)")
_SMALL = frozenset({"a", "an", "and", "for", "in", "of", "on", "or", "the", "to"})

Abbreviations = Mapping[str, frozenset[str]]
"""The words of the long form by abbreviation, all folded."""


def find_abbreviations(question: str, texts: Sequence[str]) -> Abbreviations:
    """Return the abbreviations that the texts define, and those of words in the question.

    Passages seldom hold the definition themselves. So words that follow each other in the question
    are taken for the long form of their initials, where these stand in the texts in capitals.
    """
    known = [_known(text) for text in texts]
    capitals = frozenset[str]().union(*(words for words, _ in known))
    asked = re.findall(r"[^\W\d_]+", question)
    found = {
        folded_words(initials)[0]: frozenset(folded_words(" ".join(words)))
        for words in _runs(asked)
        if (initials := "".join(word[0] for word in words).upper()) in capitals
    }
    for _, defined in known:
        found |= defined
    return found


@lru_cache(maxsize=2_000)  # passages that answer one question are found for others, too
def _known(text: str) -> tuple[frozenset[str], Abbreviations]:
    """Return what stands in capitals in a text, and the abbreviations that it defines."""
    found: dict[str, frozenset[str]] = {}
    for match in _SHORT.finditer(text):
        before = _NO_WORD.split(text[max(0, match.start() - _MOST_LETTERS) : match.start()])[-1]
        initials = match.group(1).removesuffix("s").upper()
        if long := _long_form(before.split()[-_LONGEST:], initials):
            found[folded_words(match.group(1))[0]] = frozenset(folded_words(long))
    return frozenset(_CAPITALS.findall(text)), found


def _runs(words: list[str]) -> Iterator[list[str]]:
    """Yield each two to five words that follow each other."""
    for length in range(2, 6):
        for start in range(len(words) - length + 1):
            yield words[start : start + length]


def expanded(words: frozenset[str], abbreviations: Abbreviations) -> frozenset[str]:
    """Return the words with the other form of each abbreviation among them."""
    added: set[str] = set()
    for short, long in abbreviations.items():
        if short in words:
            added |= long
        elif long <= words:
            added.add(short)
    return words | added


def _long_form(before: list[str], initials: str) -> str | None:
    """Return the words at the end of `before` that begin with the initials."""
    for start in reversed(range(len(before))):
        tail = before[start:]
        first_letters = [word[0].upper() for word in tail if word.lower() not in _SMALL]
        if "".join(first_letters) == initials and tail[0].lower() not in _SMALL:
            return " ".join(tail)
    return None
