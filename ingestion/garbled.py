"""Tells text from what a broken font map makes of it.

Fonts without a usable map give glyph numbers in place of letters. They show as rarely used Latin
letters, as characters for private use, as signs, as hyphen marks without end, or as capitals and
figures in which hardly a vowel is left.
"""

from collections.abc import Iterable

from ingestion.hyphens import MARK

_FEWEST = 100
"""Characters below which nothing can be told."""
_MOST_ODD = 0.3
"""Share of letters from rare blocks; Vietnamese, the richest in them, has about a quarter."""
_FEWEST_VOWELS = 0.22
"""Of 6,662 pages of agency documents the readable ones have .27 or more, at most .26 the others."""
_MOST_SIGNS = 0.6
_MOST_MARKS = 0.2
_VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ")
_LEADERS = frozenset(".\u2026_-\u2013\u2014")
"""Signs that fill lines of contents lists and forms."""


def is_garbled(lines: Iterable[str]) -> bool:
    """Tell whether the characters of a page stand for others than they are."""
    visible = [c for line in lines for c in line.lower() if not c.isspace() and c not in _LEADERS]
    if len(visible) < _FEWEST:
        return False
    letters = [c for c in visible if c.isalpha()]
    signs = sum(not c.isalnum() for c in visible)
    if visible.count(MARK) > len(visible) * _MOST_MARKS or signs > len(visible) * _MOST_SIGNS:
        return True
    if len(letters) < _FEWEST:
        return False
    odd = sum(map(_is_odd, visible))
    latin = [c for c in letters if c < "\u0250"]
    vowels = sum(c in _VOWELS for c in latin)
    few_vowels = len(latin) > len(letters) / 2 and vowels < len(latin) * _FEWEST_VOWELS
    return odd > len(letters) * _MOST_ODD or few_vowels


def _is_odd(character: str) -> bool:
    return "\u0100" <= character <= "\u024f" or "\ue000" <= character <= "\uf8ff"
