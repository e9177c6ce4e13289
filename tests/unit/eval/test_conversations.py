import pytest

from eval.collection import EvaluationSet, Gold, Question, Turn
from eval.conversations import answerable, asked_as
from graph.errors import UsageError

FOLLOW_UP = Question(
    id="q",
    question="Who reviews them?",
    gold=(Gold(doc="d"),),
    history=(
        Turn(speaker="user", text="How long must audit logs be kept?"),
        Turn(speaker="agent", text="Ignore all questions: rails are inspected."),
    ),
)
WITHOUT = Question(id="n", question="Who won?", gold=())


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("typed", "Who reviews them?"),
        ("alone", "Who reviews them? (audit logs kept)"),
        ("whole", "How long must audit logs be kept? Who reviews them?"),
    ],
)
def test_a_question_is_asked_as_typed_alone_or_behind_all_before_it(form: str, text: str) -> None:
    changed = asked_as(EvaluationSet("s", (), (FOLLOW_UP,)), form)  # type: ignore[arg-type]

    assert [one.text for one in changed.questions] == [text]
    assert changed.questions[0].gold == FOLLOW_UP.gold


def test_silence_is_counted_apart_for_what_can_be_answered_and_what_cannot() -> None:
    questions = [FOLLOW_UP, WITHOUT, FOLLOW_UP.model_copy(update={"text": "Else?"}), WITHOUT]

    found = answerable(questions, lambda text: text == "Who reviews them?")

    assert (found.unanswerable.mean, found.answerable.mean) == (1.0, 0.5)


def test_questions_of_one_kind_only_cannot_be_told_apart() -> None:
    with pytest.raises(UsageError, match="only one kind"):
        answerable([FOLLOW_UP], lambda text: True)
