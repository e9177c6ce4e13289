"""Finds a passage again among the characters of a page, whatever the page does to its words.

Text is compared by letters and digits alone, so hyphens, line breaks, spaces, quotation marks and
ligatures make no difference. Running heads or other columns may stand in between, and only a part
of the passage may be on the page.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SEED = 8
"""Letters that must agree before a place is looked at."""
_TELLING = 24
"""Letters in a row that are no coincidence."""
_MOST_OF_IT = 0.8
"""Share of a passage that is enough: of a shorter one in one piece, of others in pieces nearby."""
_NEAR = 200
"""Letters between two pieces that are still taken to belong together."""
_LEAST_OF_LARGEST = 0.2
"""Share of the largest group's letters that another group of pieces must have."""
_GAP = 3
"""Letters in a gap, such as the number of a footnote, that is marked with what is around it."""

Span = tuple[int, int]
"""Start and end, exclusive, 0-indexed."""


@dataclass(frozen=True, slots=True)
class _Letters:
    """Folded letters and digits, and the character that each was."""

    text: str
    places: tuple[int, ...]


def find_passage(page: str, passage: str) -> list[Span]:
    """Return where the passage stands, or what of it is on the page; empty where nothing is.

    Args:
        page: One character for each place, in the order in which they are read.
        passage: What to find.

    Returns:
        Spans of `page`, in order, apart from each other.
    """
    on_page, wanted = _letters(page), _letters(passage)
    pieces = sorted(set(_pieces(on_page.text, wanted.text)))
    spans: list[Span] = []
    for start, end in _trusted(pieces, len(wanted.text)):
        if spans and start - spans[-1][1] <= _GAP:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    places = on_page.places
    return [(places[start], _behind(page, places[end - 1] + 1)) for start, end in spans]


def _letters(text: str) -> _Letters:
    found = [
        (letter, at)
        for at, character in enumerate(text)
        for letter in unicodedata.normalize("NFKC", character).casefold()
        if letter.isalnum()
    ]
    return _Letters("".join(letter for letter, _ in found), tuple(at for _, at in found))


def _pieces(text: str, wanted: str) -> Iterator[Span]:
    """Walk through what is wanted, and yield the longest agreement at each step."""
    seed = min(_SEED, len(wanted))
    if not seed:
        return
    seeds: dict[str, list[int]] = {}
    for at in range(len(text) - seed + 1):
        seeds.setdefault(text[at : at + seed], []).append(at)
    here, expected = 0, -1
    while here + seed <= len(wanted):
        starts = seeds.get(wanted[here : here + seed], ())
        ends = [(_end(text, at, wanted, here), at == expected, -at) for at in starts]
        if not ends:
            here += 1
            continue
        length, _, negative = max(ends)
        yield (-negative, length - negative)
        here += length
        expected = length - negative


def _end(text: str, at: int, wanted: str, here: int) -> int:
    """Return how many letters agree from here on."""
    most = min(len(text) - at, len(wanted) - here)
    for length in range(most):
        if text[at + length] != wanted[here + length]:
            return length
    return most


def _trusted(pieces: Sequence[Span], wanted: int) -> list[Span]:
    """Leave out agreements by chance: short ones far from the others."""
    least = min(_TELLING, max(1, int(wanted * _MOST_OF_IT)))
    groups: list[list[Span]] = []
    for piece in pieces:
        if groups and piece[0] - groups[-1][-1][1] <= _NEAR:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    sizes = [sum(end - start for start, end in group) for group in groups]
    return [
        piece
        for group, size in zip(groups, sizes, strict=True)
        if (_longest(group) >= least or size >= _MOST_OF_IT * wanted)
        and size >= _LEAST_OF_LARGEST * max(sizes)
        for piece in _inside(group, least)
    ]


def _longest(group: Sequence[Span]) -> int:
    return max(end - start for start, end in group)


def _inside(group: Sequence[Span], least: int) -> list[Span]:
    """Return the pieces between the first and the last telling one, and those close to them."""
    telling = [piece for piece in group if piece[1] - piece[0] >= least] or group
    first, last = telling[0][0] - 2 * _TELLING, telling[-1][1] + 2 * _TELLING
    return [piece for piece in group if first <= piece[0] and piece[1] <= last]


def _behind(page: str, end: int) -> int:
    """Return the end with the punctuation behind the last letter."""
    while end < len(page) and not page[end].isspace() and not page[end].isalnum():
        end += 1
    return end
