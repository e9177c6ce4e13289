from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eval.collection import Gold, SourceDocument
from eval.load import extracted_text
from eval.places import FilePlaces, TextPlaces
from graph.errors import UnreadableFile
from graph.fold import fold
from graph.model import Chunk
from tests.graphs import make_document

WILD = st.text(
    st.sampled_from("ab1 \t\n\r\f\u00a0\u00ad\u200b\ufeff\ufb01\u2010é.\0\x0b"),
    min_size=1,
    max_size=60,
)


def source(text: str) -> SourceDocument:
    return SourceDocument(id="a", text=text)


@given(before=WILD, words=WILD, behind=WILD)
def test_a_place_reads_the_same_after_reading_changed_the_text(
    before: str, words: str, behind: str
) -> None:
    text = before + words + behind
    try:
        extracted = extracted_text(source(text))
    except UnreadableFile:
        assume(False)
        return
    wanted = "".join(fold(words).split())
    # Cut between the two characters of a ligature's fold or a pair of line ends: no such place.
    span = TextPlaces(source(text)).span(len(before), len(before) + len(words))

    if not wanted:
        assert span is None
    else:
        assert span is not None
        assert "".join(extracted[span[0] : span[1]].split()) == wanted
        assert not extracted[span[0]].isspace() and not extracted[span[1] - 1].isspace()


def test_a_place_is_the_right_one_of_several_alike() -> None:
    text = "\ufeffyes\r\n\r\nno   \r\nyes"

    span = TextPlaces(source(text)).span(text.rindex("yes"), len(text))

    assert span is not None
    extracted = extracted_text(source(text))
    assert span == (extracted.rindex("yes"), len(extracted))


def chunk(text: str, start: int, page: int) -> Chunk:
    (one,) = make_document("a", text).chunks
    return Chunk(one.id, "d", "s", text, "", 0, start, start + len(text), page, page, one.sha256)


CHUNKS = [
    chunk("The rail is 42\ninches high.", 0, 1),
    chunk("Nothing.", 40, 2),
    chunk("The rail is 42 inches high. End.", 60, 3),
]


@pytest.mark.parametrize(
    ("gold", "start"),
    [
        ({"page": 3}, 72),
        ({"page": 1}, 12),
        ({}, 12),
        ({"start": 1000, "end": 1009}, 72),
        ({"page": 2}, 12),
    ],
)
def test_words_in_a_file_are_found_on_their_page_else_near_their_offset(
    gold: dict[str, int], start: int
) -> None:
    span = FilePlaces(CHUNKS).span(Gold(doc="a", text="42 inches", **gold))

    assert span == (start, start + len("42 inches"))


def test_words_may_run_over_chunks_and_overlaps() -> None:
    chunks = [chunk("one two three", 0, 1), chunk("three four five", 8, 1)]

    assert FilePlaces(chunks).span(Gold(doc="a", text="two three\nfour")) == (4, 18)


@pytest.mark.parametrize("words", ["43 inches", "", "   "])
def test_words_that_are_not_there_have_no_place(words: str) -> None:
    assert FilePlaces(CHUNKS).span(Gold(doc="a", text=words)) is None


def test_a_file_without_chunks_has_no_places() -> None:
    assert FilePlaces([]).span(Gold(doc="a", text="x")) is None


def test_places_need_no_file(tmp_path: Path) -> None:
    assert TextPlaces(source("Rails  are high.")).span(0, 5) == (0, 5)
    assert TextPlaces(source("Rails  are high.")).span(5, 7) is None
