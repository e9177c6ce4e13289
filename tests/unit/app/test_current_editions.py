"""Which questions are answered from current editions only."""

from pathlib import Path

import pytest

from graph.model import Filter, Query
from tests.graphs import make_document
from tests.unit.app.http.made import Graph, make_app

OLD = "Audit logs shall be kept for two years."
NEW = "Audit logs shall be kept for three years."


@pytest.mark.parametrize(
    ("question", "current_only"),
    [
        ("How long shall audit logs be kept?", True),
        ("How long shall audit logs be kept under version 1.0?", False),
        ("What changed in audit between 2020 and 2024?", False),
        ("Compare the 2020 and 2024 editions of the Policy.", False),
    ],
)
def test_only_a_question_that_names_no_edition_is_for_the_current_ones(
    tmp_path: Path, question: str, current_only: bool
) -> None:
    store = Graph()
    store.write(
        [
            make_document("old", OLD, series="Policy", edition="1.0", year=2020),
            make_document("new", NEW, series="Policy", edition="2.0", year=2024),
        ]
    )
    store.finish("default")
    asked = make_app(tmp_path, store).currently(Query(question, Filter()))

    assert asked.filter.current_only == current_only
