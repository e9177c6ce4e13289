"""Finds, for each section of one edition, the section of another edition that continues it.

Rules in order of trust, each for what the rules before it left: the same number and title, the same
path of titles, nearly the same text wherever it stands, the same title or the same number with text
or place in common, and last any text that is alike. A section that keeps its number but neither
title nor text is another section.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from graph.model import Chunk, Section

_WORD = re.compile(r"\w+")
_SECTION_WORD = re.compile(r"^(?:section|sec\.?|§)\s*", re.I)
_SHINGLE = 3
"""Words."""
_TELLING = 8
"""Shingles from which on a text tells where it comes from; "No stipulation." does not."""
_SAME, _ALIKE, _RELATED = 0.8, 0.35, 0.15
"""Jaccard similarities of shingles: a text kept, a text revised, a text with passages in common."""
_ALIKE_TITLES = 0.5
"""Jaccard similarity of the titles' words."""
_COMMON = 50
"""Sections that may share a shingle before it is left out of the search for similar texts."""


@dataclass(frozen=True)
class Part:
    """A section and the text that stands directly in it, not in its subsections."""

    section: Section
    titles: tuple[str, ...]
    """Folded titles from the top of the document down to this one, without numbers."""
    text: str
    """Without the heading; empty where all is in the subsections."""
    chunks: tuple[tuple[int, int, Chunk], ...]
    """Where each chunk stands in `text`: [start, end)."""

    @cached_property
    def shingles(self) -> frozenset[str]:
        """The text's runs of three words, folded; a shorter text is one run."""
        words = _WORD.findall(self.text.lower())
        if len(words) < _SHINGLE:
            return frozenset([" ".join(words)]) if words else frozenset()
        runs = range(len(words) - _SHINGLE + 1)
        return frozenset(" ".join(words[at : at + _SHINGLE]) for at in runs)

    @property
    def title(self) -> str:
        """The folded title."""
        return self.titles[-1]

    @property
    def number(self) -> str | None:
        """The folded number; None where the heading carries none."""
        number = self.section.number
        return None if number is None else number.casefold().rstrip(".")

    def pages(self, start: int, end: int) -> tuple[int | None, int | None]:
        """Return first and last page, 1-indexed, of a stretch of `text`."""
        inside = [chunk for first, last, chunk in self.chunks if first < end and start < last]
        pages = [page for c in inside for page in (c.page_start, c.page_end) if page is not None]
        return (min(pages), max(pages)) if pages else (None, None)


def build_parts(outlines: Iterable[tuple[Section, Sequence[Chunk]]]) -> list[Part]:
    """Put each section's text together; what chunks repeat of each other is there once."""
    given = list(outlines)
    by_id = {section.id: section for section, _ in given}
    return [_part(section, chunks, by_id) for section, chunks in given]


def below(parts: Sequence[Part], name: str) -> set[str]:
    """Return the ids of the sections with this number, title or id, and of all below them.

    Args:
        parts: In reading order.
        name: Such as "4.2.3", "Section 4.2.3" or "Records archival"; case does not matter.
    """
    wanted = " ".join(_SECTION_WORD.sub("", name).casefold().split()).rstrip(".")
    found: set[str] = set()
    for part in parts:  # parents come before what is in them
        title = " ".join(part.section.title.casefold().split())
        if wanted in (part.number, title, part.section.id) or part.section.parent_id in found:
            found.add(part.section.id)
    return found


@dataclass(frozen=True, slots=True)
class Pair:
    """A section of the older edition and the one that continues it."""

    older: Part | None
    """None for a section that is new."""
    newer: Part | None
    """None for a section that is gone."""
    similarity: float
    """Jaccard similarity of the two texts' shingles, in [0, 1]; 1 where both are empty."""
    moved: bool
    """Whether it has another number or stands elsewhere."""


def align(older: Sequence[Part], newer: Sequence[Part]) -> list[Pair]:
    """Pair the sections of two editions; each section is in exactly one pair.

    Args:
        older: In reading order.
        newer: In reading order.

    Returns:
        In the newer edition's reading order, a section that is gone behind the one before it.
    """
    found = _Alignment(older, newer)
    found.by_key(lambda part: part.number and (part.number, part.title))
    found.by_key(lambda part: part.titles)
    found.by_text(_SAME)
    found.by_key(lambda part: part.title or None, only_if=found.related)
    found.by_key(lambda part: part.number, only_if=found.related)
    found.by_text(_ALIKE)
    return found.pairs()


class _Alignment:
    """The pairs found so far, by index."""

    def __init__(self, older: Sequence[Part], newer: Sequence[Part]) -> None:
        self.older, self.newer = older, newer
        self.newer_of: dict[int, int] = {}
        self.older_of: dict[int, int] = {}
        self._older_at = {part.section.id: at for at, part in enumerate(older)}
        self._newer_at = {part.section.id: at for at, part in enumerate(newer)}

    def by_key(
        self,
        key: Callable[[Part], Hashable],
        only_if: Callable[[Part, Part], bool] = lambda old, new: True,
    ) -> None:
        """Pair what has the same key, the most similar texts first; None, "" and () are no keys."""
        places: dict[Hashable, list[int]] = {}
        for j in self._free(self.newer, self.older_of):
            places.setdefault(key(self.newer[j]), []).append(j)
        self._take(
            (_similarity(self.older[i], self.newer[j]), i, j)
            for i in self._free(self.older, self.newer_of)
            if (wanted := key(self.older[i]))
            for j in places.get(wanted, ())
            if only_if(self.older[i], self.newer[j])
        )

    def by_text(self, least: float) -> None:
        """Pair texts of at least this similarity, the most similar first."""
        places: dict[str, list[int]] = {}
        for j in self._free(self.newer, self.older_of):
            for shingle in self.newer[j].shingles:
                places.setdefault(shingle, []).append(j)
        candidates: list[tuple[float, int, int]] = []
        for i in self._free(self.older, self.newer_of):
            shared: Counter[int] = Counter()
            for shingle in self.older[i].shingles:
                if len(at := places.get(shingle, ())) <= _COMMON:
                    shared.update(at)
            for j in shared:
                old, new = self.older[i], self.newer[j]
                similarity = _similarity(old, new)
                if similarity >= least and min(len(old.shingles), len(new.shingles)) >= _TELLING:
                    candidates.append((similarity, i, j))
        self._take(candidates)

    def related(self, old: Part, new: Part) -> bool:
        """Tell whether two sections share more than a title or a number."""
        telling = min(len(old.shingles), len(new.shingles)) >= _TELLING
        if telling and _similarity(old, new) >= _RELATED:
            return True
        return _titles_alike(old, new) and self._same_place(old, new)

    def pairs(self) -> list[Pair]:
        """Return everything in the newer edition's order."""
        found = [self._pair(self.older_of.get(j), j) for j in range(len(self.newer))]
        gone: dict[int, list[Pair]] = {}
        before = -1
        for i in range(len(self.older)):
            if i in self.newer_of:
                before = self.newer_of[i]
            else:
                gone.setdefault(before, []).append(self._pair(i, None))
        ordered = gone.get(-1, [])
        for j, pair in enumerate(found):
            ordered += [pair, *gone.get(j, [])]
        return ordered

    def _pair(self, i: int | None, j: int | None) -> Pair:
        old = None if i is None else self.older[i]
        new = None if j is None else self.newer[j]
        if old is None or new is None:
            return Pair(old, new, 0.0, moved=False)
        return Pair(old, new, _similarity(old, new), self._moved(old, new))

    def _moved(self, old: Part, new: Part) -> bool:
        if old.number is not None and new.number is not None:
            return old.number != new.number
        return not self._same_place(old, new)

    def _same_place(self, old: Part, new: Part) -> bool:
        """Tell whether one's parent is paired with something above the other.

        Not necessarily with its parent: headings are nested more or less deeply from one edition to
        the next without anything being moved.
        """
        above_old = self._above(old, self._older_at, self.older)
        above_new = self._above(new, self._newer_at, self.newer)
        if not above_old or not above_new:
            return True
        return (
            self.newer_of.get(above_old[0]) in above_new
            or self.older_of.get(above_new[0]) in above_old
        )

    def _above(self, part: Part, at: dict[str, int], parts: Sequence[Part]) -> list[int]:
        """Return the indices of the sections above, the nearest first."""
        found: list[int] = []
        parent = part.section.parent_id
        while parent is not None and parent in at:
            found.append(at[parent])
            parent = parts[at[parent]].section.parent_id
        return found

    def _free(self, parts: Sequence[Part], taken: dict[int, int]) -> list[int]:
        return [at for at in range(len(parts)) if at not in taken]

    def _take(self, candidates: Iterable[tuple[float, int, int]]) -> None:
        def order(candidate: tuple[float, int, int]) -> tuple[float, int, int]:
            similarity, i, j = candidate
            return (-similarity, abs(i - j), i)

        for _, i, j in sorted(candidates, key=order):
            if i not in self.newer_of and j not in self.older_of:
                self.newer_of[i], self.older_of[j] = j, i


def _similarity(old: Part, new: Part) -> float:
    if not old.shingles and not new.shingles:
        return 1.0
    shared = len(old.shingles & new.shingles)
    return shared / (len(old.shingles) + len(new.shingles) - shared)


def _titles_alike(old: Part, new: Part) -> bool:
    left, right = _title_words(old.title), _title_words(new.title)
    return bool(left | right) and len(left & right) / len(left | right) >= _ALIKE_TITLES


def _title_words(title: str) -> set[str]:
    """Return the words that tell titles apart: no short ones, no plurals."""
    return {word.rstrip("s") for word in title.split() if len(word) > 3 or word.isdigit()}


def _part(section: Section, chunks: Sequence[Chunk], by_id: dict[str, Section]) -> Part:
    titles: list[str] = []
    above: Section | None = section
    while above is not None:
        # The document's own title names the edition, so it tells nothing.
        titles.append("" if above.provenance == "document" else _folded(above.title))
        above = by_id.get(above.parent_id or "")
    text, places = _joined(chunks, section.path[-1] if section.path else "")
    return Part(section, tuple(reversed(titles)), text, places)


def _joined(
    chunks: Sequence[Chunk], heading: str
) -> tuple[str, tuple[tuple[int, int, Chunk], ...]]:
    text, places, end = "", list[tuple[int, int, Chunk]](), None
    for chunk in sorted(chunks, key=lambda chunk: chunk.ordinal):
        piece = chunk.text
        if end is None:
            piece = piece.removeprefix(heading).lstrip("\n")
        elif chunk.start < end:
            piece = piece[end - chunk.start :]
        else:
            text += "\n" if chunk.start - end < 2 else "\n\n"
        places.append((len(text), len(text) + len(piece), chunk))
        text += piece
        end = max(chunk.end, end or 0)
    return text, tuple(places)


def _folded(title: str) -> str:
    return " ".join(_WORD.findall(title.casefold()))
