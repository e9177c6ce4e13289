"""Shows what changed between two wordings of a text: by sentence, by word, in its figures.

Words count as the same whatever line breaks, punctuation and typography are around them: those
change with every layout of a document. Case counts: "MUST" is not "must".
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from agents.figures import Figure, figures_in_claim, figures_in_source
from agents.sentences import Sentence, split_sentences, strip_marker

_ALIKE = 0.5
"""Share of words in common (Dice) from which one sentence is a revision of another."""
_COMMON = 30
"""Sentences that may have a word before it is left out of the search for similar ones."""
_EDGES = re.compile(r"^\W+|\W+$")
_TYPOGRAPHY = str.maketrans("‘’‛“”„‐‑‒–—−", "'''\"\"\"------")  # noqa: RUF001
_SAID_TWICE = re.compile(r"\b([A-Za-z]+(?:[ -][A-Za-z]+)?) ?\((\d+)\)")
"""As in "six (6) hours"."""
_BITS = re.compile(r"(?<=\d)[ -]bit\b")

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("share", r"%|percent|per\s?cent\b|pct\b"),
        ("money", r"[$€£]|(?:dollars|cents)$"),
        ("time", r"(?:second|minute|hour|day|week|month|year)s?$"),
        ("size", r"(?:bits|bytes|characters)$"),
        ("length", r"(?:feet|miles)$"),
    )
)

Kind = Literal["same", "deleted", "inserted"]


@dataclass(frozen=True, slots=True)
class Run:
    """Words that follow each other and share a fate."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class FigureChange:
    """An amount in place of another one of the same kind, in a sentence that was revised."""

    older: str
    """With its unit, in lower case."""
    newer: str


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence that was revised, added or taken out."""

    runs: tuple[Run, ...]
    """Read in order, without the inserted ones they are the older sentence, without the deleted
    ones the newer; both without the bullet or number of a list item."""
    older: tuple[int, int] | None
    """Where it stands in the older text, [start, end); None for a sentence that is new."""
    newer: tuple[int, int] | None
    """The same in the newer text; None for a sentence that is gone."""
    figures: tuple[FigureChange, ...]
    """Empty for a sentence that is new or gone."""


def compare_texts(older: str, newer: str) -> list[Change]:
    """Return the sentences that differ, in the newer text's order, gone ones where they stood.

    Sentences that only changed places are not changes.
    """
    return [] if same_words(older, newer) else _Comparison(older, newer).changes()


def compare_lines(older: str, newer: str) -> tuple[Run, ...]:
    """Return the runs of words between two short texts, such as headings."""
    return _runs(older.split(), newer.split())


def same_words(older: str, newer: str) -> bool:
    """Tell whether two texts have the same words in the same order."""
    return _keys(older.split()) == _keys(newer.split())


class _Comparison:
    """The sentences of two texts, and which of them belong together."""

    def __init__(self, older: str, newer: str) -> None:
        self.older = [s for s in split_sentences(older) if _keys(_words(s))]
        self.newer = [s for s in split_sentences(newer) if _keys(_words(s))]
        self._keys = (
            [_keys(_words(sentence)) for sentence in self.older],
            [_keys(_words(sentence)) for sentence in self.newer],
        )

    def changes(self) -> list[Change]:
        gone, new, place = self._unequal()
        pairs = self._pair(gone, new)
        revised = set(pairs.values())
        found = [(j, 1, i, self._revised(i, j)) for i, j in pairs.items()]
        found += [(place[i], 0, i, self._gone(i)) for i in gone if i not in pairs]
        found += [(j, 1, 0, self._new(j)) for j in new if j not in revised]
        return [change for *_, change in sorted(found, key=lambda entry: entry[:3])]

    def _unequal(self) -> tuple[list[int], list[int], dict[int, int]]:
        """Return the sentences without an equal, and where in the newer text the gone ones were."""
        old_keys, new_keys = self._keys
        place: dict[int, int] = {}
        gone: list[int] = []
        new: list[int] = []
        matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "equal":
                gone += range(i1, i2)
                new += range(j1, j2)
                place |= dict.fromkeys(range(i1, i2), j1)
        elsewhere = Counter(old_keys[i] for i in gone) & Counter(new_keys[j] for j in new)
        gone = _without(gone, lambda i: old_keys[i], elsewhere)
        new = _without(new, lambda j: new_keys[j], elsewhere)
        return gone, new, place

    def _pair(self, gone: Sequence[int], new: Sequence[int]) -> dict[int, int]:
        """Return, by gone sentence, the new one that revises it; the most alike first."""
        old_words = {i: Counter(key.lower() for key in self._keys[0][i]) for i in gone}
        new_words = {j: Counter(key.lower() for key in self._keys[1][j]) for j in new}
        places: dict[str, list[int]] = {}
        for j, words in new_words.items():
            for word in words:
                places.setdefault(word, []).append(j)
        candidates: list[tuple[float, int, int]] = []
        for i, words in old_words.items():
            shared = {j for w in words if len(at := places.get(w, ())) <= _COMMON for j in at}
            for j in shared:
                both, all_words = words & new_words[j], words.total() + new_words[j].total()
                if 2 * both.total() >= _ALIKE * all_words:
                    candidates.append((-both.total() / all_words, i, j))
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for _, i, j in sorted(candidates):
            if i not in pairs and j not in taken:
                pairs[i] = j
                taken.add(j)
        return pairs

    def _revised(self, i: int, j: int) -> Change:
        old, new = self.older[i], self.newer[j]
        figures = tuple(_figure_changes(old.text, new.text))
        runs = _runs(_words(old), _words(new))
        return Change(runs, (old.start, old.end), (new.start, new.end), figures)

    def _gone(self, i: int) -> Change:
        sentence = self.older[i]
        run = Run("deleted", " ".join(_words(sentence)))
        return Change((run,), (sentence.start, sentence.end), None, ())

    def _new(self, j: int) -> Change:
        sentence = self.newer[j]
        run = Run("inserted", " ".join(_words(sentence)))
        return Change((run,), None, (sentence.start, sentence.end), ())


def _without(
    places: Sequence[int], key: Callable[[int], tuple[str, ...]], counts: Counter[tuple[str, ...]]
) -> list[int]:
    """Return the places but for so many of each key."""
    left = Counter(counts)
    kept: list[int] = []
    for place in places:
        if left[key(place)]:
            left[key(place)] -= 1
        else:
            kept.append(place)
    return kept


def _words(sentence: Sentence) -> list[str]:
    return strip_marker(sentence.text).split()


def _keys(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for word in words if (key := _key(word)))


def _key(word: str) -> str:
    folded = unicodedata.normalize("NFKC", word).translate(_TYPOGRAPHY)
    # What a number is of stands at its edges: 5% and $5 are not 5.
    return folded if re.search(r"[%$€£]", folded) else _EDGES.sub("", folded)


def _runs(older: Sequence[str], newer: Sequence[str]) -> tuple[Run, ...]:
    older, newer = _glued(older), _glued(newer)
    old_keys, new_keys = [_key(word) for word in older], [_key(word) for word in newer]
    runs: list[Run] = []
    matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            runs.append(Run("same", " ".join(newer[j1:j2])))
            continue
        if i2 > i1:
            runs.append(Run("deleted", " ".join(older[i1:i2])))
        if j2 > j1:
            runs.append(Run("inserted", " ".join(newer[j1:j2])))
    return tuple(runs)


def _glued(words: Sequence[str]) -> list[str]:
    """Hang what is only punctuation, such as a dash, on the word before it."""
    glued: list[str] = []
    for word in words:
        if glued and not _key(word):
            glued[-1] += f" {word}"
        else:
            glued.append(word)
    return glued


def missing_amounts(text: str, other: str) -> tuple[str, ...]:
    """Return the numbers with units that a text states and the other does not, each once."""
    stated = {_value(figure) for figure in _amounts(other)}
    missing = {_value(f): f.written for f in _amounts(text) if _value(f) not in stated}
    return tuple(missing.values())


def _figure_changes(older: str, newer: str) -> list[FigureChange]:
    """Pair by kind, in order, the amounts that only one of two sentences states."""
    gone, new = missing_amounts(older, newer), missing_amounts(newer, older)
    return [
        FigureChange(before, after)
        for kind in dict.fromkeys(map(_kind, gone))
        for before, after in zip(
            (amount for amount in gone if _kind(amount) == kind),
            (amount for amount in new if _kind(amount) == kind),
            strict=False,  # what is left over has no counterpart
        )
    ]


def _amounts(text: str) -> list[Figure]:
    """Return the numbers with units."""

    def once(match: re.Match[str]) -> str:
        is_number = match.group(2) in figures_in_source(match.group(1))
        return match.group(2) if is_number else match.group()

    plain = _BITS.sub(" bits", _SAID_TWICE.sub(once, text))
    return [figure for figure in figures_in_claim(plain) if figure.measures]


def _value(figure: Figure) -> tuple[str, str]:
    """Return number and unit: 1 day is neither 1 hour nor 2 days, but "one day"."""
    unit = re.search(r"[a-z%]+$", figure.written)
    return figure.normal, unit.group().rstrip("s") if unit else ""


def _kind(amount: str) -> str:
    return next((kind for kind, unit in _KINDS if unit.search(amount)), "number")
