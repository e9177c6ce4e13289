"""Puts passages before a chat model: as data, numbered, and within its context.

A passage cannot leave its place. Each of its lines begins with a mark that nothing inside a line
can end, so delimiters that a document imitates stand behind that mark; what would read as a
citation, a tag or a model's control token is written with other brackets.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from agents.citations import Evidence, replace_citations
from agents.context import Limits
from agents.sentences import split_sentences
from graph.errors import UsageError
from graph.model import Hit, Passage

LINE_MARK = "| "
_TAG = re.compile(r"[<＜﹤‹]{1,2}(?=[/|]?[A-Za-z_])([^<>＜＞]{0,80})[>＞﹥›]{1,2}")  # noqa: RUF001
_UNSEEN = ("Cf", "Cc")
"""Categories of Unicode whose characters cannot be seen."""
_CONTROL_TOKEN = re.compile(
    r"\[(/?(?:INST|SYS|SYSTEM|CONTEXT|END|USER|ASSISTANT)[^\]\n]{0,40})\]", re.I
)
_BYTES_PER_TOKEN = 3
"""English has about 4 bytes to a token, tables and other languages fewer; rather too few fit."""
_SHORTEST_PASSAGE = 40
"""Tokens; a shorter rest of a passage is not worth reading."""
_OVERHEAD = 40
"""Tokens for the message format that chat templates add."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The passages that fit."""

    text: str
    """Numbered blocks in the order of the hits, best first."""
    shown: int
    """How many hits are in it: always the best ones."""
    left_out: int


def fit(
    hits: Sequence[Hit],
    question: str,
    instructions: str,
    limits: Limits,
    numbers: Sequence[int] = (),
) -> Fitted:
    """Show as many passages as the context has room for; the lowest are left out first.

    The question is never cut. A best passage that is too long by itself is cut behind a sentence.

    Args:
        hits: Best first.
        question: What will be asked about the passages.
        instructions: Everything else that is sent along.
        limits: `context_tokens` less `answer_tokens` is what can be read.
        numbers: Of the hits as sources; empty means 1, 2, 3, and so on.

    Raises:
        UsageError: The question leaves no room for any passage.
    """
    room = limits.context_tokens - limits.answer_tokens - _OVERHEAD
    room -= estimate_tokens(question) + estimate_tokens(instructions)
    if hits and room < _SHORTEST_PASSAGE:
        raise UsageError(
            f"The question is too long for the chat model, which reads {limits.context_tokens} "
            "tokens with its answer: shorten it, or raise MILEPOST_MODEL_CONTEXT."
        )
    blocks: list[str] = []
    for n, hit in zip(numbers or range(1, len(hits) + 1), hits, strict=True):
        block = show(n, hit.passage)
        if estimate_tokens(block) > room and not blocks:
            block = cut(block, room)
        if estimate_tokens(block) > room:
            break
        room -= estimate_tokens(block)
        blocks.append(block)
    return Fitted("\n\n".join(blocks), len(blocks), len(hits) - len(blocks))


def show(n: int, passage: Passage) -> str:
    """Return one passage under its number, disarmed, with what it is taken from."""
    lines = [LINE_MARK + line for line in disarm(passage.text).splitlines() if line.strip()]
    return "\n".join([f"[Source {n}] {describe(passage)}", *lines])


def describe(passage: Passage) -> str:
    """Return document, edition, section and pages in one disarmed line."""
    parts = [passage.document]
    if edition := edition_of(passage):
        parts.append(f"edition {edition}" + ("" if passage.is_current else " (superseded)"))
    elif not passage.is_current:
        parts.append("superseded edition")
    if section := section_of(passage):
        parts.append(f"section {section}")
    if pages := pages_of(passage):
        parts.append(page_label(pages, passage.printed))
    return " ".join(disarm(", ".join(parts)).split())


def evidence(passage: Passage) -> Evidence:
    """Return what an answer may take from a passage."""
    return Evidence(passage.text, f"{describe(passage)}\n{passage.heading}")


def disarm(text: str) -> str:
    """Return the text without anything that could pass for a citation, a tag or a control token.

    Characters that cannot be seen go as well, so that nothing is hidden from the reader of the
    passage that the model is shown.
    """
    if not text.replace("\n", "").replace("\t", "").isprintable():  # quickly told, mostly true
        text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in _UNSEEN)
    text = replace_citations(text, lambda inner: f"({inner})")
    text = _CONTROL_TOKEN.sub(r"(\1)", text)
    return _TAG.sub(r"(\1)", text)


def edition_of(passage: Passage) -> str | None:
    """Return the edition, else the year; None where neither is known."""
    return passage.edition or (str(passage.year) if passage.year else None)


def section_of(passage: Passage) -> str:
    """Return number and title of the section; empty for a document without sections."""
    return " ".join(part for part in (passage.section_number, passage.section) if part)


def pages_of(passage: Passage) -> tuple[int, int] | None:
    """Return first and last page, 1-indexed; None for formats without pages."""
    if passage.page_start is None:
        return None
    return passage.page_start, passage.page_end or passage.page_start


def page_label(pages: tuple[int, int], printed: str | None = None) -> str:
    """Return "page 4", "pages 4-5", or "page 4 of the file (printed: ii)"."""
    first, last = pages
    label = f"page {first}" if first == last else f"pages {first}-{last}"
    return f"{label} of the file (printed: {printed})" if printed else label


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a chat model makes of a text, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def cut(block: str, room: int) -> str:
    """Cut a block to so many tokens: behind the last sentence that fits, else the last word."""
    limit = room * _BYTES_PER_TOKEN
    head = block.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
    ends = [sentence.end for sentence in split_sentences(head)[:-1]]
    return head[: ends[-1]] if ends and ends[-1] > limit // 2 else head.rpartition(" ")[0]
