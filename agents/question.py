"""What a question tells about the sentence that answers it, by rules."""

import re
from dataclasses import dataclass

from agents.quotable import folded_words

_WANTS_A_FIGURE = re.compile(
    r"\bhow (?:many|much|old|far|large|big|high|tall)\b"
    r"|\b(?:percent|percentage|what number|phone number|what amount|what year|which year|salary"
    r"|price|costs?|fees?|wage|minimum|maximum)\b",
    re.I,
)
_WANTS_A_TIME = re.compile(r"\bhow (?:long|often|soon|quickly|fast|late|early)\b|\bwhen\b", re.I)
_DEFINITION = re.compile(
    r"\s*(?:what|who)(?:'s| is| are)\s+(?:an?\s+|the\s+)?(.{2,60}?)\s*\?*\s*\Z", re.I
)
_FIGURE = re.compile(
    r"(?<![\w-])[$€£]?\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty"
    r"|thirty|sixty|ninety|hundred|thousand|million|once|twice|half|free|no (?:limit|cost|charge))"
    r"\b",
    re.I,
)
_TIME = re.compile(
    r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|daily|weekly|monthly|quarterly"
    r"|annual(?:ly)?|yearly|immediately|promptly|periodically|before|after|within|until|upon)\b"
    r"|(?<![\w-])\d",
    re.I,
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{3,})[\"”]")
_NUMBER = re.compile(r"\d+(?:[.,-]\d+)*")
_FUNCTION_WORDS = (
    "a about after again all also am an and any are as at be been before being between both "
    "but by can could describe did do does during each every explain find for from get give "
    "had has have he her him his how i if in into is it its just know list many may me might "
    "more most much must my need no nor not of on one only or other our out over please said "
    "same say says shall she should so some such tell than that the their them then there "
    "these they this those through to too under up us very want was we were what when where "
    "which while who whom whose why will with would you your"
)
_EMPTY = frozenset(folded_words(_FUNCTION_WORDS))


@dataclass(frozen=True, slots=True)
class Question:
    """A question, taken apart."""

    text: str
    words: tuple[str, ...]
    """The words that say what it is about, folded, each once."""
    literals: tuple[str, ...]
    """Its figures and quoted phrases, in lower case: an answer has them as they stand."""
    wants: re.Pattern[str] | None
    """What must be in an answer: a figure, a time; None if that cannot be told."""
    opening: re.Pattern[str] | None
    """How a definition of what is asked for begins; None if no definition is asked for."""


def parse(text: str) -> Question:
    """Take a question apart."""
    literals = [*_NUMBER.findall(text), *_QUOTED.findall(text)]
    wants = _FIGURE if _WANTS_A_FIGURE.search(text) else None
    if wants is None and _WANTS_A_TIME.search(text):
        wants = _TIME
    return Question(
        text,
        tuple(word for word in dict.fromkeys(folded_words(text)) if word not in _EMPTY),
        tuple(literal.lower() for literal in literals),
        wants,
        _opening(text),
    )


def _opening(text: str) -> re.Pattern[str] | None:
    asked = _DEFINITION.match(text)
    if asked is None:
        return None
    term = re.escape(asked.group(1))
    return re.compile(
        rf"(?:an?\s+|the\s+)?{term}s?\s*(?:[(,][^.]{{0,60}}[),]\s*)?"
        r"(?:is|are|means?|refers?|describes?|:|[-–—])(?=\s)",  # noqa: RUF001 (a real dash)
        re.I,
    )
