"""Tells text from what a broken font map makes of it.

Fonts without a usable map give glyph numbers in place of letters. They show as rarely used Latin
letters, as characters for private use, as signs, as hyphen marks without end, or as capitals and
figures in which hardly a vowel is left. Others give replacement or control characters.
"""

import re
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
_VOWEL = re.compile("[aeiouy\u00e0-\u00e6\u00e8-\u00ef\u00f2-\u00f6\u00f8-\u00ff\u0153]")
_LATIN = re.compile("[a-z\u00df-\u024f]")
_ODD = re.compile("[\u0100-\u024f\ue000-\uf8ff]")
_NOT_TOLD_BY = str.maketrans("", "", " \t.\u2026_-\u2013\u2014")
"""Spaces, and signs that fill lines of contents lists and forms."""


_BROKEN = re.compile(
    "[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f\ufff0-\uffff]"
    "|\\(cid:\\d+\\)|(?:/[a-zA-Z]{1,5}\\d{1,5}){3}"  # names of glyphs
)
_BULLET = re.compile("^\\s*[\ue000-\uf8ff](?=\\s)", re.MULTILINE)
"""Symbols before the items of a list; nobody misses them."""
_FEWEST_BROKEN, _MOST_BROKEN = 5, 0.03


def broken_characters(text: str) -> int:
    """Count replacement, private and control characters, as an engine gives them.

    U+FFFE, PDFium's mark for a hyphen at a line end, is none of them.
    """
    return len(_BROKEN.findall(_BULLET.sub("", text.replace(MARK, ""))))


def is_broken(text: str) -> bool:
    """Tell whether too many of a page's characters, before any repair, are no characters."""
    return broken_characters(text) > max(_FEWEST_BROKEN, len(text) * _MOST_BROKEN)


def is_garbled(lines: Iterable[str]) -> bool:
    """Tell whether the characters of a page stand for others than they are."""
    text = "".join(lines).lower().translate(_NOT_TOLD_BY)
    if len(text) < _FEWEST:
        return False
    letters = sum(map(str.isalpha, text))
    signs = len(text) - sum(map(str.isalnum, text))
    if text.count(MARK) > len(text) * _MOST_MARKS or signs > len(text) * _MOST_SIGNS:
        return True
    if letters < _FEWEST:
        return False
    latin, vowels = len(_LATIN.findall(text)), len(_VOWEL.findall(text))
    few_vowels = latin > letters / 2 and vowels < latin * _FEWEST_VOWELS
    return few_vowels or len(_ODD.findall(text)) > letters * _MOST_ODD
