"""Work on the graph that belongs into one write transaction, all of it or nothing.

The driver may run each of these functions twice, when a connection is lost or a deadlock is broken.
"""

import itertools
from collections.abc import Generator, Mapping, Sequence
from typing import Any, LiteralString, TypeVar

from neo4j import ManagedTransaction

from graph import cypher, rows
from graph.editions import Edition, Validity, order_editions
from graph.model import IngestedDocument, IngestRun, TopicModel

ROWS_PER_STATEMENT = 1_000

_T = TypeVar("_T")


def documents(tx: ManagedTransaction, items: Sequence[IngestedDocument]) -> None:
    """Insert or replace documents; nothing of older versions stays."""
    nodes = [rows.document_row(item) for item in items]
    # Documents first: setting their properties locks them, so two runs that write the same document
    # do so one after the other.
    new = {
        row["id"]
        for batch in batches(nodes, ROWS_PER_STATEMENT)
        for row in tx.run(cypher.UPSERT_DOCUMENTS, rows=list(batch)).data()
        if row["is_new"]
    }
    created = [
        item for item in items if item.document.id in new and len(item.chunks) <= ROWS_PER_STATEMENT
    ]
    if created:
        _create(tx, created)
    written = {item.document.id for item in created}
    if replaced := [item for item in items if item.document.id not in written]:
        _replace(tx, replaced)


def _create(tx: ManagedTransaction, items: Sequence[IngestedDocument]) -> None:
    """Write what documents hold that were not in the graph."""
    group: list[rows.Row] = []
    size = 0
    for item in items:
        if group and size + len(item.chunks) > ROWS_PER_STATEMENT:
            tx.run(cypher.CREATE_CONTENTS, rows=group).consume()
            group, size = [], 0
        group.append(rows.contents_row(item))
        size += len(item.chunks)
    tx.run(cypher.CREATE_CONTENTS, rows=group).consume()
    below = [row for item in items for row in rows.section_rows(item) if row["parent_id"]]
    _run(tx, cypher.LINK_SUBSECTIONS, below)
    _run(tx, cypher.LINK_TOPICS, [row for item in items for row in rows.about_rows(item)])


def _replace(tx: ManagedTransaction, items: Sequence[IngestedDocument]) -> None:
    """Write what documents hold, keeping what is the same in an older version."""
    sections = [row for item in items for row in rows.section_rows(item)]
    chunks = [row for item in items for row in rows.chunk_rows(item)]
    order = [row for item in items for row in rows.order_rows(item)]
    kept = [
        {
            "id": item.document.id,
            "chunk_ids": [chunk.id for chunk in item.chunks],
            "section_ids": [section.id for section in item.sections],
        }
        for item in items
    ]
    top = [row for row in sections if row["parent_id"] is None]
    below = [row for row in sections if row["parent_id"] is not None]
    _run(tx, cypher.DELETE_OUTLINE, kept)
    _run(tx, cypher.DELETE_ORDER, kept)
    _run(tx, cypher.DELETE_STALE_CHUNKS, kept)
    _run(tx, cypher.DELETE_STALE_SECTIONS, kept)
    _run(tx, cypher.UPSERT_SECTIONS, sections)
    _run(tx, cypher.LINK_TOP_SECTIONS, top)
    _run(tx, cypher.LINK_SUBSECTIONS, below)
    _run(tx, cypher.UNLINK_MOVED_CHUNKS, rows.home_rows(items))
    _run(tx, cypher.UPSERT_CHUNKS, chunks)
    _run(tx, cypher.LINK_CHUNK_ORDER, order)
    about = [row for item in items for row in rows.about_rows(item)]
    _run(tx, cypher.UNLINK_TOPICS, [{"id": row["id"]} for row in chunks])
    _run(tx, cypher.SET_THETA, about)
    _run(tx, cypher.LINK_TOPICS, about)


def order_and_count(tx: ManagedTransaction, collection: str) -> None:
    """Bring the order of editions and the counts of scopes up to date with the documents."""
    found = tx.run(cypher.EDITIONS, collection=collection).data()
    stored = {row["id"]: (row["valid_from"], row["valid_to"]) for row in found}
    validity = [
        validity
        for series, group in itertools.groupby(found, key=lambda row: row["series"])
        for validity in (
            order_editions([_edition(row) for row in group])
            if series is not None
            # Documents of no series supersede nothing.
            else [v for row in group for v in order_editions([_edition(row)])]
        )
    ]
    changed = [v for v in validity if stored[v.id] != (v.valid_from, v.valid_to)]
    _run(
        tx,
        cypher.SET_VALIDITY,
        [_validity_row(v) for v in changed],
    )
    tx.run(cypher.DELETE_SUPERSEDES, collection=collection).consume()
    links = [{"id": v.id, "supersedes": older} for v in validity for older in v.supersedes]
    _run(tx, cypher.LINK_SUPERSEDES, links)
    tx.run(cypher.COUNT_SCOPES, collection=collection).consume()


def scopes(tx: ManagedTransaction, all_rows: Sequence[rows.Row]) -> int:
    """Move documents with their chunks to scopes; return how many documents there were."""
    found = tx.run(cypher.SET_SCOPES, rows=list(all_rows)).data()
    _run(tx, cypher.SET_CHUNK_SCOPES, [rows.chunk_scope_row(row["document"]) for row in found])
    return len(found)


def topics(tx: ManagedTransaction, model: TopicModel) -> None:
    """Keep a topic model and its topics; those of the one before stay until they are deleted."""
    parameters = {"collection": model.collection, "properties": rows.topic_model_row(model)}
    tx.run(cypher.WRITE_TOPIC_MODEL, parameters).consume()
    _run(tx, cypher.WRITE_TOPICS, rows.topic_rows(model))


def theta(
    tx: ManagedTransaction, collection: str, fingerprint: str, all_rows: Sequence[rows.Row]
) -> int:
    """Write the topics of chunks and link each to its strongest; return how many there are."""
    parameters: dict[str, Any] = {
        "collection": collection,
        "fingerprint": fingerprint,
        "rows": [{"id": row["id"], "theta": row["theta"]} for row in all_rows],
    }
    written = {row["id"] for row in tx.run(cypher.WRITE_THETA, parameters).data()}
    links = [{"id": row["id"], "about": row["about"]} for row in all_rows if row["id"] in written]
    _run(tx, cypher.UNLINK_TOPICS, links)
    _run(tx, cypher.LINK_TOPICS, links)
    return len(written)


def run_report(tx: ManagedTransaction, run: IngestRun) -> None:
    """Keep a run's report, one relationship per file."""
    properties = {
        "id": run.id,
        "collection": run.collection,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "folders": list(run.folders),
        "notes": list(run.notes),
    }
    tx.run(cypher.RECORD_RUN, run=properties).consume()
    outcomes = [rows.outcome_row(outcome) for outcome in run.outcomes]
    for batch in batches(outcomes, ROWS_PER_STATEMENT):
        tx.run(cypher.RECORD_OUTCOMES, run_id=run.id, rows=list(batch)).consume()


def batches(items: Sequence[_T], size: int) -> Generator[Sequence[_T]]:
    """Cut a sequence into pieces of at most this size."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _run(tx: ManagedTransaction, statement: LiteralString, all_rows: Sequence[rows.Row]) -> None:
    for batch in batches(all_rows, ROWS_PER_STATEMENT):
        tx.run(statement, rows=list(batch)).consume()


def _validity_row(validity: Validity) -> dict[str, object]:
    return {
        "id": validity.id,
        "valid_from": validity.valid_from,
        "valid_to": validity.valid_to,
        "is_current": validity.is_current,
    }


def _edition(row: Mapping[str, Any]) -> Edition:
    return Edition(row["id"], row["edition"], row["year"], row["date"])
