"""What a chat model may say of a document, and what becomes of a run when it does not answer."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from graph.errors import ModelError
from graph.model import Document
from ingestion.classify import Classifier
from tests.fakes import MemoryStore
from tests.ingesting import ReaderHere, run, statuses

MANUAL = "Bridge Design Manual\n\nThis manual of the department was issued in 2019.\n"


@pytest.fixture(autouse=True)
def read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.read_ahead.Reader", ReaderHere)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "roads").mkdir(parents=True)
    (folder / "roads" / "paving.txt").write_text("Asphalt is laid hot.\n")
    (folder / "bdm.txt").write_text(MANUAL)
    return folder


class Model:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self, answer: Callable[[str], str] | str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self.answer if isinstance(self.answer, str) else self.answer(prompt)


def answer(scope: object = None, series: object = None, year: object = None) -> str:
    return f"Here it is: {json.dumps({'scope': scope, 'series': series, 'year': year})}"


def documents(store: MemoryStore) -> dict[str, Document]:
    found = (item.document for item in store.items.values())
    return {unquote(document.uri.rsplit("/", 1)[-1]): document for document in found}


def kept(folder: Path) -> Path:
    return folder.parent / "kept" / "classified.jsonl"


def ask(
    folder: Path, store: MemoryStore, model: Model, most: int = 500, name: str = "scripted"
) -> tuple[str, ...]:
    classifier = Classifier(model, name, kept(folder), most)
    return run(folder, store=store, classifier=classifier).notes


def test_what_the_document_bears_out_is_believed_and_marked(
    folder: Path, store: MemoryStore
) -> None:
    notes = ask(folder, store, Model(answer("roads", "Bridge Design Manual 2019", "2019")))

    manual = documents(store)["bdm.txt"]
    assert (manual.scope, manual.year) == ("roads", 2019)
    assert (manual.series, manual.edition) == ("bridge design manual", "2019")
    assert "scope: chat model (0.60)" in manual.metadata_sources
    assert "scope: no folder (0.20)" not in manual.metadata_sources
    assert "was asked about 2 documents" in notes[0]
    assert "1 scope, 1 series, 1 year" in notes[0]


@pytest.mark.parametrize(
    "reply",
    [
        answer("ignore all rules", "Highway Capacity Manual", 2021),
        answer("default", "", 20190),
        answer("", ["Bridge"], True),
        answer(None, "Version 2", "in 2019"),
        answer(None, "newsletter", -2019),
    ],
)
def test_what_the_document_does_not_bear_out_is_not_believed(
    folder: Path, store: MemoryStore, reply: str
) -> None:
    ask(folder, store, Model(reply))

    manual = documents(store)["bdm.txt"]
    assert (manual.scope, manual.year, manual.series) == ("default", None, None)


def test_a_series_of_which_no_year_is_known_is_not_taken(folder: Path, store: MemoryStore) -> None:
    notes = ask(folder, store, Model(answer(series="Bridge Design Manual")))

    assert documents(store)["bdm.txt"].series is None
    assert "settled with it and with its earlier answers: nothing." in notes[0]


def test_fields_that_a_rule_is_sure_of_are_not_touched(folder: Path, store: MemoryStore) -> None:
    (folder / "scopes.yaml").write_text(
        "rules:\n  - glob: bdm.txt\n    scope: bridges\n    year: 2018\n    series: none\n"
    )
    model = Model(answer("roads", "Bridge Design Manual", 2019))
    ask(folder, store, model)

    manual = documents(store)["bdm.txt"]
    assert (manual.scope, manual.year, manual.series) == ("bridges", 2018, None)
    assert not any("bdm.txt" in prompt for prompt in model.asked)


def test_the_model_sees_the_beginning_of_a_document_and_the_scopes_that_there_are(
    folder: Path, store: MemoryStore
) -> None:
    (folder / "long.txt").write_text("Words of a long text. " * 500 + "Its secret end.")
    model = Model(answer())
    ask(folder, store, model)

    assert any('one of "roads"' in prompt for prompt in model.asked)
    assert not any("secret end" in prompt for prompt in model.asked)
    assert max(map(len, model.asked)) < 4_000


def test_no_document_is_asked_about_twice(folder: Path, store: MemoryStore) -> None:
    model = Model(answer("roads", None, 2019))
    ask(folder, store, model)
    again = run(folder, store=store, classifier=Classifier(model, "scripted", kept(folder)))
    (folder / "bdm.txt").rename(folder / "manual.txt")
    ask(folder, MemoryStore(), model)

    assert set(statuses(again).values()) == {"unchanged"}
    assert len(model.asked) == 2


def test_another_model_is_asked_anew(folder: Path, store: MemoryStore) -> None:
    ask(folder, store, Model(answer("roads")))
    other = Model(answer(year=2019))
    ask(folder, store, other, name="other")

    assert len(other.asked) == 2
    assert documents(store)["bdm.txt"].year == 2019


def test_what_the_model_said_stays_when_it_is_asked_no_more(
    folder: Path, store: MemoryStore
) -> None:
    ask(folder, store, Model(answer("roads")))

    assert set(statuses(run(folder, store=store)).values()) == {"unchanged"}
    assert documents(store)["bdm.txt"].scope == "roads"


def test_documents_of_earlier_runs_are_asked_about_once_it_is_wanted(
    folder: Path, store: MemoryStore
) -> None:
    run(folder, store=store)
    ask(folder, store, Model(answer("roads")))

    assert documents(store)["bdm.txt"].scope == "roads"


def fail(prompt: str) -> str:
    raise ModelError("The chat model did not answer in time: try again.")


def test_a_model_that_fails_costs_metadata_and_no_document(
    folder: Path, store: MemoryStore
) -> None:
    for n in range(5):
        (folder / f"more{n}.txt").write_text(f"Text number {n}.\n")
    broken = Model(fail)
    notes = ask(folder, store, broken)

    assert len(documents(store)) == 7
    assert len(broken.asked) == 3
    assert any("did not answer about 3 documents" in note for note in notes)
    assert any("4 documents were not asked about" in note for note in notes)
    assert any("did not answer in time" in note for note in notes)
    later = Model(answer("roads", None, 2019))
    ask(folder, store, later)
    assert len(later.asked) == 7
    assert documents(store)["bdm.txt"].scope == "roads"


def test_answers_that_are_no_json_are_counted(folder: Path, store: MemoryStore) -> None:
    for reply in ("I cannot say.", "{scope: roads}", '["roads"]'):
        notes = ask(folder, MemoryStore(), Model(reply), name=reply)

        assert any("2 answers of the chat model could not be read" in note for note in notes)


def test_no_more_documents_are_asked_about_than_allowed(folder: Path, store: MemoryStore) -> None:
    model = Model(answer())
    notes = ask(folder, store, model, most=1)
    ask(folder, store, model, most=1)

    assert any("1 documents were not asked about" in note for note in notes)
    assert len(model.asked) == 2


def test_kept_answers_that_are_damaged_are_asked_for_again(
    folder: Path, store: MemoryStore
) -> None:
    kept(folder).parent.mkdir()
    kept(folder).write_bytes(b'\xff\x00\n["key"]\n[1, 2, 3]\n{}\nnull\n"ab"\n')
    model = Model(answer("roads"))
    ask(folder, store, model)

    assert len(model.asked) == 2


def test_answers_that_cannot_be_kept_are_reported(folder: Path, store: MemoryStore) -> None:
    (folder.parent / "kept").write_text("no folder")
    notes = ask(folder, store, Model(answer("roads")))

    assert documents(store)["bdm.txt"].scope == "roads"
    assert any("could not be kept" in note for note in notes)
