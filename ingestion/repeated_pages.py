"""Pages that stand in a file twice in a row, word for word: their text is kept once.

Two copies of a page would take two places among the passages that answer a question. Only a page or
a run of pages that is at once followed by the same again counts: further apart, the same words may
belong to another section, as the second page of two forms does.
"""

from collections.abc import Sequence

from ingestion.pdf_page import Line

_FEWEST_LETTERS = 100
"""A run with less, such as the title of a part, may stand there twice on purpose."""


def find_repeats(pages: Sequence[Sequence[Line]]) -> dict[int, int]:
    """Return the pages that repeat another, each with the first that has its text; 0-indexed.

    Args:
        pages: The lines of each page, without running heads and page numbers.
    """
    texts = [" ".join(" ".join(line.text for line in page).split()) for page in pages]
    last: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for index, text in enumerate(texts):
        before = last.get(text)
        last[text] = index
        if index in repeats or before is None:
            continue
        run = texts[before:index]
        letters = sum(character.isalnum() for page in run for character in page)
        if letters >= _FEWEST_LETTERS and texts[index : index + len(run)] == run:
            for i in range(len(run)):
                repeats[index + i] = repeats.get(before + i, before + i)
    return {index: first for index, first in repeats.items() if texts[index]}


def in_words(repeats: dict[int, int]) -> list[str]:
    """Return what a person should know of them."""
    return [
        f"page {index + 1} repeats page {first + 1} word for word, so its text is kept once"
        for index, first in sorted(repeats.items())
    ]
