"""The teacher that has labels: questions whose relevant chunks are known."""

from collections.abc import Iterable, Mapping

from router.training_data import Labelled


def gold(
    questions: Iterable[tuple[str, Mapping[str, int]]], document_of: Mapping[str, str]
) -> list[Labelled]:
    """Make training data of labelled questions; those without anything relevant are left out.

    Args:
        questions: Text, and grades by chunk id.
        document_of: By chunk id, its document.
    """
    return [
        Labelled(text, min(document_of[id] for id in grades), "gold", dict(grades))
        for text, grades in questions
        if grades
    ]
