"""Sections to chunks that the encoder reads whole.

A chunk stays inside a section and carries the section's path as its heading, which is embedded
with it; so heading and text together must fit the encoder's window. A section's heading line is
in the heading already and not repeated in the text, unless the section has nothing else.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b, sha256

from graph.model import Chunk, Section
from graph.ports import Tokenizer
from ingestion.page_labels import printed_on
from ingestion.pages import page_range
from ingestion.parsed import ParsedDocument, SectionSpan
from ingestion.split import Span, Window, split, stretches
from ingestion.tables import Region, regions

SPLITTER_VERSION = "7"
"""Part of a document's fingerprint; to be raised when the same file gives other chunks."""


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """How large chunks are."""

    heading_share: float = 0.3
    """Largest part of the encoder's window that the heading may take, in [0, 1)."""
    overlap_tokens: int = 24
    """A sentence of at most so many word pieces is repeated where a paragraph is cut."""
    characters_per_token: int = 12
    """Longest text per word piece; WordPiece takes any word of over 100 characters for one."""


def chunk_document(
    parsed: ParsedDocument,
    sections: Sequence[SectionSpan],
    title: str,
    tokenizer: Tokenizer,
    sizes: ChunkSizes = ChunkSizes(),
) -> tuple[Chunk, ...]:
    """Cut a document into chunks.

    Every character that is not white space is in the text of a chunk or in the heading of a
    section. `chunk.text` equals `parsed.text[chunk.start:chunk.end]`.

    Args:
        parsed: The document as read.
        sections: From `build_sections`, of the same document.
        title: Title of the document; the first part of each chunk's heading.
        tokenizer: The encoder's.
        sizes: How large chunks are.
    """
    parents = {span.section.parent_id for span in sections}
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for span in sections:
        heading = heading_line(title, span.section.path, tokenizer, sizes.heading_share)
        offset = _text_start(parsed.text, span, heading, span.section.id in parents)
        for line, piece in _pieces(parsed, (offset, span.end), heading, tokenizer, sizes):
            chunks.append(_chunk(parsed, span.section, line, piece, len(chunks), seen))
    return tuple(chunks)


def heading_line(title: str, path: Sequence[str], tokenizer: Tokenizer, share: float) -> str:
    """Join the document's title and a section's path to one line that fits its share.

    Where it is too long the title goes first, then the outer headings, then the end of the last.
    """
    budget = int(tokenizer.max_tokens * share)
    is_repeated = path[0].casefold() == title.casefold()
    names = list(path) if is_repeated or not title else [title, *path]
    for first in range(len(names)):
        line = " > ".join(names[first:])
        if len(tokenizer.token_offsets(line)) <= budget:
            return line
    last = tokenizer.token_offsets(names[-1])
    return names[-1][: last[budget - 1][1]].rstrip() if budget else ""


def _text_start(text: str, span: SectionSpan, heading: str, has_subsections: bool) -> int:
    """Where the text of a section's chunks begins: behind its heading line, if nothing is lost."""
    is_carried = heading.endswith(span.section.path[-1])
    is_empty = not text[span.body_start : span.end].strip()
    if is_carried and (has_subsections or not is_empty):
        return span.body_start
    return span.start


def _pieces(
    parsed: ParsedDocument, span: Span, heading: str, tokenizer: Tokenizer, sizes: ChunkSizes
) -> Iterator[tuple[str, Span]]:
    """Yield heading and span of each chunk of a section."""

    def fits(piece: str) -> bool:
        return _fits(tokenizer, heading, piece)

    def shorten(header: str) -> str:
        tokens = tokenizer.token_offsets(header)[: int(tokenizer.max_tokens * sizes.heading_share)]
        return header[: tokens[-1][1]].rstrip() if tokens else ""

    for region in regions(parsed.text, *span, parsed.tables, fits, shorten):
        below = f"{heading}\n{region.header}".strip() if region.header else heading
        for start, end in _cut(parsed.text, region, below, tokenizer, sizes):
            yield below if start >= region.header_end else heading, (start, end)


def _fits(tokenizer: Tokenizer, heading: str, piece: str) -> bool:
    return len(tokenizer.token_offsets(embedded_text(heading, piece))) <= tokenizer.max_tokens


def _cut(
    text: str, region: Region, heading: str, tokenizer: Tokenizer, sizes: ChunkSizes
) -> Iterator[Span]:
    # Tokenizers may count otherwise across the line end, so `fits` counts heading and text at once.
    room = max(1, tokenizer.max_tokens - len(tokenizer.token_offsets(heading)))
    window = Window(
        tokens=room,
        characters=room * sizes.characters_per_token,
        overlap=min(sizes.overlap_tokens, room // 4),
    )
    for start, end in stretches(text[region.start : region.end]):
        start, end = region.start + start, region.start + end
        stretch = text[start:end]
        whole = [(a - start, b - start) for a, b in region.whole if start <= a and b <= end]
        cut = split(
            stretch,
            tokenizer.token_offsets(stretch),
            window,
            partial(_fits, tokenizer, heading),
            whole,
        )
        yield from ((start + left, start + right) for left, right in cut)


def embedded_text(heading: str, text: str) -> str:
    """Return what the encoder reads of a chunk."""
    return f"{heading}\n{text}" if heading else text


def _chunk(
    parsed: ParsedDocument,
    section: Section,
    heading: str,
    piece: Span,
    ordinal: int,
    seen: Counter[str],
) -> Chunk:
    start, end = piece
    text = parsed.text[start:end]
    same = _digest(section.document_id, *section.path, text)
    seen[same] += 1
    page_start, page_end = page_range(parsed.page_starts, parsed.text, start, end)
    return Chunk(
        id=_digest(same, str(seen[same])),
        document_id=section.document_id,
        section_id=section.id,
        text=text,
        heading=heading,
        ordinal=ordinal,
        start=start,
        end=end,
        page_start=page_start,
        page_end=page_end,
        sha256=sha256(embedded_text(heading, text).encode()).hexdigest(),
        printed=printed_on(parsed.page_labels, page_start, page_end),
    )


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
