"""A local Neo4j: found, installed, started and stopped."""
