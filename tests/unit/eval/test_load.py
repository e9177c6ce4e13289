from pathlib import Path

import numpy as np
import pytest

from eval.collection import EvaluationSet
from eval.load import Loader, collection_name, load
from graph.model import Filter, Vectors
from tests.fakes import HashingEmbedder, MemoryStore
from tests.unit.eval.sets import SMALL, Line, make_set, write_set


class CountingEmbedder(HashingEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        self.texts += texts
        return super().embed(texts)


def put(
    store: MemoryStore, evaluation_set: EvaluationSet, embedder: CountingEmbedder | None = None
):
    loader = Loader(store, embedder or CountingEmbedder(), None)
    return load(evaluation_set, collection_name(evaluation_set), loader)


def test_texts_become_chunks_with_scope_in_a_collection_of_their_own(tmp_path: Path) -> None:
    store = MemoryStore()

    report = put(store, make_set(tmp_path / "small", SMALL))

    assert (report.collection, report.written, report.refused) == ("eval-small", 3, ())
    found = store.list_documents(Filter(collection="eval-small"))
    assert [(one.title, one.scope, chunks) for one, chunks in found] == [
        ("Bridge decks", "bridges", 1),
        ("Bridge rails", "bridges", 1),
        ("Pensions", "staff", 1),
    ]
    assert store.list_documents(Filter()) == []


def test_loading_again_writes_and_embeds_nothing(tmp_path: Path) -> None:
    store, embedder = MemoryStore(), CountingEmbedder()
    small = make_set(tmp_path / "small", SMALL)
    put(store, small, embedder)
    writes, embedder.texts = store.writes, []

    report = put(store, small, embedder)

    assert (report.written, report.unchanged) == (0, 3)
    assert (store.writes, embedder.texts) == (writes, [])


def test_what_changed_is_written_and_what_is_gone_removed(tmp_path: Path) -> None:
    store = MemoryStore()
    put(store, make_set(tmp_path / "small", SMALL))

    changed = {**SMALL[0], "text": "Rails are 54 inches."}
    report = put(store, make_set(tmp_path / "small", [changed, SMALL[1]]))

    assert (report.written, report.unchanged, report.removed) == (1, 1, 1)
    texts = {c.text for batch in store.chunks("eval-small") for c in batch.chunks}
    assert texts == {"Rails are 54 inches.", "Decks are of concrete."}


@pytest.mark.parametrize("change", [{"scope": "other"}, {"title": "Other"}, {"year": 1999}])
def test_a_change_of_metadata_is_written_too(tmp_path: Path, change: Line) -> None:
    store = MemoryStore()
    put(store, make_set(tmp_path / "small", SMALL))

    report = put(store, make_set(tmp_path / "small", [{**SMALL[0], **change}, *SMALL[1:]]))

    assert (report.written, report.unchanged) == (1, 2)


def test_an_id_is_no_title_and_not_embedded(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    text = "SECTION 101 - GENERAL\n\nWords.\n\nSECTION 102 - RAIL HEIGHT\n\nForty-two inches."

    put(MemoryStore(), make_set(tmp_path / "s", [{"id": "185146-0-865", "text": text}]), embedder)

    assert [one.split("\n")[0] for one in embedder.texts] == [
        "SECTION 101 - GENERAL", "SECTION 102 - RAIL HEIGHT",
    ]  # fmt: skip


def test_a_document_without_letters_is_refused_and_the_others_go_on(tmp_path: Path) -> None:
    store = MemoryStore()

    report = put(store, make_set(tmp_path / "s", [{"id": "dots", "text": "... !"}, SMALL[0]]))

    assert report.written == 1
    assert [(one.uri, one.code) for one in report.refused] == [("set://s/dots", "no_text")]


def test_files_are_read_as_ingestion_reads_them(tmp_path: Path) -> None:
    lines = [{"id": name, "path": f"files/{name}", "scope": "s"} for name in ("a.html", "b.pdf")]
    (tmp_path / "set" / "files").mkdir(parents=True)
    html = "<html><head><title>Rails of bridges</title></head><body><h1>Rails</h1><p>42 inches.</p>"
    (tmp_path / "set" / "files" / "a.html").write_text(html, "utf-8")
    (tmp_path / "set" / "files" / "b.pdf").write_text("no pdf", "utf-8")
    store = MemoryStore()

    report = put(store, make_set(tmp_path / "set", lines))

    (document,) = [one for one, _ in store.list_documents(Filter(collection="eval-set"))]
    assert (document.title, document.media_type) == ("Rails of bridges", "text/html")
    assert [one.code for one in report.refused] == ["broken"]


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    documents = [{"id": "dots", "text": "..."}, *SMALL]
    small = make_set(tmp_path / "small", documents)

    load(small, "c", Loader(MemoryStore(), HashingEmbedder(), None), lambda *n: told.append(n))

    total = sum(len(str(one["text"])) for one in documents)
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_chunks_of_one_document_are_embedded_with_those_of_others(tmp_path: Path) -> None:
    calls: list[int] = []

    class Embedder(HashingEmbedder):
        def embed(self, texts: list[str]) -> np.ndarray:  # type: ignore[override]
            calls.append(len(texts))
            return super().embed(texts)

    documents = [{"id": str(n), "text": f"Text number {n}."} for n in range(200)]
    small = make_set(tmp_path / "small", documents)

    load(small, "c", Loader(MemoryStore(), Embedder(), None))

    assert calls == [128, 72]


def test_a_set_folder_with_an_empty_text_is_refused_by_document(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "s", [{"id": "empty", "text": ""}])
    from eval.collection import read_set

    report = put(MemoryStore(), read_set(folder, "s"))

    assert [one.code for one in report.refused] == ["no_text"]
