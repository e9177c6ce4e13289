"""Finds the sources of an answer that cites none, as small chat models often leave it.

A sentence is cited to the passage that holds all of its figures and most of its words, by the same
rule for every model; where no passage does, it stays uncited. Without this an answer that merely
lacks its citations would become "the documents do not say".
"""

from collections.abc import Sequence

from agents.citations import (
    THINKING,
    Evidence,
    cited_numbers,
    normalise_citations,
    unfounded,
)
from agents.question import parse
from agents.quotable import folded_words
from agents.sentences import split_sentences, strip_marker

MOST = 0.7
"""Share of a sentence's content words that its source must hold."""
_FEWEST_WORDS = 3
"""Content words; fewer could stand anywhere."""
_STOPS = ".!…"


def attributed(text: str, sources: Sequence[Evidence]) -> str:
    """Return an answer with citations; one that has any keeps those that it has.

    Args:
        text: As a model wrote it.
        sources: What it was made from; `[Source n]` means `sources[n - 1]`.
    """
    text = THINKING.sub("", text)
    normal, _ = normalise_citations(text, len(sources))
    if cited_numbers(normal):
        return text
    for sentence in reversed(split_sentences(text)):
        n = source_of(sentence.text, sources)
        if n is not None:
            stop = len(text[: sentence.end].rstrip(_STOPS))
            text = f"{text[:stop]} [Source {n}]{text[stop:]}"
    return text


def source_of(sentence: str, sources: Sequence[Evidence]) -> int | None:
    """Return the number of the source that holds most of a sentence, the first of equal ones."""
    shares = [held(sentence, source) for source in sources]
    best = max(shares, default=0.0)
    return shares.index(best) + 1 if best >= MOST else None


def held(sentence: str, source: Evidence) -> float:
    """Return the share of a sentence's content words that a source holds, in [0, 1].

    It is 0 where the source lacks a figure of the sentence, or where it has too few words to tell.
    """
    bare, _ = normalise_citations(strip_marker(sentence), 0)  # without any
    words = parse(bare).words
    if len(words) < _FEWEST_WORDS or unfounded(bare, [source]):
        return 0.0
    known = {*folded_words(source.text), *folded_words(source.place)}
    return sum(word in known for word in words) / len(words)
