"""Addresses in a question: the sections, parts and appendices that it names by number."""

import re
from dataclasses import dataclass

from graph.fold import fold

_PARTS = r"\d{1,5}[A-Z]?(?:[.\-]\d{1,5}[A-Z]?)*(?:\([0-9A-Za-z]{1,4}\))*"
_LETTERED = r"[A-Z](?:[.\-]\d{1,3})*(?:\([0-9A-Za-z]{1,4}\))*"
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
    "appendix": "Appendix ",
    "annex": "Annex ",
    "attachment": "Attachment ",
    "exhibit": "Exhibit ",
}
"""Words in front of a number, and what stands for them in the number of a section."""

_NAMED = re.compile(
    rf"(?:\b(?P<word>{'|'.join(_WORDS)})\b\.?|(?P<sign>§§?))\s*"
    rf"(?P<first>{_PARTS}|(?-i:{_LETTERED}|[IVXLC]+)(?![\w]))"
    rf"(?P<others>(?:\s*(?:,|and|or|,\s*and|to|through|-)\s*(?:§\s*)?{_PARTS})*)",
    re.IGNORECASE,
)
_OTHER = re.compile(_PARTS, re.IGNORECASE)
# Three parts or more stand for themselves; not "version 1.2.3", 10.0.0.1 or 24.12.2020.
_DOTTED = re.compile(
    r"(?<![\w.\-/$])(?<!version )(?<!ver\. )(?<!v)\d{1,4}(?:\.\d{1,4}){2,5}"
    r"(?:\([0-9A-Za-z]{1,4}\))*(?![\w/])(?!\.\d)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.(?:19|20)\d\d")
_HOST = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
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
    found: list[tuple[int, str]] = []
    for match in _NAMED.finditer(text):
        prefix = _WORDS[(match["word"] or "section").lower()]
        found.append((match.start(), prefix + match["first"]))
        others = _OTHER.findall(match["others"])
        # "Appendix C or 4.9.7": a number with dots stands for itself.
        found += [
            (match.start(), number if "." in number else prefix + number) for number in others
        ]
    named = {number for _, number in found}
    found += [
        (match.start(), match.group())
        for match in _DOTTED.finditer(text)
        if match.group() not in named
        and not _DATE.fullmatch(match.group())
        and not _HOST.fullmatch(match.group())
    ]
    numbers = dict.fromkeys(number for _, number in sorted(found, key=lambda pair: pair[0]))
    return tuple(Address(number) for number in numbers)[:MOST]
