"""Splits text into sentences, as spans, without losing a character.

Written for what agencies publish: lines broken by a PDF's layout, lists, section numbers,
abbreviations. A rule is preferred to a trained model because it can be read and corrected.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_SHORTENED = (
    "al approx apr app art aug ave blvd bldg ca capt cf ch cir cl co col corp ctr dec dept div dr "
    "e.g ed eds eg eq eqs esp est etc et ex ext feb fed fig figs fn ft gen gov hon hr hrs i.e ibid "
    "ie in inc incl int intl jan jr jul jun l.p lb lbs ln lt ltd mar max messrs min misc mr mrs ms "
    "mt mtg n.b natl no nos nov nr oct op p par para pars ph.d pg pp prof pt pub rd reg regs rep "
    "rev rm sec secs sen sep sept sgt sr st ste stat subch subd subpt subsec supp sq tbl tel ti "
    "univ v ver viz vol vols vs yr yrs"
)
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_ENDS_A_SENTENCE_TOO = frozenset({"etc", "al", "inc", "co", "corp", "ltd", "jr", "sr", "yrs", "ft"})
"""Abbreviations that often stand at a sentence's end: what follows decides."""
_UNITS_LIKE_WORDS = frozenset({"in", "no", "art", "ex", "st", "ed", "app", "mar", "max", "min"})
"""Also plain words: abbreviations only where a number, or for "St." a name, follows."""
_OPENING_WORDS = (
    "a after all also although an and any are as at because before both but by can each every "
    "for from he her his however how i if in is it its many may most no not of on one or other "
    "our she since so some such that the their then there these they this those though to under "
    "until upon we what when where which while who why will with within you your"
)
_STARTERS = frozenset(_OPENING_WORDS.split())
"""Words that, capitalised, tell that an abbreviation before them ended its sentence."""
_UNFINISHED = "a an and as at by for from if in is of on or that the to under which with"
_NEVER_LAST = frozenset(_UNFINISHED.split())
"""Words that no heading and no paragraph ends with."""

_LIST_MARKER = re.compile(
    r"\s*(?:[-*+•▪◦‣·●○■□–—✓➢]\s+|\((?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})\)\s*"  # noqa: RUF001 (a real dash)
    r"|(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]\s+|\d+(?:\.\d+)+\.?\s+(?=[A-Z]))"
)
_STOP = re.compile(r"(?:[.!?…]+|[。！？])[\"'”’)\]»]*")  # noqa: RUF001 (full-width stops)
_WORD_BEFORE = re.compile(r"[^\s(\[\"“”‘'«]+\Z")  # noqa: RUF001 (typographic quotes)
_SHORT_LINE = 0.6
"""A line below this share of the longest line did not break for want of room."""
_LONGEST_HEADING = 80
"""Characters; a longer line did not end there because it is a heading."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a text."""

    start: int
    """Offset of its first character, 0-indexed."""
    end: int
    """Exclusive; white space at both ends is left out."""
    text: str
    """The stretch on one line."""
    in_list: bool
    """Whether it opens a list item; a section number such as "4.9.7." does not."""


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order; between them there is only white space."""
    sentences: list[Sentence] = []
    for start, end in _blocks(text):
        for first, last in _split_block(text, start, end):
            sentence = _sentence(text, first, last, opens_block=first == start)
            if sentence is not None:
                sentences.append(sentence)
    return sentences


def one_line(text: str) -> str:
    """Return the text with its line breaks undone; a word broken at a hyphen is closed up."""
    return re.sub(r"\s+", " ", re.sub(r"(?<=\w)-[ \t]*\n\s*(?=[a-z])", "-", text)).strip()


def strip_marker(line: str) -> str:
    """Return a list item's text without its bullet, number or letter."""
    return line[match.end() :] if (match := _LIST_MARKER.match(line)) else line


def _sentence(text: str, start: int, end: int, opens_block: bool) -> Sentence | None:
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    end = start + len(raw.strip())
    if start >= end:
        return None
    marker = _LIST_MARKER.match(text, start, end) if opens_block else None
    in_list = marker is not None and "." not in marker.group().strip().rstrip(".")
    return Sentence(start, end, one_line(text[start:end]), in_list)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield paragraphs, list items and headings: a sentence never runs across their border."""
    lines = list(re.finditer(r"[^\n\r\v\f\x85\u2028\u2029]+", text))
    widest = max((len(line.group().strip()) for line in lines), default=0)
    start = 0
    for before, line in pairwise(lines):
        if _opens_block(text, before, line, widest):
            yield start, before.end()
            start = line.start()
    if lines:
        yield start, len(text)


def _opens_block(text: str, before: re.Match[str], line: re.Match[str], widest: int) -> bool:
    head, tail = line.group().lstrip(), before.group().rstrip()
    if not head or not tail:
        return True
    if _LIST_MARKER.match(line.group()) or " | " in head or " | " in tail:
        return True
    if _goes_on(tail, head):
        return False
    empty_line = text.count("\n", before.end(), line.start()) > 1
    return empty_line or len(tail) < min(_SHORT_LINE * widest, _LONGEST_HEADING)


def _goes_on(tail: str, head: str) -> bool:
    """Tell whether a sentence runs on over a line's end, even where an empty line follows."""
    last_word = tail.rsplit(None, 1)[-1].lower()
    unfinished = tail[-1] in ",-–—" or last_word in _NEVER_LAST  # noqa: RUF001 (a real dash)
    return unfinished or (head[0].islower() and tail[-1] not in ".!?:;…")


def _split_block(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    marker = _LIST_MARKER.match(text, start, end)
    position = marker.end() if marker else start
    for stop in _STOP.finditer(text, position, end):
        if _ends_sentence(text, position, stop, end):
            yield start, stop.end()
            start = position = stop.end()
    yield start, end


def _ends_sentence(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    if stop.group()[0] in "。！？":  # noqa: RUF001 (full-width stops)
        return True
    rest = text[stop.end() : end]
    follows = rest.lstrip()
    if not follows:
        return True
    if rest[0] not in " \t\n\r\f\v\u00a0" or follows[0].islower():
        return False
    if stop.group()[0] in "!?" or len(stop.group().rstrip("\"'”’)]»")) > 1:  # noqa: RUF001
        return True
    word = _WORD_BEFORE.search(text[start : stop.start()])
    return word is None or not _is_abbreviation(word.group(), follows)


def _is_abbreviation(word: str, follows: str) -> bool:
    """Tell whether the stop after `word` belongs to it rather than to the sentence."""
    first = re.match(r"[\w'’-]+", follows)  # noqa: RUF001 (a typographic apostrophe)
    starts = first is not None and first.group().lower() in _STARTERS
    lower = word.lower()
    if lower in _UNITS_LIKE_WORDS:
        return follows[0].isdigit() or (lower == "st" and not starts)
    if lower in _ENDS_A_SENTENCE_TOO:
        return not follows[0].isupper()
    if lower in _ABBREVIATIONS:
        return True
    initials = re.fullmatch(r"(?:[A-Za-z]\.)*[A-Za-z]", word) is not None
    return initials and not starts and not (len(word) == 1 and word.islower())
