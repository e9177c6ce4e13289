"""Every Cypher statement of Milepost, as literals; values travel as parameters only.

Statements with a filter hold the mark `#FILTER#`, or `#REST#` for all but the scopes, which
`filtered` replaces by conditions from the closed set `CONDITIONS`; `searching` does so with lists.
The type `LiteralString` lets the type checker refuse any other text.
"""

from collections.abc import Sequence
from typing import LiteralString

from graph.model import Filter

# Schema -------------------------------------------------------------------------------------------

CREATE_CONSTRAINTS: tuple[LiteralString, ...] = (
    "CREATE CONSTRAINT migration_name IF NOT EXISTS FOR (m:Migration) REQUIRE m.name IS UNIQUE",
    "CREATE CONSTRAINT document_id IF NOT EXISTS FOR (d:Document) REQUIRE d.id IS UNIQUE",
    "CREATE CONSTRAINT section_id IF NOT EXISTS FOR (s:Section) REQUIRE s.id IS UNIQUE",
    "CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (c:Chunk) REQUIRE c.id IS UNIQUE",
    "CREATE CONSTRAINT topic_id IF NOT EXISTS FOR (t:Topic) REQUIRE t.id IS UNIQUE",
    "CREATE CONSTRAINT run_id IF NOT EXISTS FOR (r:IngestRun) REQUIRE r.id IS UNIQUE",
    "CREATE CONSTRAINT scope_name IF NOT EXISTS "
    "FOR (s:Scope) REQUIRE (s.collection, s.name) IS UNIQUE",
    "CREATE CONSTRAINT router_name IF NOT EXISTS "
    "FOR (r:Router) REQUIRE (r.collection, r.name) IS UNIQUE",
    "CREATE CONSTRAINT topic_model IF NOT EXISTS FOR (m:TopicModel) REQUIRE m.collection IS UNIQUE",
    "CREATE INDEX document_collection IF NOT EXISTS FOR (d:Document) ON (d.collection)",
    "CREATE INDEX document_series IF NOT EXISTS FOR (d:Document) ON (d.collection, d.series)",
    "CREATE INDEX chunk_document IF NOT EXISTS FOR (c:Chunk) ON (c.document_id)",
    "CREATE INDEX section_document IF NOT EXISTS FOR (s:Section) ON (s.document_id)",
    "CREATE INDEX section_number IF NOT EXISTS FOR (s:Section) ON (s.number)",
)

# All properties that a search may filter on: declaring another later means building it anew.
CREATE_VECTOR_INDEX: LiteralString = """
CYPHER 25
CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (c:Chunk) ON c.embedding
WITH [c.collection, c.audience, c.scope, c.series, c.edition, c.year, c.is_current, c.valid_from,
      c.valid_to]
OPTIONS { indexConfig: $config }
"""

DROP_VECTOR_INDEX: LiteralString = "DROP INDEX chunk_embedding IF EXISTS"

CREATE_FULLTEXT_INDEX: LiteralString = """
CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS FOR (c:Chunk)
ON EACH [c.text, c.heading, c.keys, c.valid_from, c.valid_to]
OPTIONS { indexConfig: $config }
"""

AWAIT_INDEXES: LiteralString = "CALL db.awaitIndexes($seconds)"

SHOW_INDEXES: LiteralString = """
SHOW INDEXES YIELD name, state, populationPercent, properties, options
WHERE name IN ['chunk_embedding', 'chunk_text']
RETURN name, state, populationPercent, properties, options.indexConfig AS config
"""

SERVER_VERSION: LiteralString = """
CALL dbms.components() YIELD name, versions, edition WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
"""

APPLIED_MIGRATIONS: LiteralString = """
MATCH (m:Migration) RETURN m.name AS name, toString(m.applied_at) AS applied_at ORDER BY m.name
"""

RECORD_MIGRATION: LiteralString = """
MERGE (m:Migration {name: $name}) ON CREATE SET m.applied_at = datetime()
"""

READ_EMBEDDER: LiteralString = """
MATCH (e:Embedder {id: 'embedder'})
RETURN e.name AS name, e.dimensions AS dimensions, e.fingerprint AS fingerprint
"""

WRITE_EMBEDDER: LiteralString = """
MERGE (e:Embedder {id: 'embedder'})
SET e.name = $name, e.dimensions = $dimensions, e.fingerprint = $fingerprint
"""

COUNT_CHUNKS: LiteralString = "MATCH (c:Chunk) RETURN count(c) AS chunks"

# Writing documents --------------------------------------------------------------------------------

UPSERT_DOCUMENTS: LiteralString = """
UNWIND $rows AS row
MERGE (d:Document {id: row.id})
WITH d, row, d.sha256 IS NULL AS is_new
SET d = row
WITH d, is_new
MERGE (s:Scope {collection: d.collection, name: d.scope})
WITH d, s, is_new
OPTIONAL MATCH (d)-[old:IN_SCOPE]->(other) WHERE other <> s
DELETE old
WITH DISTINCT d, s, is_new
MERGE (d)-[:IN_SCOPE]->(s)
RETURN d.id AS id, is_new
"""

# Of a document that was not there nothing else can be, so nothing is looked for.
CREATE_CONTENTS: LiteralString = """
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
CALL (d, row) {
    UNWIND row.sections AS part
    CREATE (s:Section)
    SET s = part.properties
    FOREACH (_ IN CASE WHEN part.properties.parent_id IS NULL THEN [1] ELSE [] END |
        CREATE (d)-[:HAS_SECTION]->(s))
    WITH s, part
    UNWIND part.chunks AS chunk
    CREATE (s)-[:HAS_CHUNK]->(c:Chunk)
    SET c = chunk.properties
    WITH c, chunk
    CALL db.create.setNodeVectorProperty(c, 'embedding', chunk.vector)
    WITH c, chunk
    CALL (c, chunk) {
        WITH * WHERE chunk.theta IS NOT NULL
        CALL db.create.setNodeVectorProperty(c, 'topics', chunk.theta)
    }
    WITH c ORDER BY c.ordinal
    WITH collect(c) AS chunks
    UNWIND range(0, size(chunks) - 2) AS at
    WITH chunks[at] AS before, chunks[at + 1] AS after
    CREATE (before)-[:NEXT]->(after)
}
"""

DELETE_STALE_CHUNKS: LiteralString = """
UNWIND $rows AS row
MATCH (c:Chunk {document_id: row.id}) WHERE NOT c.id IN row.chunk_ids
DETACH DELETE c
"""

DELETE_STALE_SECTIONS: LiteralString = """
UNWIND $rows AS row
MATCH (s:Section {document_id: row.id}) WHERE NOT s.id IN row.section_ids
DETACH DELETE s
"""

DELETE_OUTLINE: LiteralString = """
UNWIND $rows AS row
MATCH (:Document {id: row.id})-[:HAS_SECTION|HAS_SUBSECTION*0..]->()
      -[r:HAS_SECTION|HAS_SUBSECTION]->()
DELETE r
"""

DELETE_ORDER: LiteralString = """
UNWIND $rows AS row
MATCH (:Chunk {document_id: row.id})-[r:NEXT]->()
DELETE r
"""

UPSERT_SECTIONS: LiteralString = """
UNWIND $rows AS row
MERGE (s:Section {id: row.id})
SET s = row
"""

LINK_TOP_SECTIONS: LiteralString = """
UNWIND $rows AS row
MATCH (d:Document {id: row.document_id}), (s:Section {id: row.id})
MERGE (d)-[:HAS_SECTION]->(s)
"""

LINK_SUBSECTIONS: LiteralString = """
UNWIND $rows AS row
MATCH (p:Section {id: row.parent_id}), (s:Section {id: row.id})
MERGE (p)-[:HAS_SUBSECTION]->(s)
"""

# A vector is written only where it changed: indexing it is the dear part.
UPSERT_CHUNKS: LiteralString = """
UNWIND $rows AS row
MERGE (c:Chunk {id: row.id})
WITH c, row,
     c.embedding IS NULL OR c.sha256 <> row.properties.sha256
     OR c.embedder <> row.properties.embedder AS changed
SET c += row.properties
WITH c, row, changed
MATCH (s:Section {id: row.properties.section_id})
MERGE (s)-[:HAS_CHUNK]->(c)
WITH c, row WHERE changed
CALL db.create.setNodeVectorProperty(c, 'embedding', row.vector)
"""

SET_THETA: LiteralString = """
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})
CALL db.create.setNodeVectorProperty(c, 'topics', row.theta)
"""

UNLINK_MOVED_CHUNKS: LiteralString = """
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})<-[r:HAS_CHUNK]-(s:Section)
WHERE s.id <> row.section_id
DELETE r
"""

LINK_CHUNK_ORDER: LiteralString = """
UNWIND $rows AS row
MATCH (a:Chunk {id: row.before}), (b:Chunk {id: row.after})
CREATE (a)-[:NEXT]->(b)
"""

RENAME_DOCUMENTS: LiteralString = """
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.uri = row.uri, d.copies = row.copies
"""

REMOVE_DOCUMENTS: LiteralString = """
UNWIND $ids AS id
MATCH (d:Document {id: id})
CALL (id) { MATCH (c:Chunk {document_id: id}) DETACH DELETE c }
CALL (id) { MATCH (s:Section {document_id: id}) DETACH DELETE s }
DETACH DELETE d
RETURN count(*) AS removed
"""

# Bringing a collection up to date -----------------------------------------------------------------

EDITIONS: LiteralString = """
MATCH (d:Document {collection: $collection})
RETURN d.id AS id, d.series AS series, d.edition AS edition, d.year AS year, d.date AS date,
       d.valid_from AS valid_from, d.valid_to AS valid_to
ORDER BY d.series, d.id
"""

SET_VALIDITY: LiteralString = """
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.valid_from = row.valid_from, d.valid_to = row.valid_to, d.is_current = row.is_current
WITH d, row
MATCH (c:Chunk {document_id: d.id})
SET c.valid_from = row.valid_from, c.valid_to = row.valid_to, c.is_current = row.is_current
"""

DELETE_SUPERSEDES: LiteralString = """
MATCH (:Document {collection: $collection})-[r:SUPERSEDES]->()
DELETE r
"""

LINK_SUPERSEDES: LiteralString = """
UNWIND $rows AS row
MATCH (newer:Document {id: row.id}), (older:Document {id: row.supersedes})
MERGE (newer)-[:SUPERSEDES]->(older)
"""

COUNT_SCOPES: LiteralString = """
MATCH (s:Scope {collection: $collection})
OPTIONAL MATCH (d:Document)-[:IN_SCOPE]->(s)
WITH s, count(d) AS documents, coalesce(sum(d.chunks), 0) AS chunks
SET s.documents = documents, s.chunks = chunks
WITH s WHERE documents = 0
DETACH DELETE s
"""

# Reports ------------------------------------------------------------------------------------------

RECORD_RUN: LiteralString = """
MERGE (r:IngestRun {id: $run.id})
SET r = $run
"""

RECORD_OUTCOMES: LiteralString = """
MATCH (r:IngestRun {id: $run_id})
UNWIND $rows AS row
OPTIONAL MATCH (d:Document {id: row.document_id})
FOREACH (_ IN CASE WHEN d IS NULL THEN [] ELSE [1] END |
  MERGE (r)-[x:READ {uri: row.uri}]->(d) SET x = row)
FOREACH (_ IN CASE WHEN d IS NULL AND row.status <> 'removed' THEN [1] ELSE [] END |
  MERGE (r)-[:REFUSED]->(f:RefusedFile {run: $run_id, uri: row.uri}) SET f += row)
FOREACH (_ IN CASE WHEN d IS NULL AND row.status = 'removed' THEN [1] ELSE [] END |
  MERGE (r)-[:REMOVED]->(f:RemovedFile {run: $run_id, uri: row.uri}) SET f += row)
"""

# Reading ------------------------------------------------------------------------------------------

DOCUMENT_STATES: LiteralString = """
MATCH (d:Document {collection: $collection})
RETURN d.id AS id, d.uri AS uri, d.sha256 AS sha256, d.fingerprint AS fingerprint,
       d.audience AS audience, d.chunks AS chunks, d.copies AS copies, d.minhash AS minhash,
       CASE WHEN d.scope_set THEN d.scope END AS scope_set
"""

DOCUMENT_SIZES: LiteralString = """
MATCH (d:Document {collection: $collection})
RETURN d.id AS id, d.chunks AS chunks
ORDER BY id
"""

# As lists of floats, vectors take ten times as long to come over.
READ_CHUNKS: LiteralString = """
CYPHER 25
UNWIND $ids AS id
MATCH (c:Chunk {document_id: id})
RETURN c {.id, .document_id, .section_id, .text, .heading, .ordinal, .start, .end, .page_start,
          .page_end, .sha256, .printed} AS chunk,
       c.scope AS scope, c.series AS series,
       CASE WHEN $with_vectors
         THEN vector(c.embedding, size(c.embedding), FLOAT32) END AS vector,
       CASE WHEN $with_topics THEN vector(c.topics, size(c.topics), FLOAT32) END AS theta,
       CASE WHEN $with_topics THEN c.topics_fingerprint END AS topics_fingerprint
ORDER BY c.document_id, c.ordinal
"""

LIST_DOCUMENTS: LiteralString = """
MATCH (c:Document)
WHERE #FILTER#
RETURN c {.*, minhash: null} AS document
ORDER BY c.scope, c.series, c.valid_from, c.title, c.uri
"""

LIST_SCOPES: LiteralString = """
MATCH (c:Document)
WHERE #FILTER#
RETURN c.scope AS name, count(c) AS documents, sum(c.chunks) AS chunks
ORDER BY name
"""

NEAREST_SCOPES: LiteralString = """
CYPHER 25
MATCH (c:Chunk)
SEARCH c IN (VECTOR INDEX chunk_embedding FOR $vector WHERE #FILTER# LIMIT $limit) SCORE AS score
RETURN c.scope AS scope, score
ORDER BY score DESC, c.id
"""

# What `graph.model.Passage` shows of a chunk, in the order of its fields; all of it stands on the
# chunk. A list, as many named columns take longer to send and to read.
PASSAGE: LiteralString = """[
    c.id, c.text, c.heading, c.document_id, c.document_title, c.uri, c.section_id, c.section_number,
    c.section_title, c.page_start, c.page_end, c.scope, c.series, c.edition, c.year, c.is_current,
    c.printed
]"""

# Each list of a search; those that are asked for go into one statement, as even one that finds
# nothing costs time. Of the vector index a few more are asked than are kept, as the index is not
# exact. An address is the number of a section, or stands in a heading, as in "RCW
# 82.04.050". The access rule is checked once more on what full text returns: a filter that goes
# wrong inside Lucene must not show a caller what it may not see.
LISTS: dict[str, LiteralString] = {
    "scopes": """
    UNWIND $scopes AS scope
    CALL (scope) {
        MATCH (c:Chunk)
        SEARCH c IN (
            VECTOR INDEX chunk_embedding FOR $vector WHERE c.scope = scope AND #REST# LIMIT $depth
        ) SCORE AS score
        RETURN c, score ORDER BY score DESC LIMIT $limit
    }
    RETURN c, 'scope:' + scope AS list, score
""",
    "global": """
    MATCH (c:Chunk)
    SEARCH c IN (
        VECTOR INDEX chunk_embedding FOR $vector WHERE #FILTER# LIMIT $depth
    ) SCORE AS score
    RETURN c, 'global' AS list, score ORDER BY score DESC LIMIT $limit
""",
    "fulltext": """
    CALL db.index.fulltext.queryNodes('chunk_text', $text, {limit: $limit}) YIELD node AS c, score
    WITH c, score WHERE score > 0 AND #FILTER#
    RETURN c, 'fulltext' AS list, score
""",
    "addresses": """
    CALL () {
        UNWIND $numbers AS number
        MATCH (:Section {number: number})-[:HAS_SUBSECTION*0..]->()-[:HAS_CHUNK]->(c:Chunk)
        WHERE #FILTER#
        RETURN c
      UNION
        WITH * WHERE $headings <> ''
        CALL db.index.fulltext.queryNodes('chunk_text', $headings, {limit: $limit}) YIELD node AS c
        WITH c WHERE #FILTER#
        RETURN c
    }
    WITH c, coalesce(vector.similarity.cosine(c.embedding, $vector), 1.0) AS score
    ORDER BY score DESC, c.id LIMIT $limit
    RETURN c, 'address' AS list, score
""",
}

# All candidates come in one record: a driver takes longer for many small ones.
SEARCH_LISTS: LiteralString = f"""
CYPHER 25
CALL () {{
#LISTS#
}}
WITH c, collect([list, score]) AS lists
RETURN collect([
    {PASSAGE},
    lists,
    CASE WHEN $vector IS NOT NULL
        THEN coalesce(head([one IN lists WHERE one[0] <> 'fulltext' | one[1]]),
                      vector.similarity.cosine(c.embedding, $vector)) END,
    CASE WHEN $with_vectors THEN vector(c.embedding, size(c.embedding), FLOAT32) END,
    CASE WHEN $with_topics THEN vector(c.topics, size(c.topics), FLOAT32) END,
    CASE WHEN $with_topics THEN c.topics_fingerprint END
]) AS candidates
"""

# What a passage refers to by name, such as "RCW 82.04.050", stands in the heading of its chunks.
REFERRED: LiteralString = f"""
CYPHER 25
UNWIND $references AS reference
CALL (reference) {{
    CALL db.index.fulltext.queryNodes('chunk_text', reference.query, {{limit: $limit}})
    YIELD node AS c
    WITH c WHERE #FILTER#
    WITH c, vector.similarity.cosine(c.embedding, $vector) AS score
    ORDER BY score DESC, c.id LIMIT $each
    RETURN c, score
}}
WITH c, collect(['reference:' + reference.name, score]) AS lists
RETURN collect([{PASSAGE}, lists, lists[0][1], null, null, null]) AS candidates
"""

PASSAGES: LiteralString = f"""
MATCH (c:Chunk) WHERE c.id IN $ids AND #FILTER#
RETURN {PASSAGE} AS passage
ORDER BY c.document_id, c.ordinal
"""

# A chunk's neighbours carry the ordinals around its own: NEXT, without a walk for each distance.
NEIGHBOURS: LiteralString = f"""
MATCH (middle:Chunk) WHERE middle.id IN $ids
MATCH (c:Chunk {{document_id: middle.document_id}})
WHERE abs(c.ordinal - middle.ordinal) <= $distance AND #FILTER#
WITH DISTINCT c
RETURN {PASSAGE} AS passage
ORDER BY c.document_id, c.ordinal
"""

SECTION_PASSAGES: LiteralString = f"""
MATCH (:Section {{id: $id}})-[:HAS_SUBSECTION*0..]->()-[:HAS_CHUNK]->(c:Chunk)
WHERE #FILTER#
RETURN {PASSAGE} AS passage
ORDER BY c.document_id, c.ordinal
"""

# Documents pass the filter, and so must each chunk: a section without any is still shown.
OUTLINES: LiteralString = """
UNWIND $ids AS id
MATCH (c:Document {id: id})
WHERE #FILTER#
WITH id
MATCH (s:Section {document_id: id})
OPTIONAL MATCH (c:Chunk {document_id: id})<-[:HAS_CHUNK]-(s)
WHERE #FILTER#
WITH s, c
ORDER BY s.document_id, s.ordinal, c.ordinal
WITH s, collect(c {.id, .document_id, .section_id, .text, .heading, .ordinal, .start, .end,
                   .page_start, .page_end, .sha256, .printed}) AS chunks
RETURN s {.*} AS section, chunks
ORDER BY s.document_id, s.ordinal
"""

HOLDINGS: LiteralString = """
MATCH (c:Document)
WHERE #FILTER#
WITH c.scope AS scope, c.series AS series, c.edition AS edition, c.year AS year,
     count(*) AS documents
ORDER BY scope, series, edition, year
RETURN collect([scope, series, edition, year, documents]) AS holdings
"""

# Whatever the audience: a router is trained for all scopes, and shows a caller only its own.
SCOPE_NAMES: LiteralString = """
MATCH (s:Scope {collection: $collection})
RETURN s.name AS name
ORDER BY name
"""

# Routers ------------------------------------------------------------------------------------------

WRITE_ROUTER: LiteralString = """
MERGE (r:Router {collection: $collection, name: $name})
SET r = $properties
"""

READ_ROUTER: LiteralString = """
MATCH (r:Router {collection: $collection, name: $name})
RETURN r {.*} AS router
"""

# Scopes -------------------------------------------------------------------------------------------

# Documents first: what comes back tells the filter tokens of their chunks, under the lock.
SET_SCOPES: LiteralString = """
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.scope = row.scope, d.scope_set = true,
    d.metadata_sources =
        [x IN coalesce(d.metadata_sources, []) WHERE NOT x STARTS WITH 'scope:'] + row.source
MERGE (s:Scope {collection: d.collection, name: d.scope})
WITH d, s
OPTIONAL MATCH (d)-[old:IN_SCOPE]->(other) WHERE other <> s
DELETE old
WITH DISTINCT d, s
MERGE (d)-[:IN_SCOPE]->(s)
RETURN d {.*, minhash: null} AS document
"""

SET_CHUNK_SCOPES: LiteralString = """
UNWIND $rows AS row
MATCH (c:Chunk {document_id: row.id}) WHERE c.scope <> row.scope
SET c.scope = row.scope, c.keys = row.keys
"""

# Topics -------------------------------------------------------------------------------------------

WRITE_TOPIC_MODEL: LiteralString = """
MERGE (m:TopicModel {collection: $collection})
SET m = $properties
"""

# The key holds the model's fingerprint: topics of an older model are others, with other links.
WRITE_TOPICS: LiteralString = """
UNWIND $rows AS row
MERGE (t:Topic {id: row.id})
SET t = row.properties
WITH t, row
CALL db.create.setNodeVectorProperty(t, 'centroid', row.centroid)
"""

DELETE_OLD_TOPICS: LiteralString = """
MATCH (t:Topic {collection: $collection}) WHERE t.model <> $fingerprint
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS deleted
"""

READ_TOPICS: LiteralString = """
CYPHER 25
MATCH (m:TopicModel {collection: $collection})
MATCH (t:Topic {collection: $collection, model: m.fingerprint})
WITH m, t ORDER BY t.number
RETURN m {.*} AS model, collect(t.label) AS labels, collect(t.terms) AS terms,
       collect(vector(t.centroid, size(t.centroid), FLOAT32)) AS centroids
"""

WRITE_THETA: LiteralString = """
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id}) WHERE c.collection = $collection
SET c.topics_fingerprint = $fingerprint
WITH c, row
CALL db.create.setNodeVectorProperty(c, 'topics', row.theta)
RETURN c.id AS id
"""

# A chunk whose topics are unknown, or another model's, loses its links.
UNLINK_TOPICS: LiteralString = """
UNWIND $rows AS row
MATCH (:Chunk {id: row.id})-[r:ABOUT]->(:Topic)
DELETE r
"""

LINK_TOPICS: LiteralString = """
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id})
UNWIND row.about AS about
MATCH (t:Topic {id: about.id})
CREATE (c)-[:ABOUT {weight: about.weight}]->(t)
"""

COUNT_THETA: LiteralString = """
MATCH (c:Chunk {collection: $collection})
RETURN count(c) AS chunks,
       count(CASE WHEN c.topics_fingerprint = $fingerprint THEN 1 END) AS current
"""

COUNT_TOPICS: LiteralString = """
MATCH (t:Topic {collection: $collection})<-[:ABOUT]-(c:Chunk)
WHERE #FILTER#
WITH t.number AS number, c.scope AS scope, count(c) AS chunks,
     collect(DISTINCT c.document_id) AS documents
ORDER BY chunks DESC, scope
WITH number, collect([scope, chunks]) AS scopes, sum(chunks) AS chunks,
     sum(size(documents)) AS documents
RETURN number, chunks, documents, scopes
ORDER BY number
"""

TOPIC_PASSAGES: LiteralString = f"""
MATCH (:Topic {{collection: $collection, number: $number}})<-[about:ABOUT]-(c:Chunk)
WHERE #FILTER#
WITH c, about.weight AS weight
ORDER BY weight DESC, c.id LIMIT $limit
RETURN {PASSAGE} AS passage, weight
ORDER BY weight DESC, c.id
"""

# Filters ------------------------------------------------------------------------------------------

CONDITIONS: dict[str, LiteralString] = {
    "collection": "c.collection = $collection",
    "audience": "c.audience = $audiences[0]",
    "audiences": "c.audience IN $audiences",
    "scopes": "c.scope IN $filter_scopes",
    "series": "c.series = $series",
    "edition": "c.edition = $edition",
    "year": "c.year = $year",
    "as_of": "c.valid_from <= $as_of AND c.valid_to > $as_of",
    "current_only": "c.is_current = true",
}
"""What may stand in the filter of a vector index: equality, ranges and IN, joined by AND."""


def searching(lists: Sequence[str]) -> LiteralString:
    """Return the statement that fetches these of the `LISTS`, at least one of them."""
    return SEARCH_LISTS.replace("#LISTS#", "UNION ALL".join(LISTS[name] for name in lists))


def filtered(statement: LiteralString, where: Filter) -> LiteralString:
    """Return the statement with the conditions that the filter needs."""
    # One audience, the usual case, is found faster by = than by IN.
    audience = CONDITIONS["audience" if len(where.audiences) == 1 else "audiences"]
    parts: list[LiteralString] = [CONDITIONS["collection"], audience]
    if where.series is not None:
        parts.append(CONDITIONS["series"])
    if where.edition is not None:
        parts.append(CONDITIONS["edition"])
    if where.year is not None:
        parts.append(CONDITIONS["year"])
    if where.as_of is not None:
        parts.append(CONDITIONS["as_of"])
    if where.current_only:
        parts.append(CONDITIONS["current_only"])
    # A vector index takes one condition per property, so a scoped list cannot hold two on scope.
    statement = statement.replace("#REST#", " AND ".join(parts))
    if where.scopes:
        parts.append(CONDITIONS["scopes"])
    return statement.replace("#FILTER#", " AND ".join(parts))


def filter_parameters(where: Filter) -> dict[str, object]:
    """Return the values for the conditions."""
    return {
        "collection": where.collection,
        "audiences": list(where.audiences),
        "filter_scopes": list(where.scopes),
        "series": where.series,
        "edition": where.edition,
        "year": where.year,
        "as_of": None if where.as_of is None else f"{where.as_of:04d}1231",
    }
