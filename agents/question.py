"""What a question tells about the sentence that answers it, by rules."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.quotable import folded_words
from agents.sentences import strip_marker

_ASKS_FOR_A_FIGURE = re.compile(
    r"\bhow (?:many|much|old|far|large|big|high|tall)\b"
    r"|\b(?:percent|percentage|what number|phone number|what amount|salary|price|costs?|fees?|wage"
    r"|minimum|maximum|what (?:do|does|must|will|would)\b.*\bpay)\b",
    re.I,
)
_ASKS_HOW_OFTEN = re.compile(r"\bhow (?:often|frequently)\b", re.I)
_ASKS_FOR_A_TIME = re.compile(
    r"\bhow (?:long|soon|quickly|fast|late|early)\b|\bwhen\b"
    r"|\A\s*(?:\w+ )?(?:what|which) (?:year|date|day)\b",
    re.I,
)
_DEFINITION = re.compile(
    r"\s*(?:what|who)(?:'s| is| are)\s+(?:an?\s+|the\s+)?(.{2,60}?)\s*\?*\s*\Z", re.I
)

_FIGURE = re.compile(
    r"(?<![\w-])(?!(?:\d{1,2}, )?(?:19|20)\d\d\b)[$€£]?\d[\d.,]*(?![a-z]{3})"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty"
    r"|ninety|hundred|thousand|million|once|twice|half|free|single|at least one|only one|none"
    r"|no (?:limit|cost|charge))\b",
    re.I,
)
"""An amount, in figures or words; no date."""
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
_LONGEST_TERM = 3
"""Words; what is longer is hardly ever repeated as it stands."""
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
    term: tuple[str, ...]
    """The words, folded, of what is to be explained; empty where that is no short term."""
    opening: re.Pattern[str] | None
    """How an explanation of it begins; None where none is asked for."""

    def is_met_by(self, text: str) -> bool:
        """Tell whether a text has what every answer has."""
        if self.wants is not None and not self.wants.search(strip_marker(text)):
            return False
        return not self.term or _contains(folded_words(text), self.term)


def names_edition(text: str) -> bool:
    """Tell whether a question names an edition, such as "version 2.4" or "revision 3"."""
    return _EDITION.search(text) is not None


def parse(text: str) -> Question:
    """Take a question apart."""
    literals = [*_NUMBER.findall(text), *_QUOTED.findall(text)]
    wants = next((what for asks, what in _ASKS if asks.search(text)), None)
    asked = _DEFINITION.match(text)
    term = folded_words(asked.group(1)) if asked else []
    return Question(
        text=text,
        words=tuple(word for word in dict.fromkeys(folded_words(text)) if word not in _EMPTY),
        literals=tuple(literal.lower() for literal in literals),
        editions=frozenset(_EDITION.findall(text)),
        wants=wants,
        wants_a_figure=wants is _FIGURE,
        term=tuple(term) if len(term) <= _LONGEST_TERM and _EMPTY.isdisjoint(term) else (),
        opening=_opening(asked.group(1)) if asked else None,
    )


def _contains(words: Sequence[str], term: tuple[str, ...]) -> bool:
    """Tell whether the words of the term follow each other."""
    starts = range(len(words) - len(term) + 1)
    return any(tuple(words[start : start + len(term)]) == term for start in starts)


def _opening(term: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:an?\s+|the\s+)?{re.escape(term)}s?\s*(?:[(,][^.]{{0,60}}[),]\s*)?"
        r"(?:is|are|means?|refers?|describes?|:|[-–—])(?=\s)",  # noqa: RUF001 (a real dash)
        re.I,
    )
