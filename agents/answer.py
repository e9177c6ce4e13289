"""What an answer is: its text, the sources it was made from, and what was checked about it."""

from dataclasses import dataclass

from graph.model import Passage, Ranking

ABSTENTION = "The documents do not say."
"""The whole text of an answer that nothing supports; chat models are told to use it too."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that the answer was made from."""

    n: int
    """Its number in `[Source n]`, and its rank among the hits, 1-indexed."""
    passage: Passage
    cited: bool
    """Whether the checked answer cites it."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What was found when the answer's citations were held against its sources."""

    claims: int = 0
    """Sentences that state something."""
    uncited_claims: int = 0
    """Claims that cite no source."""
    removed_citations: int = 0
    """Citations of sources that do not exist; they were taken out."""
    marked_claims: int = 0
    """Claims with a figure that is not in their sources; the answer shows a mark behind them."""
    unfounded_figures: tuple[str, ...] = ()
    """Those figures as the answer wrote them, each once."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the answer cost."""

    llm_calls: int = 0
    tokens: int = 0
    """Read and written, as the chat model reports it; estimated where it reports nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer."""

    text: str
    """Citations are written `[Source n]`, always in this form."""
    sources: tuple[Source, ...]
    """Every passage that the answer was made from, by number: the cited and the others."""
    checks: Checks
    usage: Usage
    extractive: bool
    """Made of quoted sentences, without a chat model."""
    supported: bool
    """False when nothing supports an answer; `text` is then `ABSTENTION`."""
    passages_left_out: int = 0
    """Hits that did not fit into the chat model's context; the lowest are left out first."""
    stopped: str | None = None
    """The limit, such as "5 rounds", that ended the search for passages before the chat model did;
    the answer is made from what was found until then."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's answer with the ranking that it came from."""

    ranking: Ranking
    """Its `timings_ms` have the stages of answering too."""
    answer: Answer
