"""Questions of conversations: how they are asked, and whether what cannot be answered is.

Multi-turn sets such as mtrag_un have the turns before a question in `history`, and questions
without gold, which the documents do not answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agents.follow_up import stand_alone, standing
from eval.collection import EvaluationSet, Question
from eval.stats import Estimate, estimate
from graph.errors import UsageError

Form = Literal["typed", "alone", "whole"]
"""How a question is asked: as typed; rewritten by rules to stand alone; behind all questions before
it."""

_USER = "user"
_LONGEST = 5_000
"""Characters of a question with all before it: the last ones."""


@dataclass(frozen=True, slots=True)
class Answerable:
    """How often an answer says that the documents do not say."""

    unanswerable: Estimate
    """Share of the questions without gold for which it does; higher is better."""
    answerable: Estimate
    """Share of those with gold for which it does; lower is better."""


def asked_as(evaluation_set: EvaluationSet, form: Form) -> EvaluationSet:
    """Return the set with the text of its questions in another form."""
    changed = tuple(
        question.model_copy(update={"text": text_as(question, form)})
        for question in evaluation_set.questions
    )
    return replace(evaluation_set, questions=changed)


def text_as(question: Question, form: Form) -> str:
    """Return the text of a question in the given form."""
    earlier = [turn.text for turn in question.history if turn.speaker == _USER]
    if form == "whole":
        return " ".join([*earlier, question.text])[-_LONGEST:]
    if form == "alone":
        return stand_alone(question.text, standing(earlier))
    return question.text


def answerable(
    questions: Sequence[Question],
    is_supported: Callable[[str], bool],
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Answerable:
    """Ask every question, and count how often nothing is found that answers it.

    Args:
        questions: With and without gold.
        is_supported: Answers a question, and tells whether the answer rests on a passage.
        seed: Of the bootstrap.
        progress: Told how many questions are done, of how many.

    Raises:
        UsageError: All questions have gold, or none has.
    """
    silent: dict[bool, list[float]] = {True: [], False: []}
    for done, question in enumerate(questions, start=1):
        silent[bool(question.gold)].append(float(not is_supported(question.text)))
        progress(done, len(questions))
    if not silent[True] or not silent[False]:
        raise UsageError(
            "This needs questions with gold and questions without: the set has only one kind."
        )
    return Answerable(estimate(silent[False], seed=seed), estimate(silent[True], seed=seed))
