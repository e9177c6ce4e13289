"""Cuts one stretch of text into spans that fit the encoder's window.

All planning is done on the encoder's word pieces, into which the text is cut once. Spans are about
equally long, so that no tiny rest remains, and end at the best break near their length: paragraph,
line, sentence, word; only where there is none, inside a word.
"""

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]
"""[start, end) in characters."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n\s*")
_SENTENCE = re.compile(
    r"(?<!\b[A-Z])(?<!\b[Nn]o)(?<!\bSec)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)"
    r"[.!?][\"'\u2019\u201d)\]]*\s+(?=[\"'\u201c\u2018(\[]?[A-Z0-9])"
)
_WORD = re.compile(r"\s+")
_LEAST_FILL = (0.5, 0.5, 0.4, 0.0)
"""How full a span must be, by kind of break, for that break to end it."""
_JOINED = {"\u200d", "\ufe0e", "\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))}
"""Zero-width joiner, variation selectors and skin tones: no cut before them."""


@dataclass(frozen=True, slots=True)
class Window:
    """What one span may hold."""

    tokens: int
    """Word pieces, at least 1."""
    characters: int
    """Characters, at least 1; WordPiece takes any word of over 100 characters for one piece."""
    overlap: int
    """Word pieces that may be repeated where a paragraph is cut; less than `tokens`."""


def split(
    text: str,
    tokens: list[Span],
    window: Window,
    fits: Callable[[str], bool],
    whole: Sequence[Span] = (),
) -> list[Span]:
    """Cut text into spans that together cover everything but white space.

    Args:
        text: What to cut.
        tokens: Its word pieces, ascending.
        window: What a span may hold.
        fits: The last word on whether a span fits, for encoders whose word pieces change where
            text is cut. A single character is taken to fit.
        whole: Stretches that fit and should not be cut, such as tables; in order.

    Returns:
        Spans without white space at their ends; each starts and ends behind the one before.
    """
    return list(_Cutter(text, tokens, window, fits, whole).spans())


def stretches(text: str, longest: int = 200_000) -> Iterator[Span]:
    """Part a very long text at line ends or spaces, so that its word pieces need little memory."""
    start = 0
    while len(text) - start > longest:
        limit = start + longest
        at = max(text.rfind("\n", start, limit), text.rfind(" ", start, limit)) + 1
        end = at if at > start else limit
        yield start, end
        start = end
    yield start, len(text)


def _without_cuts_inside(breaks: list[int], whole: Sequence[Span]) -> list[int]:
    starts = [start for start, _ in whole]

    def is_inside(at: int) -> bool:
        i = bisect_left(starts, at) - 1
        return i >= 0 and at < whole[i][1]

    return [at for at in breaks if not is_inside(at)] if whole else breaks


class _Cutter:
    def __init__(
        self,
        text: str,
        tokens: list[Span],
        window: Window,
        fits: Callable[[str], bool],
        whole: Sequence[Span],
    ) -> None:
        self._text = text
        self._starts = [start for start, _ in tokens]
        self._ends = [end for _, end in tokens]
        self._window = window
        self._fits = fits
        self._breaks = [
            _without_cuts_inside([match.end() for match in pattern.finditer(text)], whole)
            for pattern in (_PARAGRAPH, _LINE, _SENTENCE, _WORD)
        ]
        self._sentence_starts = sorted({*self._breaks[1], *self._breaks[2]})

    def spans(self) -> Iterator[Span]:
        start = done = self._skip_blanks(0)
        while start < len(self._text):
            end = self._end(start)
            if end <= done:  # no room for anything new behind the repeated part
                start, end = done, self._end(done)
            yield start, self._strip_blanks(end)
            done = self._skip_blanks(end)
            start = self._next_start(start, done)

    def _end(self, start: int) -> int:
        """Find where the span that begins at `start` ends, white space behind it included."""
        allowed, longest = self._window.tokens, self._window.characters
        while True:
            end = self._best_break(start, allowed, longest)
            length = self._strip_blanks(end) - start
            if length <= 1 or self._fits(self._text[start : start + length]):
                return end
            if allowed > 1:
                allowed = min(allowed - 1, allowed * 7 // 8)
            else:
                longest = length // 2

    def _best_break(self, start: int, allowed: int, longest: int) -> int:
        limit = self._limit(start, allowed, longest)
        if limit >= len(self._text):
            return limit
        goal = self._limit(start, self._even_share(start, allowed), longest)
        for breaks, least in zip(self._breaks, _LEAST_FILL, strict=True):
            behind = bisect_right(breaks, goal)
            earliest = start + least * (goal - start)
            near = [at for at in breaks[max(0, behind - 1) : behind + 1] if earliest < at <= limit]
            if near:
                return min(near, key=lambda at: abs(at - goal))
        return self._hard_cut(start, limit)

    def _limit(self, start: int, allowed: int, longest: int) -> int:
        """Return the last offset that keeps within so many word pieces and characters."""
        behind = bisect_right(self._ends, start) + allowed
        limit = self._starts[behind] if behind < len(self._starts) else len(self._text)
        return min(max(limit, start + 1), start + longest)

    def _even_share(self, start: int, allowed: int) -> int:
        """Word pieces for this span if all the rest were cut evenly."""
        left = len(self._ends) - bisect_right(self._ends, start)
        parts = math.ceil(left / allowed)
        return min(allowed, math.ceil(left / max(parts, 1)))

    def _hard_cut(self, start: int, limit: int) -> int:
        piece = self._starts[bisect_right(self._starts, limit) - 1] if self._starts else 0
        cut = piece if piece > start else limit
        while cut > start + 1 and self._is_inside_character(cut):
            cut -= 1
        return cut

    def _is_inside_character(self, at: int) -> bool:
        return (
            self._text[at] in _JOINED
            or unicodedata.combining(self._text[at]) > 0
            or self._text[at - 1] == "\u200d"
        )

    def _next_start(self, start: int, done: int) -> int:
        """Step back by a sentence, where a paragraph was cut and the sentence is short enough."""
        blanks = self._text[self._strip_blanks(done) : done]
        if done >= len(self._text) or not blanks or "\n" in blanks or not self._window.overlap:
            return done
        piece = bisect_left(self._starts, done) - self._window.overlap
        earliest = max(start + 1, self._starts[piece] if piece > 0 else 0)
        before = bisect_left(self._sentence_starts, done) - 1
        if before >= 0 and self._sentence_starts[before] >= earliest:
            return self._sentence_starts[before]
        if done in self._sentence_starts:
            return done
        words = self._breaks[-1]
        return words[bisect_left(words, earliest)]

    def _strip_blanks(self, end: int) -> int:
        while end > 0 and self._text[end - 1].isspace():
            end -= 1
        return end

    def _skip_blanks(self, at: int) -> int:
        while at < len(self._text) and self._text[at].isspace():
            at += 1
        return at
