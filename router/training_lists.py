"""Training questions as arrays: one list of candidates each, padded to the longest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.errors import UsageError
from graph.model import Candidate, Vector, Vectors
from graph.ports import Topics
from router.evidence import FEATURES, WITHOUT_TOPICS, TopicEvidence, features
from router.fuse import mixed
from router.training_data import Example

Floats = NDArray[np.float32]

LEAST_QUESTIONS = 20
"""Below which nothing can be held out that tells anything."""

SURE = 0.98
"""Probability that stands for a label where the teacher gives none."""

ThetaOf = Callable[[Sequence[Candidate]], Vectors]
"""Returns theta of candidates, (n, K), checked against the collection's topics."""


@dataclass(frozen=True, slots=True)
class Lists:
    """B questions with at most C candidates each."""

    features: Floats
    """(B, C, F)."""
    scores: Floats
    """Of the convex mix, (B, C)."""
    grades: Floats
    """(B, C), 0 where a candidate is not relevant."""
    teacher: Floats
    """Logits of relevance, (B, C)."""
    present: NDArray[np.bool_]
    """(B, C); False where the list is shorter."""
    relevant: NDArray[np.int64]
    """How many chunks are relevant, found or not, (B,)."""
    rows: NDArray[np.int64]
    """Place of each candidate in `vectors` and `theta`, (B, C)."""
    vectors: Vectors
    """(P, d)."""
    theta: Vectors
    """(P, K); (P, 0) without topics."""
    questions: Vectors
    """(B, d)."""
    own: Vectors
    """theta of the questions' text, (B, K)."""
    documents: tuple[str, ...]
    """What the questions are divided by, (B,)."""


def make_lists(examples: Sequence[Example], topics: Topics | None, theta_of: ThetaOf) -> Lists:
    """Make the arrays.

    Args:
        examples: With their candidates.
        topics: Of the collection; None trains without.
        theta_of: As above; not called without topics.

    Raises:
        UsageError: There are too few examples, or nothing is relevant, or everything is.
    """
    check(examples)
    length = max(len(example.candidates) for example in examples)
    chunks: dict[str, Candidate] = {}
    for example in examples:
        chunks |= {candidate.passage.chunk_id: candidate for candidate in example.candidates}
    places = {id: place for place, id in enumerate(chunks)}
    distinct = list(chunks.values())
    theta = theta_of(distinct) if topics else np.zeros((len(distinct), 0), np.float32)
    questions = np.stack([example.vector for example in examples])
    texts = [example.labelled.question for example in examples]
    own = topics.theta(questions, texts) if topics else np.zeros((len(texts), 0), np.float32)
    shape = (len(examples), length)
    width = len(FEATURES if topics else WITHOUT_TOPICS)
    made = Lists(
        features=np.zeros((*shape, width), np.float32),
        scores=np.zeros(shape, np.float32),
        grades=np.zeros(shape, np.float32),
        teacher=np.zeros(shape, np.float32),
        present=np.zeros(shape, bool),
        relevant=np.array([len(one.labelled.grades) for one in examples]),
        rows=np.zeros(shape, np.int64),
        vectors=np.stack([_vector(candidate) for candidate in distinct]),
        theta=theta,
        questions=questions,
        own=own,
        documents=tuple(example.labelled.document for example in examples),
    )
    for row, example in enumerate(examples):
        rows = [places[candidate.passage.chunk_id] for candidate in example.candidates]
        evidence = TopicEvidence(theta[rows], own[row], topics.centroids) if topics else None
        _fill(made, row, rows, example, evidence)
    return made


def check(examples: Sequence[Example]) -> None:
    """Refuse examples from which no order can be learned.

    Raises:
        UsageError: As `make_lists`.
    """
    if len(examples) < LEAST_QUESTIONS:
        raise UsageError(
            f"There are {len(examples)} questions whose relevant chunks a search finds; at least "
            f"{LEAST_QUESTIONS} are needed. Give more questions, or ingest more documents."
        )
    if not any(
        0
        < sum(one.passage.chunk_id in example.labelled.grades for one in example.candidates)
        < len(example.candidates)
        for example in examples
    ):
        raise UsageError(
            "The training data is one-sided: no question has both relevant and other candidates, "
            "so there is no order to learn. Check the grades."
        )


def logit(probability: float) -> float:
    """Return log(p / (1 - p)), with p kept away from 0 and 1."""
    p = min(max(probability, 1 - SURE), SURE)
    return float(np.log(p / (1 - p)))


def _fill(
    made: Lists, row: int, rows: list[int], example: Example, evidence: TopicEvidence | None
) -> None:
    labelled, found, n = example.labelled, example.candidates, len(rows)
    ids = [candidate.passage.chunk_id for candidate in found]
    scores = mixed(found)
    made.features[row, :n] = features(labelled.question, example.vector, found, scores, evidence)
    made.scores[row, :n] = scores
    made.grades[row, :n] = [labelled.grades.get(id, 0) for id in ids]
    made.teacher[row, :n] = [
        logit(labelled.judged.get(id, float(id in labelled.grades))) for id in ids
    ]
    # A candidate that the teacher judged relevant is no negative, whoever labelled the question.
    made.present[row, :n] = [
        id in labelled.grades or labelled.judged.get(id, 0.0) < 0.5 for id in ids
    ]
    made.rows[row, :n] = rows


def _vector(candidate: Candidate) -> Vector:
    assert candidate.vector is not None, "candidates are searched for with_vectors"
    return candidate.vector
