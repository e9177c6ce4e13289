import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.collection import Question, half, part_of, read_set, union
from graph.errors import UsageError
from tests.unit.eval.sets import SMALL, SMALL_QUERIES, Line, make_set, query, write_set

DOCUMENT = {"id": "a", "text": "Rails are 42 inches."}


def refusal(folder: Path, documents: list[Line], queries: list[Line]) -> str:
    with pytest.raises(UsageError) as error:
        make_set(folder, documents, queries)
    return str(error.value)


def test_a_set_is_read_with_gold_history_and_extra_keys(tmp_path: Path) -> None:
    line = {
        "id": "q",
        "question": "How high?",
        "answer": "42",
        "history": [{"speaker": "user", "text": "Rails?", "metadata": {}}],
        "gold": [{"doc": "a", "start": 10, "end": 19, "text": "42 inches", "grade": 2}],
    }

    found = make_set(tmp_path / "set", [DOCUMENT], [line])

    (question,) = found.questions
    assert (question.text, question.key) == ("How high?", "set/q")
    assert (question.gold[0].grade, question.history[0].text) == (2, "Rails?")
    assert found.documents[0].scope == "default"


def test_documents_may_be_files_of_the_set(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", [{"id": "a", "path": "files/a.txt", "title": None}])
    (folder / "files").mkdir()
    (folder / "files" / "a.txt").write_text("Rails.", "utf-8")

    assert read_set(folder, "set").documents[0].path == (folder / "files" / "a.txt").resolve()


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"id": "b"}, 'either "text" or "path"'),
        ({"id": "b", "text": "x", "path": "y"}, 'either "text" or "path"'),
        ({"id": "", "text": "x"}, "id: "),
        ({"text": "x"}, "id: Field required"),
        ({"id": "a", "text": "x"}, "'a' comes twice"),
        ({"id": "b", "text": "x", "year": "soon"}, "year: "),
        ({"id": "b", "path": "../../etc/passwd"}, "leads out of the set's folder"),
        ({"id": "b", "path": "missing.pdf"}, "no file missing.pdf"),
    ],
)
def test_a_wrong_document_is_named_by_file_and_line(
    tmp_path: Path, document: Line, reason: str
) -> None:
    message = refusal(tmp_path, [DOCUMENT, document], [])

    assert "documents.jsonl, line 2: " in message
    assert reason in message


@pytest.mark.parametrize(
    ("gold", "reason"),
    [
        ({"doc": "z"}, "'z', which is not in the set"),
        ({"doc": "a", "start": 3}, "start and end belong together"),
        ({"doc": "a", "start": 3, "end": 3}, "[3, 3) is empty"),
        ({"doc": "a", "start": -1, "end": 3}, "gold.0.start"),
        ({"doc": "a", "start": 3, "end": 99}, "ends behind the 20 characters"),
        ({"doc": "a", "start": 0, "end": 5, "text": "rails"}, "reads otherwise"),
        ({"doc": "a", "strat": 3}, "strat"),
        ({"doc": "a", "grade": 0}, "gold.0.grade"),
        ({}, "gold.0.doc"),
    ],
)
def test_wrong_gold_is_named_by_file_and_line(tmp_path: Path, gold: Line, reason: str) -> None:
    message = refusal(
        tmp_path, [DOCUMENT], [query("q1", "?", {"doc": "a"}), query("q2", "?", gold)]
    )

    assert "queries.jsonl, line 2: " in message
    assert reason in message


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff\xfe", b'{"id": "\\ud800"}', b"null"])
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: bytes) -> None:
    folder = write_set(tmp_path, [DOCUMENT])
    with (folder / "documents.jsonl").open("ab") as file:
        file.write(b"\n" + line)

    with pytest.raises(UsageError, match=r"documents\.jsonl, line 3: "):
        read_set(folder, "set")


def test_a_folder_without_documents_is_no_set(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no evaluation set"):
        read_set(tmp_path, "set")


def test_a_pool_of_documents_needs_no_questions(tmp_path: Path) -> None:
    folder = write_set(tmp_path, SMALL)
    (folder / "queries.jsonl").unlink()

    assert read_set(folder, "pool").questions == ()


def test_a_union_prefixes_scopes_and_keeps_equal_ids_apart(tmp_path: Path) -> None:
    a = make_set(tmp_path / "a", SMALL, SMALL_QUERIES)
    b = make_set(tmp_path / "b", SMALL, SMALL_QUERIES)

    both = union("a+b", [a, b])

    assert {one.scope for one in both.documents} == {"a/bridges", "a/staff", "b/bridges", "b/staff"}
    assert len({one.key for one in both.documents}) == 2 * len(SMALL)
    assert len({one.key for one in both.questions}) == 2 * len(SMALL_QUERIES)


def many(count: int, **gold: str) -> list[Question]:
    lines = [query(f"q{n}", "?", *({"doc": doc} for doc in gold.values())) for n in range(count)]
    return [Question.model_validate_json(json.dumps(line)) for line in lines]


def test_the_halves_are_about_equal_and_share_nothing() -> None:
    questions = many(1000, doc="a")

    dev, test = part_of(questions, "dev"), part_of(questions, "test")

    assert part_of(questions, "all") == questions
    assert sorted(q.id for q in [*dev, *test]) == sorted(q.id for q in questions)
    assert 400 < len(dev) < 600


def test_a_question_stays_in_its_half_whatever_else_is_asked() -> None:
    questions = many(100, doc="a")

    assert part_of(questions[::2], "dev") == [q for q in questions[::2] if half(q.id) == "dev"]
    assert [half("q1"), half("q2"), half("q3"), half("q4")] == ["dev", "test", "dev", "dev"]


def test_halves_by_document_share_no_document() -> None:
    ids = [f"d{n}" for n in range(40)]
    lines = [
        query(f"{a}-{b}", "?", {"doc": a}, {"doc": b})
        for a, b in zip(ids, ids[1:] + ids[:1], strict=True)
    ]
    questions = [Question.model_validate_json(json.dumps(line)) for line in lines]

    dev = part_of(questions, "dev", by_document=True)
    test = part_of(questions, "test", by_document=True)

    documents = [{gold.doc for one in part for gold in one.gold} for part in (dev, test)]
    assert dev and test
    assert documents[0].isdisjoint(documents[1])
    assert len(dev) + len(test) < len(questions)


def test_a_question_without_gold_has_a_half_by_document_too() -> None:
    questions = many(50)

    assert len(part_of(questions, "dev", by_document=True)) == len(part_of(questions, "dev"))


@given(st.text(min_size=1))
def test_every_id_has_a_half(id: str) -> None:
    assert half(id.encode("utf-8", "ignore").decode()) in ("dev", "test")
