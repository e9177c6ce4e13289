"""Whether an answer is right and faithful, by rules: no model judges another.

*Correct*: it holds at least half of the figures that the gold has and the question has not; where
the gold has no figures, a third of the gold's content words that the question has not. A question
without gold is answered correctly by "the documents do not say". Quoted answers have it easier with
words than written ones.

*Faithful*: a sentence that cites a source which holds all of its figures and more than half of its
content words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.answer import Answer, Source
from agents.attribution import held
from agents.citations import cited_numbers, claims, unfounded
from agents.figures import figures_in_claim, figures_in_source
from agents.passages import evidence
from agents.question import parse
from agents.quotable import folded_words
from agents.sentences import strip_marker

FIGURES = 1 / 2
WORDS = 1 / 3
"""Least shares of the gold's that a correct answer holds."""
HELD = 1 / 2
"""A faithful sentence has more than this share of its content words in a source that it cites."""

_CITATION = re.compile(r"\s*\[Source \d+\]")
_MARK = re.compile(r" \[not in the source: [^\]]*\]")


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """What the sentences of an answer rest on."""

    sentences: int
    faithful: int
    figures: int
    unsupported: int
    """Figures that no source has which their sentence cites."""


def is_correct(answer: Answer, question: str, gold: Sequence[str]) -> bool:
    """Tell whether an answer holds what one of the gold texts says."""
    if not gold:
        return not answer.supported
    said = plain(answer.text)
    return answer.supported and any(_holds(said, question, text) for text in gold)


def faithfulness(answer: Answer) -> Faithfulness:
    """Count what the sentences of an answer rest on; one that abstains has none."""
    if not answer.supported:
        return Faithfulness(0, 0, 0, 0)
    sentences = claims(_MARK.sub("", answer.text))
    faithful = figures = unsupported = 0
    for sentence in sentences:
        cited = [evidence(answer.sources[n - 1].passage) for n in sorted(cited_numbers(sentence))]
        bare = _CITATION.sub("", sentence)
        faithful += any(held(bare, source) > HELD for source in cited)
        figures += len(figures_in_claim(strip_marker(bare)))
        unsupported += len(unfounded(bare, cited))
    return Faithfulness(len(sentences), faithful, figures, unsupported)


def has_gold(sources: Sequence[Source], gold: Sequence[str]) -> bool:
    """Tell whether one of the sources holds one of the gold texts, but for blanks."""
    texts = ["".join(source.passage.text.split()) for source in sources]
    return any("".join(text.split()) in passage for text in gold for passage in texts)


def plain(text: str) -> str:
    """Return an answer's text without citations and marks."""
    return _CITATION.sub("", _MARK.sub("", text))


def _holds(said: str, question: str, gold: str) -> bool:
    wanted = {f.normal for f in figures_in_claim(gold)} - figures_in_source(question)
    if wanted:
        return len(wanted & figures_in_source(said)) >= FIGURES * len(wanted)
    words = set(parse(gold).words) - set(parse(question).words)
    return len(words & set(folded_words(said))) >= WORDS * len(words)
