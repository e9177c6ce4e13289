"""Tells text from what a broken font map makes of it."""

from collections.abc import Iterable

_FEWEST_LETTERS = 40
_MOST_ODD = 0.3
"""Share of letters from the blocks below; Vietnamese, the richest in them, has about a quarter."""


def is_garbled(lines: Iterable[str]) -> bool:
    """Tell whether the characters of a page stand for others than they are.

    Fonts without a usable map give glyph numbers, which look like rarely used Latin letters or
    like characters for private use.
    """
    letters = odd = 0
    for line in lines:
        for character in line:
            if character.isalpha() or "\ue000" <= character <= "\uf8ff":
                letters += 1
                odd += "\u0100" <= character <= "\u024f" or "\ue000" <= character <= "\uf8ff"
    return letters >= _FEWEST_LETTERS and odd > letters * _MOST_ODD
