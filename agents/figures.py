"""Finds the figures in a text - amounts, shares, dates, section numbers - in one normal form."""

import re
import unicodedata

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
    r"|years?|times|characters|bits|bytes|dollars|cents|feet|miles|percent)?\b|[ -]?%"
)

_YEAR = "january february march april may june july august september october november december"
_MONTHS = _YEAR.split()
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
_NAMED_MONTH = re.compile(
    rf"\b({_MONTH}|sept)\b\.?(?=\s+\d)|(?<=\d)(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH}|sept)\b"
)
_ISO_DATE = re.compile(r"\b\d{4}-(\d{2})(?:-\d{2})?\b")
_US_DATE = re.compile(r"\b(\d{1,2})/\d{1,2}/\d{2,4}\b")

_FIGURE = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)*)"
    r"(?:\s?(?P<scale>thousand|million|billion)\b)?(?P<share>\s?(?:%|per\s?cent\b|pct\b))?"
)
_SHARES_BEFORE = re.compile(r"(\d[\d.]*)(?=\s?(?:-|–|to|and|or)\s?\d[\d.]*\s?%)")  # noqa: RUF001
"""In "90 to 95 percent" the first number is a share as well."""


def figures_in_claim(text: str) -> dict[str, str]:
    """Return the figures that a claim states, in normal form, with how each is written there.

    A number in words counts where a unit follows ("three years"): elsewhere it is mere style
    ("one of the"). "95 percent" and "95%" have the same normal form, as have "1,000" and "1000".
    """
    folded = _fold(text)
    found: dict[str, str] = {}
    for words in _NUMBER_WORDS.finditer(folded):
        unit = _UNIT.match(folded, words.end())
        if unit and (name := unit.group().strip(" -")):
            share = "%" if name in ("%", "percent") else ""
            found[f"{_value(words.group())}{share}"] = f"{words.group()} {name}"
    for match in _FIGURE.finditer(folded):
        found[_normal(match)] = match.group().strip()
    for match in _NAMED_MONTH.finditer(folded):
        name = match.group(1) or match.group(2)
        found[_month(name)] = name.capitalize()
    return found


def figures_in_source(text: str) -> frozenset[str]:
    """Return every figure that a source may be cited for, in normal form.

    More generous than `figures_in_claim`: words count everywhere, a share may be cited as a bare
    number, and dates in digits give their month too.
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
    for pattern in (_ISO_DATE, _US_DATE):
        found |= {f"month {int(month)}" for month in pattern.findall(folded)}
    return frozenset(found)


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"\bper\s?cent\b|\bpct\b", "percent", folded)


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
