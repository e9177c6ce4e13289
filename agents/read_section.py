"""Reads whole sections by number, title or id: what a person means by "Section 4.2.3"."""

from dataclasses import dataclass, replace

from agents.alignment import Part, below, build_parts
from agents.compare_editions import CURRENT, find_edition, find_series
from graph.errors import UsageError
from graph.model import Document, Filter
from graph.ports import Store

SHORTEST_PREFIX = 4
"""Characters of a document's id that are enough to name it."""


@dataclass(frozen=True, slots=True)
class SectionText:
    """A section with the text that stands directly in it."""

    document: Document
    part: Part


def read_section(
    store: Store,
    section: str,
    where: Filter,
    *,
    document: str | None = None,
    series: str | None = None,
    edition: str = CURRENT,
) -> list[SectionText]:
    """Return a section and all below it, in reading order.

    Args:
        store: The graph.
        section: Its id, as hits have it; or its number or title, which needs a document or series.
        where: What the caller may see.
        document: Id of the document, or the beginning of it.
        series: Name of the series, where `document` is not given.
        edition: Of the series: as it is marked, "current", or a year.

    Raises:
        UsageError: The section, document, series or edition does not exist, or is not named.
    """
    documents = {d.id: d for d in _documents(store, section, where, document, series, edition)}
    parts = build_parts(store.outlines(list(documents), where))
    chosen = below(parts, section)
    if not chosen:
        titles = "; ".join(sorted({d.title for d in documents.values()}))
        raise UsageError(
            f"There is no section {section!r} in {titles}. Give its number or its whole title."
        )
    return [
        SectionText(documents[part.section.document_id], part)
        for part in parts
        if part.section.id in chosen
    ]


def _documents(
    store: Store,
    section: str,
    where: Filter,
    document: str | None,
    series: str | None,
    edition: str,
) -> list[Document]:
    if document is None and series is not None:
        name, editions = find_series(store, series, where)
        return list(find_edition(name, editions, edition).documents)
    if document is None:
        passages = store.section_passages(section, where)
        if not passages:
            raise UsageError(
                f"There is no section with the id {section!r}. Name the series or the document, "
                "too, to find a section by number or title."
            )
        document = passages[0].document_id
    seen = [d for d, _ in store.list_documents(replace(where, series=None))]
    found = [d for d in seen if d.id == document]
    if not found and len(document) >= SHORTEST_PREFIX:
        found = [d for d in seen if d.id.startswith(document)]
    if len(found) != 1:
        raise UsageError(
            f"{len(found) or 'No'} documents have the id {document!r}. Give the id of one, as "
            "hits and the list of documents have it."
        )
    return found
