"""The data model, every Cypher statement, schema migrations and the store."""
