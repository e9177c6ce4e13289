"""Years in a question: of an edition, of a report's fiscal year, or of the law asked for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_MONTHS = (
    r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|january|february|march|april|august|"
    r"september|october|november|december)\.?"
)
_YEAR = re.compile(r"(?<![\w.\-\u2013/$§#])(?P<year>(?:19|20)\d\d)(?![\w/%]|[.,\-\u2013]\d)")
_NO_YEAR_BEFORE = re.compile(
    r"(?:\b(?:sections?|sec\.?|rfc|no\.?|number|form|wac|rcw|cfr|usc|parts?|page|rule)|\d|[$§#])"
    r"\s{0,3}$|\d\s?\($",  # "34 WTD 169 (2016)" is a citation
    re.IGNORECASE,
)
_DAY_BEFORE = re.compile(
    rf"\b(?:{_MONTHS}\s\d{{1,2}}(?:st|nd|rd|th)?,?|\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTHS},?)\s$",
    re.IGNORECASE,
)
# The filter's as-of year means its last day, so that of the days only that one says the same.
_AS_OF = re.compile(
    r"\b(?:as of|in force (?:in|at the end of))\s(?:the year\s|dec(?:ember|\.)?\s(?:31(?:st)?,?\s)?"
    r"|31(?:st)?\sdec(?:ember|\.)?,?\s)?\s?$",
    re.IGNORECASE,
)
_EDITION_BEHIND = re.compile(r"\s(?:edition|version|revision|supplement)\b", re.IGNORECASE)
_REPORT_BEHIND = re.compile(
    r"\s(?:edition|(?:annual |financial )?report(?! cards?\b))\b", re.IGNORECASE
)
_FISCAL_BEFORE = re.compile(r"\b(?:FY|fiscal year)[\s\-]'?$", re.IGNORECASE)
_FISCAL = re.compile(
    r"\b(?:(?:FY|fiscal year)[\s\-]?'?(?P<year>(?:20)?\d\d)"
    r"(?:\s?[\-\u2013/]\s?(?P<end>(?:20)?\d\d))?"
    r"|(?P<from>20\d\d)[\-\u2013/](?P<to>(?:20)?\d\d)(?=\s(?:biennium|fiscal year|budget|report)\b)"
    r")\b(?![.\-]\d)",
    re.IGNORECASE,
)

_NEAR = 40
"""Characters in front of a year that tell what it is."""


@dataclass(frozen=True, slots=True)
class Year:
    """A year that a question names."""

    year: int
    """Of a fiscal year, the one in which it ends, as documents are marked."""
    kind: Literal["edition", "as of", "plain"]
    """`edition`: the words behind it say so. `as of`: what was in force at its end."""
    start: int
    """Where it stands in the question."""
    end: int


def years(text: str) -> list[Year]:
    """Return the years that a folded question names, in order.

    A day ("after 1 January 2019"), an amount, a section, a telephone number and the year of a
    citation ("34 WTD 169 (2016)") are none.
    """
    return sorted([*_plain(text), *_fiscal(text)], key=lambda found: found.start)


def _plain(text: str) -> Iterator[Year]:
    for match in _YEAR.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        year, start, end = int(match["year"]), match.start(), match.end()
        if _FISCAL_BEFORE.search(before):
            continue
        if _EDITION_BEHIND.match(text, end):
            yield Year(year, "edition", start, end)
        elif _AS_OF.search(before):
            yield Year(year, "as of", start, end)
        elif not _DAY_BEFORE.search(before) and not _NO_YEAR_BEFORE.search(before):
            yield Year(year, "plain", start, end)


def _fiscal(text: str) -> Iterator[Year]:
    for match in _FISCAL.finditer(text):
        first, last = match["year"] or match["from"], match["end"] or match["to"]
        start, end = match.span()
        year = _century(last or first)
        if last and year != _century(first) + 1:
            continue  # "2018-2020" is no fiscal year
        kind = "edition" if _REPORT_BEHIND.match(text, end) else "plain"
        yield Year(year, kind, start, end)


def _century(written: str) -> int:
    return int(written) + (2000 if len(written) == 2 else 0)
