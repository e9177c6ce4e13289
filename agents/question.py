"""What a question tells about the sentence that answers it, by rules."""

import re
from dataclasses import dataclass

from agents.quotable import folded_words
from agents.sentences import strip_marker

_ASKS_FOR_A_FIGURE = re.compile(
    r"\bhow (?:many|much|old|far|large|big|high|tall)\b"
    r"|\b(?:percent|percentage|what number|phone number|what amount|what year|which year|salary"
    r"|price|costs?|fees?|wage|minimum|maximum|what (?:do|does|must|will|would)\b.*\bpay)\b",
    re.I,
)
_ASKS_HOW_OFTEN = re.compile(r"\bhow (?:often|frequently)\b", re.I)
_ASKS_FOR_A_TIME = re.compile(r"\bhow (?:long|soon|quickly|fast|late|early)\b|\bwhen\b", re.I)
_DEFINITION = re.compile(
    r"\s*(?:what|who)(?:'s| is| are)\s+(?:an?\s+|the\s+)?(.{2,60}?)\s*\?*\s*\Z", re.I
)

_FIGURE = re.compile(
    r"(?<![\w-])[$€£]?\d[\d.,]*(?![a-z]{3})|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty"
    r"|thirty|sixty|ninety|hundred|thousand|million|once|twice|half|free|single|at least one"
    r"|only one|none|no (?:limit|cost|charge))\b",
    re.I,
)
_PERIOD = (
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years?|daily|weekly|monthly|quarterly"
    r"|annual(?:ly)?|yearly|immediately|promptly|periodic(?:ally)?"
)
_FREQUENCY = re.compile(
    rf"\b(?:{_PERIOD}|every|each|once|twice|regular(?:ly)?|continuous(?:ly)?)\b", re.I
)
_TIME = re.compile(
    rf"\b(?:{_PERIOD}|before|after|until|upon|(?:19|20)\d\d|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?)\b",
    re.I,
)

_EDITION = re.compile(r"\b(?:version|ver|revision|rev|edition|v)\.?\s*(\d+(?:\.\d+)*)", re.I)
_ASKS = [
    (_ASKS_FOR_A_FIGURE, _FIGURE),
    (_ASKS_HOW_OFTEN, _FREQUENCY),
    (_ASKS_FOR_A_TIME, _TIME),
]
_QUOTED = re.compile(r"[\"“]([^\"“”]{3,})[\"”]")
_NUMBER = re.compile(r"\d+(?:[.,-]\d+)*")
_FUNCTION_WORDS = (
    "a about after again all also am an and any are as at be been before being between both "
    "but by can could describe did do does during each every explain find for from get give go "
    "had has have he her him his how i if in into is it its just know list long many may me might "
    "more most much must my need no nor not of often on one only or other our out over please "
    "quickly said same say says shall she should so some soon such tell than that the their them "
    "then there these they this those through to too under up us very want was we were what when "
    "where which while who whom whose why will with would you your"
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
    editions: frozenset[str]
    """The editions that it names, as numbers: "1.31" for "version 1.31"."""
    wants: re.Pattern[str] | None
    """What is in every answer: a figure, a time; None if that cannot be told."""
    wants_a_figure: bool
    """Whether that is a figure, which nothing can paraphrase."""
    opening: re.Pattern[str] | None
    """How a definition of what is asked for begins; None if no definition is asked for."""

    def is_met_by(self, text: str) -> bool:
        """Tell whether a text has what every answer has."""
        return self.wants is None or self.wants.search(strip_marker(text)) is not None


def parse(text: str) -> Question:
    """Take a question apart."""
    literals = [*_NUMBER.findall(text), *_QUOTED.findall(text)]
    wants = None
    for asks, what in _ASKS:
        if wants is None and asks.search(text):
            wants = what
    return Question(
        text,
        tuple(word for word in dict.fromkeys(folded_words(text)) if word not in _EMPTY),
        tuple(literal.lower() for literal in literals),
        frozenset(_EDITION.findall(text)),
        wants,
        wants is _FIGURE,
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
