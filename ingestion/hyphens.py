"""Decides about hyphens at line ends: part of the word, or put there by the typesetter.

The document itself is asked: a word that it writes in one piece elsewhere was broken, one that it
writes with the hyphen keeps it. Where it says neither, words with another hyphen or a figure in
them ("DTFH61-12-H-00001") keep theirs, and for the rest the document's habit decides.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MARK = "\ufffe"
"""Stands in the text where a hyphen at a line end was."""

_WORD = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_LONGEST = 60
"""Characters on either side that are looked at."""


@dataclass(frozen=True, slots=True)
class _Break:
    """What stands around a mark."""

    before: str
    """The letters right before it."""
    after: str
    """The letters right behind it."""
    rest: str
    """What else belongs to the same string of characters."""


class Vocabulary:
    """How a document writes its words where no line ends inside them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        breaks: list[_Break] = []
        for line in lines:
            self._words.update(word.lower() for word in _WORD.findall(line))
            breaks.extend(broken for _, broken in _breaks(line))
        votes = [keeps for broken in breaks if (keeps := self._evidence(broken)) is not None]
        self._keeps_by_habit = sum(votes) * 2 >= len(votes)

    def mend(self, line: str) -> str:
        """Replace each mark by a hyphen or by nothing."""
        mended: list[str] = []
        start = 0
        for at, broken in _breaks(line):
            keeps = self._evidence(broken)
            hyphen = "-" if (self._keeps_by_habit if keeps is None else keeps) else ""
            mended += [line[start:at], hyphen]
            start = at + 1
        return "".join([*mended, line[start:]])

    def _evidence(self, broken: _Break) -> bool | None:
        """Tell whether the hyphen is part of the word; None where nothing in the text says so."""
        before, after = broken.before.lower(), broken.after.lower()
        if not before or not after or any(c in broken.rest for c in "-_/@"):
            return True
        whole, hyphened = self._words[before + after], self._words[f"{before}-{after}"]
        if whole != hyphened:
            return hyphened > whole
        if broken.after[0].isupper() and broken.before[-1].islower():
            return True
        return None


def _breaks(line: str) -> Iterator[tuple[int, _Break]]:
    at = line.find(MARK)
    while at >= 0:
        left = line[max(0, at - _LONGEST) : at].replace(MARK, "-").rpartition(" ")[2]
        right = line[at + 1 : at + 1 + _LONGEST].replace(MARK, "-").partition(" ")[0]
        tail, head = _letters_at_end(left), _letters_at_start(right)
        rest = left[: len(left) - len(tail)] + right[len(head) :]
        yield at, _Break(tail, head, rest)
        at = line.find(MARK, at + 1)


def _letters_at_end(text: str) -> str:
    at = len(text)
    while at and text[at - 1].isalpha():
        at -= 1
    return text[at:]


def _letters_at_start(text: str) -> str:
    at = 0
    while at < len(text) and text[at].isalpha():
        at += 1
    return text[:at]
