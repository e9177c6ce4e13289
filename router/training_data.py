"""Training data of the scorer: questions, and which chunks are relevant; one JSON object a line.

    {"question", "document", "teacher", "grades": {chunk id: grade}, "expanded"?,
     "judged"?: {chunk id: probability that it is relevant}}

Hard negatives are the other candidates that a search for the question finds; where a teacher has
judged candidates, its judgement counts. `document` is what questions are divided by, so that
nothing learned from a document's questions is tested on the same document.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from graph.errors import UsageError
from graph.model import Candidate, Filter, SearchRequest, Vector
from graph.ports import Embedder, Store
from router.retrieve import LIST_LENGTH

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, and what is relevant to it."""

    question: str
    document: str
    """Of its relevant chunks; of several, the one that is first by id."""
    teacher: str
    """"gold", "headings" or "llm"."""
    grades: Mapping[str, int]
    """By chunk id, at least 1; a chunk that is not in it is not relevant."""
    expanded: str = ""
    """The question with its background, which the teacher alone sees."""
    judged: Mapping[str, float] = field(default_factory=dict[str, float])
    """By chunk id, the teacher's probability of relevance, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled question with its candidates."""

    labelled: Labelled
    vector: Vector
    candidates: Sequence[Candidate]
    """With vectors, and with theta where the collection has topics."""


def search_examples(
    labelled: Sequence[Labelled],
    where: Filter,
    store: Store,
    embedder: Embedder,
    *,
    with_topics: bool = True,
    progress: Progress = lambda done, total: None,
) -> list[Example]:
    """Search for each question as the systems do, each with one statement."""
    examples: list[Example] = []
    interned: dict[str, tuple[Any, ...]] = {}  # a chunk is a candidate of many questions
    for done, one in enumerate(labelled, start=1):
        vector = embedder.embed_query(one.question)
        request = SearchRequest(
            where,
            LIST_LENGTH,
            vector,
            text=one.question,
            with_vectors=True,
            with_topics=with_topics,
        )
        found = [_interned(candidate, interned) for candidate in store.search(request)]
        examples.append(Example(one, vector, found))
        progress(done, len(labelled))
    return examples


def instructive(examples: Iterable[Example]) -> list[Example]:
    """Leave out questions none of whose relevant chunks is found: they teach no order."""
    return [
        example
        for example in examples
        if any(one.passage.chunk_id in example.labelled.grades for one in example.candidates)
    ]


def is_held_out(document: str, share: float, seed: int = 0) -> bool:
    """Tell whether a document's questions are kept from training; the same on every machine."""
    return document_digest(document, seed) < share


def document_digest(document: str, seed: int) -> float:
    """Return a number in [0, 1) that divides documents by chance, always in the same way."""
    digest = hashlib.blake2b(f"{seed}\0{document}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**32


def write_labelled(labelled: Iterable[Labelled], path: Path) -> None:
    """Write training data, whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    lines = [json.dumps(_as_dict(one), ensure_ascii=False) + "\n" for one in labelled]
    try:
        partial.write_text("".join(lines), "utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UsageError(
            f"The training data cannot be written to {path} ({error}). Name a file in a folder "
            "that exists."
        ) from error


def read_labelled(path: Path) -> list[Labelled]:
    """Read training data.

    Raises:
        UsageError: There is no such file, or a line is wrong; names it.
    """
    if not path.is_file():
        raise UsageError(f"There is no file {path}. Give one that `milepost train` wrote.")
    found: list[Labelled] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(_labelled(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(
                f'{path}, line {number}: expected {{"question", "document", "teacher", "grades"}} '
                f"({error})."
            ) from error
    return found


def _interned(candidate: Candidate, known: dict[str, tuple[Any, ...]]) -> Candidate:
    parts = known.setdefault(
        candidate.passage.chunk_id, (candidate.passage, candidate.vector, candidate.theta)
    )
    passage, vector, theta = parts
    return replace(candidate, passage=passage, vector=vector, theta=theta)


def _as_dict(one: Labelled) -> dict[str, object]:
    return {name: value for name, value in asdict(one).items() if value not in ("", {})}


def _labelled(entry: dict[str, Any]) -> Labelled:
    texts = [entry["question"], entry["document"], entry["teacher"], entry.get("expanded", "")]
    if not all(isinstance(text, str) for text in texts) or not texts[0].strip():
        raise ValueError("question, document and teacher are texts, the question not empty")
    grades = {str(id): int(grade) for id, grade in entry["grades"].items()}
    judged = {str(id): float(value) for id, value in entry.get("judged", {}).items()}
    if not grades or min(grades.values()) < 1:
        raise ValueError("grades name at least one chunk, with a grade of 1 or more")
    if not all(0 <= value <= 1 for value in judged.values()):
        raise ValueError("judged holds probabilities in [0, 1]")
    return Labelled(*texts[:3], grades=grades, expanded=texts[3], judged=judged)
