"""Headings to the section tree; every character of the text belongs to exactly one section."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from graph.model import Section
from ingestion.pages import page_range
from ingestion.parsed import Heading, ParsedDocument, SectionSpan


@dataclass(frozen=True, slots=True)
class _Node:
    """A section without its id."""

    path: tuple[str, ...]
    parent: int | None
    """Index of the parent."""
    heading: Heading
    start: int
    end: int
    """Where the section's own text ends."""
    whole_end: int
    """Where the last of its subsections ends."""


def build_sections(parsed: ParsedDocument, document_id: str, title: str) -> tuple[SectionSpan, ...]:
    """Build the section tree, depth first.

    Text before the first heading goes to a leading section, which bears the document's title and
    the provenance "document"; without such text there is none. A section's level is its depth in
    the tree: levels that the headings skip are closed up. Its pages are those of the section with
    its subsections.

    Args:
        parsed: The document as read.
        document_id: Goes into the ids of the sections.
        title: Title of the document, for the leading section.
    """
    spans: list[SectionSpan] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for ordinal, node in enumerate(_nodes(parsed, title)):
        section_id = _digest(document_id, *node.path, str(seen[node.path]))
        seen[node.path] += 1
        page_start, page_end = page_range(
            parsed.page_starts, parsed.text, node.start, node.whole_end
        )
        section = Section(
            id=section_id,
            document_id=document_id,
            parent_id=None if node.parent is None else spans[node.parent].section.id,
            number=node.heading.number,
            title=node.heading.title or node.path[-1],
            path=node.path,
            level=len(node.path),
            ordinal=ordinal,
            page_start=page_start,
            page_end=page_end,
            provenance=node.heading.provenance,
        )
        spans.append(SectionSpan(section, node.start, node.heading.end, node.end))
    return tuple(spans)


def _nodes(parsed: ParsedDocument, title: str) -> Iterator[_Node]:
    headings = parsed.headings
    first = headings[0].start if headings else len(parsed.text)
    has_leading = not headings or bool(parsed.text[:first].strip())
    if has_leading:
        yield _Node((title,), None, Heading(0, 0, 1, None, title, "document"), 0, first, first)
    ends = [*(heading.start for heading in headings[1:]), len(parsed.text)]
    whole_ends = _whole_ends(headings, len(parsed.text))
    open_nodes: list[tuple[int, int, str]] = []  # (level, index, printed heading), outermost first
    for i, heading in enumerate(headings):
        while open_nodes and open_nodes[-1][0] >= heading.level:
            open_nodes.pop()
        parent = open_nodes[-1][1] if open_nodes else None
        printed = " ".join(parsed.text[heading.start : heading.end].split())
        open_nodes.append((heading.level, i + has_leading, printed))
        path = tuple(name for _, _, name in open_nodes)
        start = heading.start if i or has_leading else 0  # no text is outside of all sections
        yield _Node(path, parent, heading, start, ends[i], whole_ends[i])


def _whole_ends(headings: Sequence[Heading], length: int) -> list[int]:
    """For each heading, where the next one begins that is not of its subsections."""
    ends = [length] * len(headings)
    still_open: list[int] = []
    for i, heading in enumerate(headings):
        while still_open and headings[still_open[-1]].level >= heading.level:
            ends[still_open.pop()] = heading.start
        still_open.append(i)
    return ends


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
