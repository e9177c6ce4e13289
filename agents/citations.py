"""Holds an answer's citations against its sources, after generation and without a model.

The form of a citation is `[Source n]`. What models make of it - `[Sources 1-3]`, `[source 2, p.
4]`, full-width digits - is brought into that form first; `passages.py` uses the same definition to
see to it that no passage contains a citation.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from agents.answer import ABSTENTION, Checks
from agents.figures import figures_in_claim, figures_in_source
from agents.sentences import split_sentences, strip_marker

_OPEN, _CLOSE = r"\[［【〔⟦❲", r"\]］】〕⟧❳"  # noqa: RUF001 (full-width brackets)
_BRACKETED = re.compile(rf"([ \t]*)[{_OPEN}]([^{_OPEN}{_CLOSE}]{{1,200}})[{_CLOSE}]")
_SOURCE_WORD = re.compile(r"\s*sources?\b")
_ITEM = re.compile(
    r"\s*(?:[,;&/+]|and|or)?\s*(?:sources?\b)?\s*(?:nos?\.|numbers?)?\s*[#:]?\s*"
    r"(\d{1,9})(?:\s*(?:-|–|—|to|through)\s*(?:source\b)?\s*(\d{1,9}))?(?!\.\d)(?!\w)"  # noqa: RUF001
)
_CITATION = re.compile(r"\[Source (\d+)\]")
_GLUED_CITATION = re.compile(r"(?<=[\w.,;:%)\]”\"])(?=\[Source \d)")
_LEADING_CITATIONS = re.compile(r"(?:\s*\[Source \d+\])+[.,;]?")
THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
"""What a reasoning model says to itself; no part of the answer."""
_SHORTEST_CLAIM = 3
"""Words; below that a sentence without figure and citation is a label, not a claim."""


_Known = tuple[frozenset[str], frozenset[str]]
"""The figures in a source's text, and those with the ones that tell where it stands."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a citation may rest on."""

    text: str
    """What the passage says."""
    place: str = ""
    """Where it stands: title, edition, section, pages. Its numbers are no amounts."""


@dataclass(frozen=True, slots=True)
class CheckedText:
    """An answer's text after the checks."""

    text: str
    """`ABSTENTION` where nothing in the answer is supported."""
    checks: Checks
    cited: frozenset[int]
    """Numbers of the sources that the text cites."""
    supported: bool


def check(text: str, sources: Sequence[Evidence]) -> CheckedText:
    """Remove citations that lead nowhere, mark figures that are not in the source, count the rest.

    A claim is held against the sources that it cites, an uncited one against all of them. An
    answer in which no claim cites a source that exists is turned into `ABSTENTION`.

    Args:
        text: The answer as it was generated.
        sources: What it was made from; `[Source n]` means `sources[n - 1]`.
    """
    text, removed = normalise_citations(THINKING.sub("", text), len(sources))

    @cache  # finding figures is what takes time here
    def known(n: int) -> _Known:
        return _known(sources[n - 1])

    everything = range(1, len(sources) + 1)
    spans = [span for span in _claims(text) if _is_claim(text[slice(*span)])]
    numbers = {span: cited_numbers(text[slice(*span)]) for span in spans}
    unfounded = {
        claim: _unfounded(text[slice(*claim)], [known(n) for n in sorted(cited) or everything])
        for claim, cited in numbers.items()
    }
    cited = frozenset[int]().union(*numbers.values())
    checks = Checks(
        claims=len(spans),
        uncited_claims=sum(not cited for cited in numbers.values()),
        removed_citations=removed,
        marked_claims=sum(bool(figures) for figures in unfounded.values()),
        unfounded_figures=tuple(dict.fromkeys(f for found in unfounded.values() for f in found)),
    )
    if not cited:
        return CheckedText(ABSTENTION, checks, cited, supported=False)
    for (_, end), figures in reversed(unfounded.items()):
        if figures:
            text = f"{text[:end]} [not in the source: {', '.join(figures)}]{text[end:]}"
    return CheckedText(text.strip(), checks, cited, supported=True)


def normalise_citations(text: str, sources: int) -> tuple[str, int]:
    """Write every citation as `[Source n]` and remove those outside 1..`sources`.

    Returns:
        The text, and the number of citations removed: "[Source 0]" is one, "[Sources 4-9]" is one
        if there are fewer than 9, and one without any number is one.
    """
    removed = 0

    def rewrite(inner: str) -> str:
        nonlocal removed
        numbers, wrong = _parse(inner, sources)
        removed += wrong
        return " ".join(f"[Source {n}]" for n in numbers)

    text = replace_citations(text, rewrite)
    return _GLUED_CITATION.sub(" ", text), removed


def replace_citations(text: str, rewrite: Callable[[str], str]) -> str:
    """Replace everything that reads as a citation by what `rewrite` makes of its inside.

    Where that is nothing, the space before it goes too.
    """

    def replace(match: re.Match[str]) -> str:
        inner = unicodedata.normalize("NFKC", match.group(2)).lower()
        inner = "".join(c for c in inner if unicodedata.category(c) != "Cf")
        if not _SOURCE_WORD.match(inner):
            return match.group()
        replacement = rewrite(inner.strip())
        return match.group(1) + replacement if replacement else ""

    return _BRACKETED.sub(replace, text)


def cited_numbers(text: str) -> frozenset[int]:
    """Return the numbers of the sources that a text with normalised citations cites."""
    return frozenset(int(n) for n in _CITATION.findall(text))


def claims(text: str) -> list[str]:
    """Return the sentences of an answer that state something, each with its citations.

    Args:
        text: Whose citations have the form `[Source n]`.
    """
    return [text[slice(*span)] for span in _claims(text) if _is_claim(text[slice(*span)])]


def unfounded(claim: str, sources: Sequence[Evidence]) -> list[str]:
    """Return the figures of a claim that none of the sources has, as they are written."""
    return _unfounded(claim, [_known(source) for source in sources])


def _parse(inner: str, sources: int) -> tuple[list[int], int]:
    """Return the valid numbers in a citation, in order, and how many there are beside them."""
    numbers: dict[int, None] = {}
    wrong = position = 0
    while item := _ITEM.match(inner, position):
        first, last = int(item.group(1)), int(item.group(2) or item.group(1))
        first, last = min(first, last), max(first, last)
        numbers |= dict.fromkeys(range(max(first, 1), min(last, sources) + 1))
        wrong += first < 1 or last > sources
        position = item.end()
    return list(numbers), wrong or int(not numbers)


def _claims(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) offsets of the sentences, each with the citations behind it."""
    spans: list[tuple[int, int]] = []
    for sentence in split_sentences(text):
        start = sentence.start
        if spans:
            first, last = spans[-1]
            same_line = "\n" not in text[last:start]
            leading = _LEADING_CITATIONS.match(text, start, sentence.end)
            if leading and (same_line or leading.end() == sentence.end):
                spans[-1] = (first, leading.end())
                start = leading.end()
            elif same_line and text.count("“", first, last) > text.count("”", first, last):
                spans[-1] = (first, sentence.end)
                continue
        if text[start : sentence.end].strip():
            spans.append((start, sentence.end))
    return spans


def _is_claim(sentence: str) -> bool:
    """Tell whether a sentence states something, rather than leading in, asking or abstaining."""
    bare = strip_marker(_CITATION.sub("", sentence)).strip(" \t\n*_")
    words = re.findall(r"\w+", bare)
    if not words or bare.startswith("#") or bare.endswith((":", "?")):
        return False
    if bare.lower().startswith(ABSTENTION.lower().rstrip(".")):
        return False
    return len(words) >= _SHORTEST_CLAIM or bool(cited_numbers(sentence))


def _known(source: Evidence) -> _Known:
    said = figures_in_source(source.text)
    return said, said | figures_in_source(source.place)


def _unfounded(claim: str, known: Sequence[_Known]) -> list[str]:
    """Return the figures of a claim that none of the sources has, as they are written."""
    amounts = frozenset[str]().union(*(said for said, _ in known))
    numbers = frozenset[str]().union(*(all_ for _, all_ in known))
    figures = figures_in_claim(strip_marker(_CITATION.sub("", claim)))
    return [f.written for f in figures if f.normal not in (amounts if f.measures else numbers)]
