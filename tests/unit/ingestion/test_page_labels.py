import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.page_labels import label_spans, printed_on


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        (["1", "2", "3"], ()),
        (["", "", ""], ()),
        ([], ()),
        (["iii", "iv", "1", "2", "1"], ("1-2: iii-iv", "3-4: 1-2", "5: 1")),
        (["Cover", "i", "ii", "1", "2"], ("1: Cover", "2-3: i-ii", "4-5: 1-2")),
        (["A-1", "A-2", "B-1"], ("1-2: A-1-A-2", "3: B-1")),
        (["2", "3"], ("1-2: 2-3",)),
        (["", "1", "2"], ("2-3: 1-2",)),
    ],
)
def test_labels_that_go_on_are_one_span(labels: list[str], spans: tuple[str, ...]) -> None:
    assert label_spans(labels) == spans


@pytest.mark.parametrize(
    ("first", "last", "printed"),
    [(1, 1, "iii"), (1, 2, "iii-iv"), (3, 3, None), (4, 4, "1"), (3, 4, "3-1"), (None, None, None)],
)
def test_what_is_printed_is_told_only_where_it_is_not_the_count(
    first: int | None, last: int | None, printed: str | None
) -> None:
    assert printed_on(("iii", "iv", "3", "1"), first, last) == printed


def test_a_page_without_a_number_has_none() -> None:
    assert printed_on(("", "1"), 1, 2) is None
    assert printed_on((), 1, 1) is None


@given(st.lists(st.text(max_size=6), max_size=12))
def test_every_labelled_page_is_in_one_span(labels: list[str]) -> None:
    spans = label_spans(labels)
    pages: list[int] = []
    for span in spans:
        first, _, last = span.partition(":")[0].partition("-")
        pages += range(int(first), int(last or first) + 1)

    labelled = [number for number, label in enumerate(labels, 1) if label]
    assert pages == (labelled if spans else [])
