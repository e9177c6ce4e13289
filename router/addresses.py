"""Addresses in a question: the sections, parts and appendices that it names by number."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graph.fold import fold

# Of seven levels and six letters at most, as every level may cost a search (`coarser`).
_PARTS = r"\d{1,5}[A-Z]?(?:[.\-]\d{1,5}[A-Z]?){0,6}(?:\([0-9A-Za-z]{1,4}\)){0,6}"
_LETTERED = r"[A-Z](?:[.\-]\d{1,3}){0,6}(?:\([0-9A-Za-z]{1,4}\)){0,6}"
_WORDS = {
    "section": "",
    "sections": "",
    "sec": "",
    "subsection": "",
    "paragraph": "",
    "clause": "",
    "article": "Article ",
    "part": "Part ",
    "subpart": "Subpart ",
    "chapter": "Chapter ",
    "volume": "Volume ",
    "title": "Title ",
    "division": "Division ",
    "appendix": "Appendix ",
    "annex": "Annex ",
    "attachment": "Attachment ",
    "exhibit": "Exhibit ",
}
"""Words in front of a number, and what stands for them in the number of a section."""

_NAMED = re.compile(
    rf"(?:\b(?P<word>{'|'.join(_WORDS)})\b\.?|(?P<sign>§§?))\s*"
    rf"(?P<first>{_PARTS}|(?-i:{_LETTERED}|[IVXLC]+)(?![\w]))"
    rf"(?P<others>(?:\s*(?:,|and|or|,\s*and|to|through|[\-\u2013\u2014])\s*(?:§\s*)?{_PARTS})*)",
    re.IGNORECASE,
)
_OTHER = re.compile(_PARTS, re.IGNORECASE)
# Three parts or more stand for themselves; not "version 1.2.3", 10.0.0.1 or 24.12.2020.
_DOTTED = re.compile(
    r"(?<![\w.\-/$])\d{1,4}(?:\.\d{1,4}){2,5}(?:\([0-9A-Za-z]{1,4}\)){0,6}(?![\w/])(?!\.\d)"
)
_NO_ADDRESS_BEFORE = re.compile(
    r"(?:\b(?:version|ver|v|release|rev|revision|edition)\.?|[$\u20ac])\s?$", re.IGNORECASE
)
_DATE_BEFORE = re.compile(r"\b(?:on|at|by|since|until|before|after|from|dated)\s$", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:CFR|C\.F\.R\.|USC|U\.S\.C\.|Regulation [A-Z])\s(?:§§?\s?)?"
    r"(?P<number>\d{1,5}\.\d{1,5}[a-z]?(?:\([0-9A-Za-z]{1,4}\)){0,6})(?!\w)"
)
_RANGE = re.compile(r"(\d+(?:\.\d+)+)-(\d+(?:\.\d+)+)")
_PRONOUN = re.compile(r"\s(?!(?:of|in|on|and|or|to|through|for|is|was|does|shall|must)\b)[a-z]")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:19|20)\d\d")
_SHORT_DATE_OR_TIME = re.compile(r"\d{1,2}\.\d{1,2}\.\d\d")
_HOST = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_NEAR = 12
"""Characters in front of a number that tell what it is."""
MOST = 8
"""Addresses taken from one question."""


@dataclass(frozen=True, slots=True)
class Address:
    """A section that a question names."""

    number: str
    """As in `graph.model.Section.number`: "401.4-2(b)", "Appendix C"."""

    @property
    def coarser(self) -> tuple[str, ...]:
        """Numbers of the sections above, the nearest first, as documents may hold only those."""
        found: list[str] = []
        number = self.number
        while match := re.fullmatch(r"(.*\d.*?|\w+ \w+)(?:\([^()]*\)|[.\-]\d+[A-Za-z]?)", number):
            number = match[1]
            found.append(number)
        return tuple(found)


def addresses(question: str) -> tuple[Address, ...]:
    """Return the sections that a question names, each once, in order.

    "Section 401.4-2(b)", "sections 203 and 204", "§ 1005.11(c)(2)", "Part 1024", "Appendix C" and
    "4.9.7" are addresses; a table, a date, a version, an amount and an internet address are not.
    """
    text = fold(question)
    found = [*_named(text), *((m.start(), m["number"]) for m in _CODE.finditer(text))]
    named = {number for _, number in found}
    found += [place for place in _dotted(text) if place[1] not in named]
    numbers = dict.fromkeys(number for _, number in sorted(found, key=lambda pair: pair[0]))
    return tuple(Address(number) for number in numbers)[:MOST]


def is_host(number: str) -> bool:
    """Tell whether a number is that of a computer, such as 10.0.0.1."""
    return _HOST.fullmatch(number) is not None


def _named(text: str) -> Iterator[tuple[int, str]]:
    """Yield what stands behind a word such as "section", each with its place."""
    for match in _NAMED.finditer(text):
        word = match["word"] or "section"
        # "in part I think": the Roman numeral is a pronoun.
        if match["first"] == "I" and word.islower() and _PRONOUN.match(text, match.end("first")):
            continue
        prefix = _WORDS[word.lower()]
        ends = _RANGE.fullmatch(match["first"]) if _is_plural(match) else None
        for number in ends.groups() if ends else (match["first"],):
            yield match.start(), prefix + number
        for number in _OTHER.findall(match["others"]):
            # "Appendix C or 4.9.7": a number with dots stands for itself.
            yield match.start(), number if "." in number else prefix + number


def _is_plural(match: re.Match[str]) -> bool:
    return match["sign"] == "§§" or (match["word"] or "").lower().endswith("s")


def _dotted(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbers of three parts or more, which need no word in front, each with its place."""
    for match in _DOTTED.finditer(text):
        number, before = match.group(), text[max(0, match.start() - _NEAR) : match.start()]
        is_day = _DATE.fullmatch(number) or (
            _SHORT_DATE_OR_TIME.fullmatch(number) and _DATE_BEFORE.search(before)
        )
        if not is_day and not is_host(number) and not _NO_ADDRESS_BEFORE.search(before):
            yield match.start(), number
