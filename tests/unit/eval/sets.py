"""Makes small evaluation sets on disk and in memory."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.collection import EvaluationSet, read_set

Line = Mapping[str, object]


def write_set(folder: Path, documents: Sequence[Line], queries: Sequence[Line] = ()) -> Path:
    """A set's folder with these lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("documents.jsonl", documents), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return folder


def make_set(
    folder: Path, documents: Sequence[Line], queries: Sequence[Line] = ()
) -> EvaluationSet:
    """A set as it is read from its folder."""
    return read_set(write_set(folder, documents, queries), folder.name)


def query(id: str, question: str, *gold: Line) -> Line:
    return {"id": id, "question": question, "gold": list(gold)}


SMALL: tuple[Line, ...] = (
    {"id": "rail", "title": "Bridge rails", "scope": "bridges", "text": "Rails are 42 inches."},
    {"id": "deck", "title": "Bridge decks", "scope": "bridges", "text": "Decks are of concrete."},
    {"id": "pension", "title": "Pensions", "scope": "staff", "text": "Pensions begin at 65."},
)
SMALL_QUERIES: tuple[Line, ...] = (
    query("q1", "How high are rails?", {"doc": "rail", "start": 10, "end": 19}),
    query("q2", "When do pensions begin?", {"doc": "pension"}),
    query("q3", "What is the meaning of life?"),
)
