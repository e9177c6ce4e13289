"""Recognises headings by their numbers, in text that marks them in no other way.

A line is a candidate when the whole of it fits a pattern ("SECTION 203 - EXCAVATION", "4.1.2
Title", "Appendix A: Forms"); a sentence that merely begins with a number is none. Candidates of
one kind must then form an outline, see `ingestion.headings`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.contents import is_contents_line
from ingestion.outline_order import Key

_MOST_CHARACTERS, _MOST_WORDS = 150, 22
_PARTS = r"\d{1,4}(?:[.\-]\d{1,4})*(?:\([A-Za-z0-9]{1,4}\))*"
_WORD_LINE = re.compile(
    r"(?P<word>VOLUME|TITLE|DIVISION|PART|SUBPART|CHAPTER|ARTICLE|SECTION|SEC\.|§§?|"
    r"APPENDIX|ANNEX|ATTACHMENT|EXHIBIT)\s*"
    rf"(?P<number>{_PARTS}|[IVXLC]+|[A-Z](?:[.\-]\d{{1,3}})*(?:\([A-Za-z0-9]{{1,4}}\))*)(?!\w)"
    r"(?P<separator>[\s.:\-\u2013\u2014]*)(?P<title>.*)",
    re.IGNORECASE,
)
_NUMBER_LINE = re.compile(
    rf"(?P<number>{_PARTS}|[A-Z][.\-]\d{{1,3}}(?:[.\-]\d{{1,3}})*(?:\([A-Za-z0-9]{{1,4}}\))*)"
    r"(?P<separator>\.(?=[A-Z])|[.:]?(?:\s+[\-\u2013\u2014])?\s+)(?P<title>\S.*)"
)
_SUBPART = re.compile(
    r"Subpart\s+(?P<letter>[A-Z]{1,2})(?!\w)[\s.:,\-\u2013\u2014]*(?P<title>.*)", re.IGNORECASE
)
_RUN_IN = re.compile(
    rf"(?P<number>{_PARTS})[.:]?\s+(?P<title>[A-Z][^.:;!?]{{2,70}}[.:])"
    r"(?:\s*[\-\u2013\u2014])?\s+[A-Z(\"\u201c]"
)
# "C." and "L." alone are letters: hardly any outline has a hundred chapters.
_ROMAN_LINE = re.compile(r"(?P<number>(?![CL]\.)[IVXLC]+)(?P<separator>\.\s+)(?P<title>\S.*)")
_LETTER_LINE = re.compile(r"(?P<number>[A-Z])(?P<separator>\.\s+)(?P<title>\S.*)")

BARE_KINDS = ("lettered", "roman", "letter", "arabic")
"""Kinds of headings without a word in front of the number."""
_MOST_PARTS = 7
_APPENDIX = {"appendix", "annex", "attachment", "exhibit"}
_SECTION = {"section", "sec.", "§", "§§"}
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_DATE = re.compile(
    r"(?:\d{1,2}[\s-])?(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?[\s-]\d"
    r"|\d{1,4}[/-]\d{1,2}[/-]\d",
    re.IGNORECASE,
)
_STEPS = ("C", "XC", "L", "XL", "X", "IX", "V", "IV", "I")
_VERB = re.compile(r"\b(?:shall|must|should|will|is|are|was|were|has|have|may|can)\b")


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line that may be a heading, taken apart."""

    kind: str
    """The word in front ("chapter"), or "arabic" (4.1), "lettered" (A.1), "roman", "letter"."""
    number: str
    """As shown to people and looked up: "1.3.1.1", "203", "Chapter 4", "Appendix A"."""
    key: Key
    title: str
    bare: bool
    """Whether the number is one integer without a dot behind it."""
    length: int | None = None
    """Characters of the line that the heading takes up where text runs on behind it."""


def split_number(line: str) -> tuple[str | None, str]:
    """Split a heading, known to be one, into its number and its title.

    "1.3. Title" gives ("1.3", "Title"), "SECTION 203 - EXCAVATION" ("203", "EXCAVATION"), "CHAPTER
    4" ("Chapter 4", ""). A single integer without a dot, as in "10 tips", is no number.
    """
    parsed = _parse(line.strip())
    if parsed is None or parsed.bare or parsed.kind == "letter":
        return None, line.strip()
    return parsed.number, parsed.title


def parse_line(line: str) -> NumberedLine | None:
    """Take a line of running text apart; None if it cannot be a numbered heading.

    The whole line must fit, or its text must run on behind a short title that ends in a dot or a
    colon and has a number of several parts: "203-1.2 Materials: The Contractor ...".
    """
    line = line.strip()
    if not line or is_contents_line(line):
        return None
    if len(line) > _MOST_CHARACTERS:
        return _run_in(line)
    parsed = _parse(line)
    if parsed is not None and _is_title(parsed):
        return parsed
    return _run_in(line)


def _run_in(line: str) -> NumberedLine | None:
    match = _RUN_IN.match(line)
    if match is None:
        return None
    number, title = match["number"], match["title"].strip()
    key = _key(number)
    if (
        not 2 <= len(key) <= _MOST_PARTS
        or _VERB.search(title)
        or not _is_capitalised(title.split())
    ):
        return None
    return NumberedLine("arabic", number, key, title, bare=False, length=match.end("title"))


def _parse(line: str) -> NumberedLine | None:
    if match := _WORD_LINE.fullmatch(line):
        return _word_line(match)
    if match := _NUMBER_LINE.fullmatch(line):
        number = match["number"]
        kind = "arabic" if number[0].isdigit() else "lettered"
        bare = number.isdigit() and not match["separator"].strip()
        return NumberedLine(kind, number, _key(number), match["title"].strip(), bare)
    if match := _ROMAN_LINE.fullmatch(line):
        key = (roman_value(match["number"]),)
        return NumberedLine("roman", match["number"], key, match["title"].strip(), bare=False)
    if match := _LETTER_LINE.fullmatch(line):
        key = _key(match["number"])
        return NumberedLine("letter", match["number"], key, match["title"].strip(), bare=False)
    return None


def _word_line(match: re.Match[str]) -> NumberedLine | None:
    word, number, title = match["word"], match["number"], match["title"].strip()
    # "Section 203 shall apply", "part A of the form" and "see Appendix A for" are sentences.
    if word[0].islower() or number[0].islower():
        return None
    kind = word.lower()
    if title and not match["separator"].strip():
        is_plain_title = kind in _SECTION and title[0].isupper() and not _VERB.search(title)
        if not is_plain_title and not _is_capitalised(title.split()):
            return None
    if kind in _SECTION:
        return NumberedLine("section", number, _key(number), title, bare=False)
    if kind in _APPENDIX:
        return NumberedLine("appendix", f"{kind.title()} {number}", _key(number), title, bare=False)
    key = (roman_value(number),) if set(number) <= set(_ROMAN) else _key(number)
    if kind == "part" and (below := _SUBPART.fullmatch(title)):
        name = f"Part {number} Subpart {below['letter']}"
        return NumberedLine(kind, name, (*key, *_key(below["letter"])), below["title"], bare=False)
    return NumberedLine(kind, f"{kind.title()} {number}", key, title, bare=False)


def _is_title(line: NumberedLine) -> bool:
    title = line.title
    words = title.split()
    if len(line.key) > _MOST_PARTS:  # 1.3.6.1.5.5.7.3.2 is an object identifier
        return False
    if not words:
        return line.kind not in BARE_KINDS
    if _DATE.match(title):  # a row of a revision history
        return False
    first = next((c for c in title if c.isalnum()), "")
    if len(words) > _MOST_WORDS or not first or first.islower():
        return False
    if title[0] in ",;|/)" or title[-1] in ",;" or (title[-1] == ":" and len(words) > 5):
        return False
    if title[-1] == "." and (len(words) > 10 or _VERB.search(title)):
        return False
    return not line.bare or _is_capitalised(words)


def _is_capitalised(words: Sequence[str]) -> bool:
    """Tell whether all but the small words begin with a capital letter, or most are capitals."""
    long_words = [word for word in words if len(word) > 3 and word[0].isalpha()]
    capital = sum(word[0].isupper() for word in long_words)
    return bool(long_words) and capital >= len(long_words) * 0.75


def _key(number: str) -> Key:
    return tuple(
        int(part) if part.isdigit() else _letters(part)
        for part in re.findall(r"\d+|[A-Za-z]+", number)
    )


def _letters(part: str) -> int:
    """Number a letter by its place in the alphabet, several letters as a Roman numeral."""
    upper = part.upper()
    return ord(upper) - ord("A") + 1 if len(upper) == 1 else roman_value(upper)


def roman_value(numeral: str) -> int:
    """Return the value of a Roman numeral in either case; other letters count nothing."""
    values = [_ROMAN.get(letter, 0) for letter in numeral.upper()]
    return sum(
        -value if value < max(values[i + 1 :], default=0) else value
        for i, value in enumerate(values)
    )


def roman_numeral(value: int) -> str:
    """Return the Roman numeral, in capitals, of a value in [1, 399]; others as figures."""
    if not 1 <= value < 400:
        return str(value)
    steps = zip((100, 90, 50, 40, 10, 9, 5, 4, 1), _STEPS, strict=True)
    numeral = ""
    for size, letters in steps:
        numeral += letters * (value // size)
        value %= size
    return numeral
