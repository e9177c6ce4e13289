"""Finds the figures in a text - amounts, shares, dates, section numbers - in one normal form."""

import re
import unicodedata
from dataclasses import dataclass

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES, _TENS = _UNITS.split(), _DECADES.split()
_WORD_VALUES = {word: n for n, word in enumerate(_ONES)} | {
    word: 10 * n for n, word in enumerate(_TENS, start=2)
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SUB_100 = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_ONES[1:10])})\b)?|(?:{'|'.join(_ONES)}))\b"
)
_SUB_1000 = rf"(?:{_SUB_100}[ -]hundred\b(?:[ -](?:and[ -])?{_SUB_100})?|{_SUB_100})"
_NUMBER_WORDS = re.compile(
    rf"\b(?:{_SUB_1000}|an?(?= (?:hundred|thousand|million|billion)))"
    rf"(?:[ -](?:hundred|thousand|million|billion)\b(?:,?[ -](?:and[ -])?{_SUB_1000})?)*"
)
_UNIT = re.compile(
    r"[ -](?:business |calendar |working )?(?:seconds?|minutes?|hours?|days?|weeks?|months?"
    r"|years?|times|characters|bits|bytes|dollars|cents|feet|miles|percent)\b|[ -]?%"
)

_YEAR = "january february march april may june july august september october november december"
_MONTHS = _YEAR.split()
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_NAMED_MONTH = re.compile(
    rf"\b({_MONTH}|sept)\b\.?(?=\s+\d)|(?<=\d)(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH}|sept)\b"
)
_ISO_DATE = re.compile(r"\b(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>\d{2})\b")
_US_DATE = re.compile(r"\b(?P<month>0?[1-9]|1[0-2])/(?P<day>\d{1,2})/(?P<year>\d{4})\b")

_FIGURE = re.compile(
    r"(?P<currency>[$€£]\s?)?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)*)"
    r"(?:\s?(?P<scale>thousand|million|billion)\b)?(?P<share>\s?(?:%|per\s?cent\b|pct\b))?"
)
_SHARES_BEFORE = re.compile(r"(\d[\d.]*)(?=\s?(?:-|–|to|and|or)\s?\d[\d.]*\s?(?:%|percent\b))")  # noqa: RUF001
"""In "90 to 95 percent" the first number is a share as well."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a claim states."""

    normal: str
    """In normal form: "95 percent" and "95%" have the same, as have "1,000" and "1000"."""
    written: str
    """As the claim has it, with its unit."""
    measures: bool
    """Whether it is an amount - a share, a sum, a number with a unit - and so no section number."""


def figures_in_claim(text: str) -> list[Figure]:
    """Return the figures that a claim states.

    A number in words counts where a unit follows ("three years"): elsewhere it is mere style
    ("one of the").
    """
    folded = _fold(text)
    found: list[Figure] = []
    for words in _NUMBER_WORDS.finditer(folded):
        if unit := _UNIT.match(folded, words.end()):
            share = "%" if unit.group().strip(" -") in ("%", "percent") else ""
            written = words.group() + unit.group()
            found.append(Figure(_value(words.group()) + share, written, measures=True))
    for match in _FIGURE.finditer(folded):
        unit = _UNIT.match(folded, match.end())
        measures = bool(unit or match["share"] or match["scale"] or match["currency"])
        written = match.group() + (unit.group() if unit else "")
        found.append(Figure(_normal(match), written.strip(), measures))
    for match in _NAMED_MONTH.finditer(folded):
        name = match.group(1) or match.group(2)
        found.append(Figure(_month(name), name.capitalize(), measures=False))
    return found


def figures_in_source(text: str) -> frozenset[str]:
    """Return every figure that a source may be cited for, in normal form.

    More generous than `figures_in_claim`: words count everywhere, and a share may be cited as a
    bare number.
    """
    folded = _fold(text)
    found = {_value(words.group()) for words in _NUMBER_WORDS.finditer(folded)}
    for words in _NUMBER_WORDS.finditer(folded):
        if re.match(r"[ -]?(?:%|percent\b)", folded[words.end() :]):
            found.add(f"{_value(words.group())}%")
    for match in _FIGURE.finditer(folded):
        found |= {_normal(match), _plain(match.group("number"))}
    found |= {f"{_plain(share)}%" for share in _SHARES_BEFORE.findall(folded)}
    found |= {_month(a or b) for a, b in _NAMED_MONTH.findall(folded)}
    return frozenset(found)


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).lower()
    for date in (_ISO_DATE, _US_DATE):
        folded = date.sub(_in_words, folded)
    return re.sub(r"\bper\s?cent\b|\bpct\b", "percent", folded)


def _in_words(date: re.Match[str]) -> str:
    return f"{_MONTHS[int(date['month']) - 1]} {date['day']}, {date['year']}"


def _normal(match: re.Match[str]) -> str:
    plain = _plain(match.group("number"))
    if (scale := match.group("scale")) and plain.count(".") < 2:
        plain = _plain(f"{float(plain) * _SCALES[scale]:.6f}")
    return plain + ("%" if match.group("share") else "")


def _plain(number: str) -> str:
    """Undo what is only spelling: commas, zeros in front, a fraction of nothing but zeros."""
    number = number.replace(",", "")
    if re.fullmatch(r"\d+\.0+", number):
        number = number.partition(".")[0]
    return re.sub(r"^0+(?=\d)", "", number)


def _month(name: str) -> str:
    return f"month {next(n for n, month in enumerate(_MONTHS, 1) if month[:3] == name[:3])}"


def _value(words: str) -> str:
    """Return a number in words as digits: "one hundred and twenty-four" is "124"."""
    total = current = 0
    for word in re.findall(r"[a-z]+", words):
        if word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
        else:
            current += _WORD_VALUES.get(word, 0)
    return str(total + current)
