"""Makes stretches of passages that can be quoted by themselves, and drops repeated ones.

A sentence that leans on the one before it ("They shall ...") is quoted with it, and a list item
with the words that introduce its list: alone, neither says what it is about.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from agents.sentences import Sentence, one_line, split_sentences, strip_marker
from graph.model import Hit

_LONGEST_LIST = 80
"""Words; a longer list is offered item by item."""
_LONGEST_WITH_CONTEXT = 70
"""Words that a sentence and the one it leans on may have together."""
_FEWEST_WORDS = 4
_FEWEST_WORDS_TORN = 8
_MOST_WORDS = 130
"""Of a sentence; beyond, it is split at lesser stops."""
_SAME = 0.8
"""Share of words in common (Jaccard) from which two stretches count as one."""
_LEANS = re.compile(
    r"(?:(?:It|They|This|These|Those|That|He|She|Both|Neither|Such|Its|Their)\s+(?:is|are|was"
    r"|were|has|have|had|shall|must|may|can|will|would|should|does|do|did|also|includes?|means?"
    r"|applies|apply|requires?|allows?|provides?|ensures?|helps?)\b"
    r"|(?:However|Therefore|Thus|Otherwise|Additionally|Also|Hence|Instead|Consequently|Moreover|But"
    r"|And|Or|So|Then|In addition|As a result|For example|In that case|In this case|If so)\b,?\s)"
)
_BULLET = re.compile(r"^[-*+•▪◦‣·●○■□–—✓➢]\s+")  # noqa: RUF001 (a real dash)
_CONTENTS_LINE = re.compile(r"\.{4,}|(?:\s\.){4,}|…{2,}")
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")  # noqa: RUF001 (a typographic apostrophe)


@dataclass(frozen=True, slots=True)
class Quotable:
    """A stretch of a passage, with where it comes from."""

    n: int
    """Number of its source, 1-indexed."""
    position: int
    """Order in its passage."""
    text: str
    """As it stands in the passage, on one line; " … " where words are left out."""
    words: frozenset[str]
    """Its words, folded."""
    whole: bool
    """Whether it reads as a sentence rather than as a heading, a cell or a torn-off end."""
    preferred: bool
    """Whether it is of the edition that the answer should go by."""
    rank: int
    """Best rank of the passages that have it, 1-indexed."""


def quotables(hits: Sequence[Hit], preferred: Sequence[bool]) -> list[Quotable]:
    """Return what can be quoted from the hits, each wording once, in order of source and position.

    Editions repeat each other: of two nearly equal wordings the preferred edition's stays, else the
    one that ranks higher.

    Args:
        hits: Best first.
        preferred: For each hit, whether it is of the edition that the answer should go by.
    """
    kept: list[Quotable] = []
    for n, (hit, prefer) in enumerate(zip(hits, preferred, strict=True), start=1):
        for position, (text, whole, words) in enumerate(_sayings(hit.passage.text)):
            new = Quotable(n, position, text, words, whole, prefer, rank=n)
            if _says_something(new):
                _keep(kept, new)
    return sorted(kept, key=lambda quotable: (quotable.n, quotable.position))


def folded_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without the endings of number and tense."""
    return [_stem(word) for word in _WORD.findall(text.lower())]


def similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the share of words in common (Jaccard), in [0, 1]."""
    return len(a & b) / len(a | b) if a and b else 0.0


def _says_something(one: Quotable) -> bool:
    """Leave out headings, cells, contents lines and questions: none of them is an answer."""
    fewest = _FEWEST_WORDS if one.whole else _FEWEST_WORDS_TORN
    asks = one.text.rstrip("\"'”’)]*_ ").endswith("?")  # noqa: RUF001 (typographic quotes)
    return len(one.words) >= fewest and not asks and not _CONTENTS_LINE.search(one.text)


def _keep(kept: list[Quotable], new: Quotable) -> None:
    size = len(new.words)
    least, most = _SAME * size, size / _SAME  # others cannot have so much in common
    for i, old in enumerate(kept):
        if least <= len(old.words) <= most and similarity(old.words, new.words) >= _SAME:
            if new.preferred and not old.preferred:
                kept[i] = replace(new, rank=min(old.rank, new.rank))
            return
    kept.append(new)


@lru_cache(maxsize=2_000)  # passages that answer one question are found for others, too
def _sayings(passage: str) -> tuple[tuple[str, bool, frozenset[str]], ...]:
    """Return each stretch of a passage, whether it reads as a sentence, and its words."""
    found = [(_BULLET.sub("", text), whole) for text, whole in _stretches(passage)]
    return tuple((text, whole, frozenset(folded_words(text))) for text, whole in found)


def _stretches(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each stretch on one line and whether it reads as a sentence."""
    sentences = [part for sentence in split_sentences(text) for part in _parts(text, sentence)]
    i = 0
    while i < len(sentences):
        items = _items(sentences, i)
        if items:
            yield from _list(text, sentences[i], items)
            i += 1 + len(items)
            continue
        before = sentences[i - 1] if i else None
        yield _with_context(text, before, sentences[i]), _is_whole(sentences[i])
        i += 1


def _parts(text: str, sentence: Sentence) -> Iterator[Sentence]:
    """Split what is too long to be quoted: text without capitals, or without full stops."""
    if len(sentence.text.split()) <= _MOST_WORDS:
        yield sentence
        return
    start = sentence.start
    for stop in re.finditer(r"[.;:!?]\s|\Z", text[start : sentence.end]):
        end = sentence.start + stop.end()
        if len(text[start:end].split()) >= _FEWEST_WORDS or end == sentence.end:
            words = one_line(text[start:end]).split()
            yield Sentence(start, end, " ".join(words[:_MOST_WORDS]), sentence.in_list)
            start = end


def _items(sentences: Sequence[Sentence], i: int) -> list[Sentence]:
    """Return the sentences of the list that sentence i introduces; empty if it introduces none."""
    if not sentences[i].text.endswith((":", ":*", "—")):
        return []
    end = i + 1
    while end < len(sentences) and (sentences[end].in_list or end == i + 1):
        end += 1
    return list(sentences[i + 1 : end])


def _list(text: str, lead: Sentence, items: Sequence[Sentence]) -> Iterator[tuple[str, bool]]:
    together = one_line(text[lead.start : items[-1].end])
    if len(together.split()) <= _LONGEST_LIST:
        yield together, True
        return
    for i, item in enumerate(items):
        yield f"{lead.text} {'… ' if i else ''}{item.text}", True


def _with_context(text: str, before: Sentence | None, sentence: Sentence) -> str:
    if before is None or before.in_list or not _is_whole(before):
        return sentence.text
    if not _LEANS.match(sentence.text):
        return sentence.text
    together = one_line(text[before.start : sentence.end])
    return together if len(together.split()) <= _LONGEST_WITH_CONTEXT else sentence.text


def _is_whole(sentence: Sentence) -> bool:
    bare = strip_marker(sentence.text)
    ended = sentence.text.rstrip("\"'”’)]»*").endswith((".", "!", "?", ";", ":"))  # noqa: RUF001
    return (ended or sentence.in_list) and not bare[:1].islower()


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """Take off the commonest English endings; both sides of a comparison lose the same ones."""
    word = word.removesuffix("'s").removesuffix("’s")  # noqa: RUF001 (a typographic apostrophe)
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)].removesuffix("e")
    if len(word) > 2 and word.endswith("s") and word[-2] not in "siu":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word
