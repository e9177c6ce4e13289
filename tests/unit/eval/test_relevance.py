from pathlib import Path

import pytest

from eval.collection import EvaluationSet
from eval.load import Loader, collection_name, load
from eval.relevance import Judge, Level, Unit
from tests.fakes import HashingEmbedder, MemoryStore
from tests.unit.eval.sets import SMALL, SMALL_QUERIES, Line, make_set, query

WORDS = [f"word{n}" for n in range(120)]
LONG = "\n".join(" ".join(WORDS[n : n + 10]) for n in range(0, 120, 10))
"""Cut between lines, without overlap, into several chunks: the fake encoder reads 40 words."""


def place(first: str, last: str) -> Line:
    return {"doc": "long", "start": LONG.index(first), "end": LONG.index(last) + len(last)}


class Loaded:
    """A set in a store in memory, with a judge."""

    def __init__(self, evaluation_set: EvaluationSet) -> None:
        self.set = evaluation_set
        store = MemoryStore()
        collection = collection_name(evaluation_set)
        load(evaluation_set, collection, Loader(store, HashingEmbedder(), None))
        self.judge = Judge(evaluation_set, collection, store)
        self.chunks = [c for batch in store.chunks(collection) for c in batch.chunks]

    def texts(self, level: Level = "span", unit: Unit = "chunk") -> list[str]:
        """The chunks that are relevant to the only question, in order."""
        (question,) = self.set.questions
        found = self.judge.judge([question], level, unit).relevance
        return [c.text for c in self.chunks if c.id in found[question.key].grades]


def loaded(tmp_path: Path, *gold: Line, documents: tuple[Line, ...] = ()) -> Loaded:
    long = {"id": "long", "text": LONG}
    return Loaded(make_set(tmp_path / "s", [long, *documents], [query("q", "?", *gold)]))


def test_a_gold_document_makes_all_its_chunks_relevant(tmp_path: Path) -> None:
    one = loaded(tmp_path, {"doc": "long"}, documents=SMALL)

    assert len(one.texts()) == len(one.chunks) - len(SMALL) > 2
    assert {text.split()[0][:4] for text in one.texts()} == {"word"}


def test_a_span_makes_the_chunk_relevant_that_holds_it(tmp_path: Path) -> None:
    one = loaded(tmp_path, place("word50", "word52"))

    (text,) = one.texts()
    assert "word50 word51 word52" in text


def cut(one: Loaded) -> tuple[str, str]:
    """The last words of the first chunk, and the first of the second."""
    first, second = sorted(one.chunks, key=lambda chunk: chunk.start)[:2]
    return first.text, second.text


def test_a_span_that_is_cut_belongs_to_the_chunk_with_most_of_it(tmp_path: Path) -> None:
    before, behind = cut(loaded(tmp_path, {"doc": "long"}))
    one = loaded(tmp_path, place(before.split()[-6], behind.split()[0]))

    assert one.texts("span") == [before]
    assert one.texts("passage") == [before, behind]
    assert len(one.texts("document")) == len(one.chunks)


def test_every_chunk_inside_a_long_span_is_relevant(tmp_path: Path) -> None:
    one = loaded(tmp_path, place("word0", "word119"))

    assert one.texts("span") == [chunk.text for chunk in one.chunks]


def test_what_stands_in_a_heading_is_held_by_the_chunk_behind_it(tmp_path: Path) -> None:
    text = "SECTION 101 - GENERAL\n\nWords.\n\nSECTION 102 - RAIL HEIGHT\n\nForty-two inches."
    start = text.index("RAIL")
    gold = {"doc": "a", "start": start, "end": start + len("RAIL HEIGHT")}
    line = query("q", "?", gold)

    one = Loaded(make_set(tmp_path / "s", [{"id": "a", "text": text}], [line]))

    assert one.texts() == ["Forty-two inches."]


def test_gold_by_words_alone_is_found_in_a_text(tmp_path: Path) -> None:
    (text,) = loaded(tmp_path, {"doc": "long", "text": "word70 word71"}).texts()

    assert "word70 word71" in text


def test_gold_by_page_is_what_stands_on_the_page(tmp_path: Path) -> None:
    documents = [{"id": "a", "path": "a.txt"}]
    folder = tmp_path / "s"
    folder.mkdir()
    pages = ["First page here.", "Second page here.", "Third page here."]
    (folder / "a.txt").write_text("\f".join(pages), "utf-8")

    one = Loaded(make_set(folder, documents, [query("q", "?", {"doc": "a", "page": 2})]))

    texts = one.texts()
    assert texts and all("Second" in text for text in texts)


def test_questions_without_gold_and_with_refused_gold_are_counted(tmp_path: Path) -> None:
    documents = [*SMALL, {"id": "dots", "text": "..."}]
    lines = [*SMALL_QUERIES, query("q4", "?", {"doc": "dots"})]
    small = make_set(tmp_path / "s", documents, lines)

    judged = Loaded(small).judge.judge(small.questions, "span", "chunk")

    assert (judged.without_gold, judged.not_held) == (1, 1)
    assert set(judged.relevance) == {"s/q1", "s/q2"}
    assert judged.scopes == {"s/q1": {"bridges"}, "s/q2": {"staff"}}


def test_gold_that_is_partly_refused_still_counts_as_a_place(tmp_path: Path) -> None:
    documents = [*SMALL, {"id": "dots", "text": "..."}]
    small = make_set(tmp_path / "s", documents, [query("q", "?", {"doc": "rail"}, {"doc": "dots"})])

    judged = Loaded(small).judge.judge(small.questions, "span", "chunk")

    places = judged.relevance["s/q"].places
    assert [len(place) for place in places] == [1, 0]


def test_the_highest_grade_of_a_chunk_counts(tmp_path: Path) -> None:
    one = loaded(tmp_path, {"doc": "long"}, {**place("word50", "word52"), "grade": 3})
    (question,) = one.set.questions

    grades = one.judge.judge([question], "span", "chunk").relevance[question.key].grades

    assert sorted(grades.values()) == [1] * (len(one.chunks) - 1) + [3]


def test_documents_can_be_ranked_instead_of_chunks(tmp_path: Path) -> None:
    one = loaded(tmp_path, {"doc": "long"}, {"doc": "rail"}, documents=SMALL)
    (question,) = one.set.questions

    found = one.judge.judge([question], "span", "document").relevance[question.key]

    assert set(found.grades) == {
        chunk.document_id for chunk in one.chunks if chunk.text.startswith(("word", "Rails"))
    }


def test_words_that_a_text_does_not_hold_are_not_held(tmp_path: Path) -> None:
    one = loaded(tmp_path, {"doc": "long", "text": "absent"})

    assert one.judge.judge(one.set.questions, "span", "chunk").not_held == 1
    assert one.judge.judge(one.set.questions, "document", "chunk").not_held == 0


@pytest.mark.parametrize("level", ["span", "passage", "document"])
def test_every_span_of_a_text_is_held_by_some_chunk(tmp_path: Path, level: Level) -> None:
    one = loaded(tmp_path, {"doc": "long"})
    (question,) = one.set.questions
    for first in range(0, 118, 3):
        span = {"start": LONG.index(f"word{first}"), "end": LONG.index(f"word{first + 2}")}
        gold = question.gold[0].model_copy(update=span)
        asked = question.model_copy(update={"gold": (gold,)})

        assert one.judge.judge([asked], level, "chunk").not_held == 0


def test_documents_of_two_sets_with_the_same_id_are_not_confused(tmp_path: Path) -> None:
    from eval.collection import union

    a = make_set(tmp_path / "a", SMALL, SMALL_QUERIES)
    b = make_set(tmp_path / "b", [replace_text(SMALL[0]), *SMALL[1:]], SMALL_QUERIES)
    both = Loaded(union("a+b", [a, b]))

    found = both.judge.judge(both.set.questions, "span", "chunk").relevance

    texts = {c.id: c.text for c in both.chunks}
    assert [texts[id] for id in found["a/q1"].grades] == ["Rails are 42 inches."]
    assert [texts[id] for id in found["b/q1"].grades] == ["Rails are 54 inches."]


def replace_text(line: Line) -> Line:
    return {**line, "text": "Rails are 54 inches."}
