"""Chunks in, checked and cited answer out: LangGraph state machines."""
