"""Where a gold place stands in the text that the graph has of a document.

Reading changes a text: line ends, invisible characters, blanks at the end of lines. What it never
does is add, drop or move other characters, so a place is carried over by counting the characters
that are not blank. Nothing is counted in a document that is a file: the gold's words are searched
for, as its offsets are of another extraction.
"""

from collections.abc import Sequence

from eval.collection import Gold, SourceDocument
from eval.load import extracted_text
from graph.fold import fold
from graph.model import Chunk

Span = tuple[int, int]
"""[start, end) in the text that the graph has."""


class TextPlaces:
    """Carries offsets from a set's text over to the text that was extracted from it."""

    def __init__(self, source: SourceDocument) -> None:
        self._raw = source.text or ""
        extracted = extracted_text(source)
        self._solid = _solid_places(extracted)

    def span(self, start: int, end: int) -> Span | None:
        """Return the place of [start, end) in the set's text; None if only blanks stand there."""
        first = _solid_count(fold(self._raw[:start]))
        behind = _solid_count(fold(self._raw[:end]))
        if behind == first or behind > len(self._solid):
            return None
        return self._solid[first], self._solid[behind - 1] + 1


class FilePlaces:
    """Finds words in the chunks of a document that was read from a file."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        text = [" "] * max((chunk.end for chunk in chunks), default=0)
        for chunk in chunks:
            text[chunk.start : chunk.end] = chunk.text
        self._solid = _solid_places(text)
        self._squeezed = "".join(text[place] for place in self._solid)

    def span(self, gold: Gold) -> Span | None:
        """Return where the gold's words stand: on its page, else nearest to its offset."""
        words = "".join(fold(gold.text or "").split())
        spans = [
            (self._solid[at], self._solid[at + len(words) - 1] + 1)
            for at in _occurrences(self._squeezed, words)
        ]
        on_page = [span for span in spans if self._is_on_page(span, gold.page)]
        near = gold.start or 0
        return min(on_page or spans, key=lambda span: abs(span[0] - near), default=None)

    def _is_on_page(self, span: Span, page: int | None) -> bool:
        return page is not None and any(
            is_on_page(chunk, page)
            for chunk in self._chunks
            if chunk.start < span[1] and span[0] < chunk.end
        )


def is_on_page(chunk: Chunk, page: int) -> bool:
    """Return whether a part of the chunk stands on the page."""
    if chunk.page_start is None:
        return False
    return chunk.page_start <= page <= (chunk.page_end or chunk.page_start)


def _occurrences(text: str, words: str) -> list[int]:
    found: list[int] = []
    at = text.find(words) if words else -1
    while at >= 0:
        found.append(at)
        at = text.find(words, at + 1)
    return found


def _solid_places(text: Sequence[str]) -> list[int]:
    return [place for place, character in enumerate(text) if not character.isspace()]


def _solid_count(text: str) -> int:
    return sum(not character.isspace() for character in text)
