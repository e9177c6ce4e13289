"""What every store promises; the same tests run in memory and on a real Neo4j."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from graph.model import (
    SCOPE_SET,
    Filter,
    Holding,
    IngestedDocument,
    SearchRequest,
    TrainedRouter,
)
from graph.ports import Store
from tests.fakes import HashingEmbedder
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
ALL = Filter()
Leg = Callable[..., list[str]]


def texts(store: Store, request: SearchRequest) -> list[str]:
    return sorted(candidate.passage.text for candidate in store.search(request))


def search(store: Store, text: str, where: Filter = ALL, limit: int = 10) -> list[str]:
    vector = EMBEDDER.embed_query(text)
    return texts(store, SearchRequest(where, limit, vector=vector, text=text))


def by_text(store: Store, text: str, where: Filter = ALL) -> list[str]:
    return texts(store, SearchRequest(where, 10, text=text))


def by_vector(store: Store, text: str, where: Filter = ALL) -> list[str]:
    return texts(store, SearchRequest(where, 10, vector=EMBEDDER.embed_query(text)))


LEGS = pytest.mark.parametrize("leg", [by_vector, by_text])


def test_an_empty_graph_gives_no_candidates(store: Store) -> None:
    assert search(store, "bridge rail") == []
    assert store.list_documents(ALL) == []
    assert store.list_scopes(ALL) == []
    assert store.nearest_scopes(EMBEDDER.embed_query("bridge"), ALL, 5) == []


def test_a_candidate_knows_its_document_section_and_pages(store: Store) -> None:
    store.write([make_document("spec.pdf", "General words.", "Guardrail height is 27 inches.")])

    found = store.search(SearchRequest(ALL, 10, text="guardrail height"))

    (candidate,) = found
    passage = candidate.passage
    assert (passage.document, passage.section_number, passage.section) == (
        "spec.pdf",
        "2",
        "Part 2",
    )
    assert (passage.page_start, passage.page_end) == (2, 2)
    assert passage.heading == "Part 1 > Part 2"


def test_what_is_printed_on_the_pages_comes_with_the_passage(store: Store) -> None:
    item = make_document("spec.pdf", "Guardrail height is 27 inches.")
    chunks = tuple(replace(chunk, printed="iii") for chunk in item.chunks)
    store.write([replace(item, chunks=chunks)])

    (candidate,) = store.search(SearchRequest(ALL, 10, text="guardrail height"))
    (batch,) = store.chunks("default")
    ((_, outlined),) = store.outlines([item.document.id], ALL)
    assert candidate.passage.printed == "iii"
    assert [chunk.printed for chunk in (*batch.chunks, *outlined)] == ["iii", "iii"]


def test_each_list_is_named_and_ranked_from_one(store: Store) -> None:
    store.write([make_document("a", "asphalt paving", scope="roads")])
    store.write([make_document("b", "bridge paving", scope="bridges")])
    vector = EMBEDDER.embed_query("bridge paving")

    found = store.search(
        SearchRequest(ALL, 10, vector=vector, scopes=("bridges",), text="bridge paving")
    )

    ranks = {c.passage.text: {name: r.rank for name, r in c.lists.items()} for c in found}
    assert ranks["bridge paving"] == {"fulltext": 1, "global": 1, "scope:bridges": 1}
    assert ranks["asphalt paving"] == {"fulltext": 2, "global": 2}


def test_vector_scores_are_half_of_one_plus_cosine(store: Store) -> None:
    store.write([make_document("a", "asphalt")])
    vector = EMBEDDER.embed_query("Part 1\nasphalt")

    (candidate,) = store.search(SearchRequest(ALL, 5, vector=vector))

    assert candidate.lists["global"].score == pytest.approx(1.0, abs=1e-5)


def test_the_limit_holds_for_each_list(store: Store) -> None:
    store.write([make_document(f"d{n}", f"culvert number {n}") for n in range(6)])

    found = store.search(SearchRequest(ALL, 3, text="culvert"))

    assert len(found) == 3


def test_a_limit_beyond_the_corpus_returns_what_there_is(store: Store) -> None:
    store.write([make_document("a", "culvert")])

    assert search(store, "culvert", limit=500) == ["culvert"]


def test_a_scope_far_from_the_question_still_fills_its_list(store: Store) -> None:
    near = [make_document(f"n{n}", "bridge rail steel post", scope="near") for n in range(40)]
    far = [make_document(f"f{n}", f"pension rule {n}", scope="far") for n in range(3)]
    store.write(near + far)
    vector = EMBEDDER.embed_query("bridge rail steel post")

    found = store.search(
        SearchRequest(ALL, 3, vector=vector, search_globally=False, scopes=("far",))
    )

    assert len(found) == 3
    assert {c.passage.scope for c in found} == {"far"}


def test_a_scope_without_chunks_gives_an_empty_list(store: Store) -> None:
    store.write([make_document("a", "culvert")])
    vector = EMBEDDER.embed_query("culvert")

    found = store.search(
        SearchRequest(ALL, 3, vector=vector, search_globally=False, scopes=("nowhere",))
    )

    assert found == []


@LEGS
def test_nobody_sees_an_audience_that_they_do_not_hold(store: Store, leg: Leg) -> None:
    store.write([make_document("open", "culvert size")])
    store.write([make_document("secret", "culvert price", audience="staff")])

    assert leg(store, "culvert") == ["culvert size"]
    staff = Filter(audiences=("public", "staff"))
    assert leg(store, "culvert", staff) == ["culvert price", "culvert size"]
    assert leg(store, "culvert", Filter(audiences=())) == []
    assert [d.title for d, _ in store.list_documents(ALL)] == ["open"]
    assert [s.documents for s in store.list_scopes(ALL)] == [1]


@LEGS
def test_collections_are_kept_apart(store: Store, leg: Leg) -> None:
    store.write(
        [make_document("a", "culvert one"), make_document("a", "culvert two", collection="x")]
    )

    assert leg(store, "culvert") == ["culvert one"]
    assert leg(store, "culvert", Filter(collection="x")) == ["culvert two"]
    assert set(store.document_states("x")) == {"file:///a"}


@LEGS
def test_filters_narrow_both_legs(store: Store, leg: Leg) -> None:
    store.write(
        [
            make_document("a", "culvert a", scope="one", series="Spec", year=2018),
            make_document("b", "culvert b", scope="two", series="Spec", year=2021),
            make_document("c", "culvert c", scope="two"),
        ]
    )
    store.finish("default")

    def found(**where: object) -> list[str]:
        return leg(store, "culvert", Filter(**where))  # type: ignore[arg-type]

    assert found(scopes=("two",)) == ["culvert b", "culvert c"]
    assert found(scopes=("one", "two")) == ["culvert a", "culvert b", "culvert c"]
    assert found(series="Spec") == ["culvert a", "culvert b"]
    assert found(year=2018) == ["culvert a"]
    assert found(current_only=True) == ["culvert b", "culvert c"]
    assert found(as_of=2019) == ["culvert a", "culvert c"]
    assert found(as_of=2017) == ["culvert c"]
    assert found(as_of=2030, series="Spec") == ["culvert b"]
    assert found(series="Spec", year=2021, scopes=("one",)) == []


def test_values_with_quotes_and_backticks_are_only_values(store: Store) -> None:
    series = "x' OR true //`) DETACH DELETE n //"
    store.write([make_document("a", "culvert a", series=series), make_document("b", "culvert b")])

    assert by_text(store, "culvert", Filter(series=series)) == ["culvert a"]
    assert by_text(store, "culvert", Filter(series="x' OR true //")) == []


def test_two_scopes_in_a_filter_both_answer_by_full_text_alone(store: Store) -> None:
    store.write(
        [make_document("a", "culvert a", scope="A"), make_document("b", "culvert b", scope="B")]
    )

    assert by_text(store, "culvert", Filter(scopes=("A", "B"))) == ["culvert a", "culvert b"]


@pytest.mark.parametrize(
    "question",
    [
        "What is subbase!", "wow!! subbase", "subbase AND", "OR subbase", "NOT subbase",
        "subbase AND/OR", "subbase?", "sub* subbase~2 [a TO b]", "title:subbase",
        "(subbase", "subbase)",
        'the "subbase', "subbase \\", "subbase && || ^ {", "SUBBASE", "subbase/base", "-subbase +",
        "\ud83d subbase", "subbase " + "word " * 20_000,
    ],
)  # fmt: skip
def test_punctuation_and_operators_are_words_or_nothing(store: Store, question: str) -> None:
    store.write([make_document("a", "the subbase course"), make_document("b", "a pension rule")])

    assert by_text(store, question) == ["the subbase course"]


@pytest.mark.parametrize("question", ["", "   ", "the of is", "?!", "👍🏽", "zzzyx", "***", '""'])
def test_a_question_without_known_words_finds_nothing_by_full_text(
    store: Store, question: str
) -> None:
    store.write([make_document("a", "the subbase course of this road")])

    assert by_text(store, question) == []


def test_hyphens_and_spellings_of_an_identifier_meet(store: Store) -> None:
    store.write([make_document("a", "TB-12 mix"), make_document("b", "Interstate I95 work")])

    assert by_text(store, "TB-12") == ["TB-12 mix"]
    assert by_text(store, "TB-") == ["TB-12 mix"]
    assert by_text(store, "-TB") == ["TB-12 mix"]
    assert by_text(store, "TB\u201012") == ["TB-12 mix"]


@pytest.mark.parametrize("number", ["82.04.050", "203-1.2", "401.4-2(b)", "1,200", "458-20-177"])
def test_a_number_with_dots_or_dashes_is_found_as_written(store: Store, number: str) -> None:
    store.write(
        [make_document("a", f"as {number} says", "82 04 50"), make_document("b", "458 82 200")]
    )

    found = store.search(SearchRequest(ALL, 10, text=f"What does {number} say?"))

    best = min(found, key=lambda candidate: candidate.lists["fulltext"].rank)
    assert best.passage.text == f"as {number} says"


def test_equal_scores_are_ordered_by_chunk_id(store: Store) -> None:
    store.write([make_document(f"d{n}", "the same sentence") for n in range(5)])
    vector = EMBEDDER.embed_query("the same sentence")

    found = store.search(SearchRequest(ALL, 5, vector=vector, text="same sentence"))

    ids = [c.passage.chunk_id for c in found]
    assert ids == sorted(ids)
    assert [c.lists["global"].rank for c in found] == [1, 2, 3, 4, 5]
    assert [c.lists["fulltext"].rank for c in found] == [1, 2, 3, 4, 5]


def test_writing_the_same_document_again_changes_nothing(store: Store) -> None:
    item = make_document("a", "culvert one", "culvert two")
    store.write([item])
    store.write([item])

    assert by_text(store, "culvert") == ["culvert one", "culvert two"]
    assert [count for _, count in store.list_documents(ALL)] == [2]


def test_a_shorter_new_version_leaves_nothing_of_the_old(store: Store) -> None:
    store.write([make_document("a", "culvert 1", "culvert 2", "culvert 3", "pension 4")])
    store.write([make_document("a", "culvert 2", "new text")])

    assert by_text(store, "culvert") == ["culvert 2"]
    assert by_text(store, "pension") == []
    assert by_vector(store, "pension 4") == ["culvert 2", "new text"]


def test_a_moved_document_is_found_in_its_new_scope_only(store: Store) -> None:
    store.write([make_document("a", "culvert", scope="old")])
    store.finish("default")
    store.write([make_document("a", "culvert", scope="new")])
    store.finish("default")

    assert by_text(store, "culvert", Filter(scopes=("old",))) == []
    assert by_text(store, "culvert", Filter(scopes=("new",))) == ["culvert"]
    assert [scope.name for scope in store.list_scopes(ALL)] == ["new"]


def test_the_same_text_in_two_documents_stays_two_chunks(store: Store) -> None:
    store.write(
        [make_document("a", "boilerplate", year=2019), make_document("b", "boilerplate", year=2021)]
    )

    assert by_text(store, "boilerplate") == ["boilerplate", "boilerplate"]
    assert by_text(store, "boilerplate", Filter(year=2019)) == ["boilerplate"]


def test_a_removed_document_leaves_nothing(store: Store) -> None:
    a, b = make_document("a", "culvert one"), make_document("b", "culvert two")
    store.write([a, b])

    assert store.remove([a.document.id, "unknown"]) == 1
    store.finish("default")

    assert search(store, "culvert") == ["culvert two"]
    assert set(store.document_states("default")) == {"file:///b"}


def test_a_document_without_year_is_stored_and_excluded_by_a_year(store: Store) -> None:
    store.write([make_document("specs.pdf", "culvert")])

    assert by_text(store, "culvert") == ["culvert"]
    assert by_text(store, "culvert", Filter(year=2020)) == []


def test_the_newest_edition_is_current_whatever_came_first(store: Store) -> None:
    new = make_document("new", "culvert new", series="Spec", edition="2.10", date="2021-05-01")
    old = make_document("old", "culvert old", series="Spec", edition="2.9", date="2019-03-01")
    for order in ([new, old], [old, new]):
        for item in order:
            store.write([item])
            store.finish("default")

        assert by_text(store, "culvert", Filter(current_only=True)) == ["culvert new"]
        assert {d.title: d.is_current for d, _ in store.list_documents(ALL)} == {
            "new": True,
            "old": False,
        }


def test_removing_the_newest_edition_makes_the_one_before_current(store: Store) -> None:
    new = make_document("new", "culvert new", series="Spec", year=2021)
    store.write([new, make_document("old", "culvert old", series="Spec", year=2019)])
    store.finish("default")
    store.remove([new.document.id])
    store.finish("default")

    assert by_text(store, "culvert", Filter(current_only=True)) == ["culvert old"]


def test_a_document_keeps_the_names_it_is_given(store: Store) -> None:
    item = make_document("a", "culvert", copies=("file:///b", "file:///c"))
    store.write([replace(item, minhash=b"\0\1\2")])
    first = store.document_states("default")["file:///a"]
    store.rename({item.document.id: ("file:///c", "file:///d")})
    store.finish("default")

    state = store.document_states("default")["file:///c"]
    [(listed, _)] = store.list_documents(ALL)
    assert (first.copies, first.minhash) == (("file:///b", "file:///c"), b"\0\1\2")
    assert state.names == (listed.uri, *listed.copies) == ("file:///c", "file:///d")
    assert state.id == item.document.id


def test_states_tell_what_must_be_read_again(store: Store) -> None:
    item = make_document("a", "culvert")
    store.write([item])

    state = store.document_states("default")["file:///a"]

    assert (state.id, state.sha256, state.fingerprint, state.chunks) == (
        item.document.id, item.document.sha256, "test", 1,
    )  # fmt: skip


def test_nearest_scopes_come_nearest_first(store: Store) -> None:
    store.write(
        [
            make_document("a", "bridge rail", scope="bridges"),
            make_document("b", "pension", scope="law"),
        ]
    )

    nearest = store.nearest_scopes(EMBEDDER.embed_query("bridge rail"), ALL, 5)

    assert [scope for scope, _ in nearest] == ["bridges", "law"]
    assert nearest[0][1] > nearest[1][1]


def test_scopes_count_documents_and_chunks(store: Store) -> None:
    store.write([make_document("a", "x", "y", scope="s"), make_document("b", "z", scope="s")])
    store.finish("default")

    (scope,) = store.list_scopes(ALL)

    assert (scope.name, scope.documents, scope.chunks) == ("s", 2, 3)


def test_of_equal_passages_the_current_edition_comes_first(store: Store) -> None:
    for n in range(4):  # ids are digests, so one of four orders would be right by chance
        old = make_document(f"old{n}", "the same words", series=f"S{n}", year=2019)
        store.write([make_document(f"new{n}", "the same words", series=f"S{n}", year=2021), old])
    store.finish("default")
    vector = EMBEDDER.embed_query("the same words")

    found = store.search(SearchRequest(ALL, 8, vector=vector, text="same words"))

    for name in ("global", "fulltext"):
        ranked = sorted(found, key=lambda candidate: candidate.lists[name].rank)
        assert [c.passage.is_current for c in ranked] == [True] * 4 + [False] * 4


def test_all_chunks_of_a_collection_come_with_scope_series_and_vector(store: Store) -> None:
    a = make_document("a", "one", "two", scope="s", series="Spec", audience="staff")
    b = make_document("b", "three", scope="t")
    store.write([a, b, make_document("c", "four", collection="other")])

    batches = list(store.chunks("default"))

    found = [
        row for b in batches for row in zip(b.chunks, b.scopes, b.series, b.vectors, strict=True)
    ]
    expected = sorted([a, b], key=lambda item: item.document.id)
    assert [chunk for chunk, *_ in found] == [c for item in expected for c in item.chunks]
    assert {chunk.text: (scope, series) for chunk, scope, series, _ in found} == {
        "one": ("s", "Spec"), "two": ("s", "Spec"), "three": ("t", None),
    }  # fmt: skip
    vectors = np.concatenate([item.vectors for item in expected])
    assert np.allclose(np.stack([vector for *_, vector in found]), vectors, atol=1e-6)


def test_chunks_come_without_vectors_where_these_are_not_wanted(store: Store) -> None:
    store.write([make_document("a", "one", "two")])

    (batch,) = store.chunks("default", with_vectors=False)

    assert batch.vectors.shape == (2, 0)


def test_a_collection_without_chunks_gives_no_batch(store: Store) -> None:
    assert list(store.chunks("nothing here")) == []


def test_an_edition_narrows_every_list(store: Store) -> None:
    store.write(
        [
            make_document("old", "crl issued daily", series="Policy", edition="1.1"),
            make_document("new", "crl issued hourly", series="Policy", edition="2.0"),
            make_document("none", "crl issued weekly"),
        ]
    )
    where = Filter(edition="2.0")
    request = SearchRequest(
        where, 10, EMBEDDER.embed_query("crl"), scopes=("default",), text="crl", addresses=("1",)
    )

    (candidate,) = store.search(request)

    assert candidate.passage.text == "crl issued hourly"
    assert set(candidate.lists) == {"global", "scope:default", "fulltext", "address"}


def test_an_address_finds_its_section_with_what_is_below_it(store: Store) -> None:
    store.write([make_document("a", "general", "rail height", "post spacing")])

    assert texts(store, SearchRequest(ALL, 10, addresses=("3",))) == ["post spacing"]
    assert len(texts(store, SearchRequest(ALL, 10, addresses=("1",)))) == 3
    assert texts(store, SearchRequest(ALL, 10, addresses=("99",))) == []


def test_an_address_that_stands_in_a_heading_is_found(store: Store) -> None:
    item = make_document("a", "selling at retail defined")
    chunk = replace(item.chunks[0], heading="RCW 82.04.050: Sale at retail")
    store.write([replace(item, chunks=(chunk,)), make_document("b", "see 82.04.050")])

    found = store.search(SearchRequest(ALL, 10, addresses=("82.04.050",)))

    assert [c.passage.text for c in found] == ["selling at retail defined"]
    assert found[0].lists["address"].score == 1.0


@pytest.mark.parametrize("address", ["", "()", "§", '"', "a/b", "^0 OR keys:*"])
def test_no_address_breaks_the_statement(store: Store, address: str) -> None:
    store.write([make_document("a", "rail")])

    assert texts(store, SearchRequest(ALL, 10, addresses=(address,))) == []


def test_an_address_is_found_only_by_who_may_see_it(store: Store) -> None:
    store.write([make_document("a", "secret", audience="staff")])
    staff = Filter(audiences=("public", "staff"))

    assert texts(store, SearchRequest(ALL, 10, addresses=("1", "Part 1"))) == []
    assert texts(store, SearchRequest(staff, 10, addresses=("1",))) == ["secret"]


def test_candidates_bring_their_vectors_only_when_asked(store: Store) -> None:
    item = make_document("a", "rail")
    store.write([item])

    (bare,) = store.search(SearchRequest(ALL, 10, text="rail"))
    (full,) = store.search(SearchRequest(ALL, 10, text="rail", with_vectors=True))

    assert bare.vector is None
    assert full.vector is not None
    np.testing.assert_allclose(full.vector, item.vectors[0], atol=1e-6)


def test_every_candidate_has_its_cosine_whichever_list_found_it(store: Store) -> None:
    store.write([make_document(f"d{n}", f"bridge rail {n}") for n in range(3)])
    store.write([make_document("far", "culvert")])
    vector = EMBEDDER.embed_query("bridge rail 1")

    found = store.search(SearchRequest(ALL, 1, vector=vector, text="culvert", with_vectors=True))
    bare = store.search(SearchRequest(ALL, 1, text="culvert"))

    assert {c.passage.text for c in found} == {"bridge rail 1", "culvert"}
    for candidate in found:
        assert candidate.vector is not None
        assert candidate.cosine == pytest.approx(float(vector @ candidate.vector), abs=1e-5)
    assert bare[0].cosine is None


def test_passages_come_in_reading_order_and_only_those_that_may_be_seen(store: Store) -> None:
    open_, closed = make_document("a", "one", "two"), make_document("b", "x", audience="staff")
    store.write([open_, closed])
    ids = [chunk.id for item in (closed, open_) for chunk in reversed(item.chunks)]

    assert [p.text for p in store.passages([*ids, "unknown"], ALL)] == ["one", "two"]
    assert store.passages([], ALL) == []


def test_neighbours_stay_inside_the_document(store: Store) -> None:
    first = make_document("a", *(f"text {n}" for n in range(6)))
    store.write([first, make_document("b", "other")])

    found = store.neighbours([first.chunks[0].id, first.chunks[4].id], ALL, 1)

    assert [p.text for p in found] == ["text 0", "text 1", "text 3", "text 4", "text 5"]
    assert store.neighbours([first.chunks[0].id], Filter(audiences=("staff",)), 1) == []


def test_a_section_is_read_whole_with_its_subsections(store: Store) -> None:
    item = make_document("a", "general", "rail", "post")
    store.write([item])

    whole = store.section_passages(item.sections[0].id, ALL)
    part = store.section_passages(item.sections[1].id, ALL)

    assert [p.text for p in whole] == ["general", "rail", "post"]
    assert [p.text for p in part] == ["rail"]
    assert store.section_passages("unknown", ALL) == []


def test_outlines_have_every_section_with_its_own_chunks(store: Store) -> None:
    item = make_document("a", "general", "rail", "post")
    bare = replace(item, chunks=item.chunks[:2], vectors=item.vectors[:2])
    other = make_document("b", "culvert")
    store.write([bare, other, make_document("c", "not asked for")])

    found = store.outlines([other.document.id, item.document.id], ALL)

    whole = sorted([bare, other], key=lambda one: one.document.id)
    assert [section for section, _ in found] == [s for one in whole for s in one.sections]
    own = {section.id: list(chunks) for section, chunks in found if chunks}
    assert own == {c.section_id: [c] for c in (*bare.chunks, *other.chunks)}


def test_outlines_show_only_what_the_filter_lets_through(store: Store) -> None:
    public, secret = make_document("a", "open"), make_document("b", "secret", audience="staff")
    elsewhere = make_document("a", "other", collection="other")
    store.write([public, secret, elsewhere])
    ids = [one.document.id for one in (public, secret, elsewhere)]

    def texts_of(where: Filter) -> list[str]:
        return sorted(c.text for _, chunks in store.outlines(ids, where) for c in chunks)

    assert texts_of(ALL) == ["open"]
    assert texts_of(Filter(audiences=("public", "staff"))) == ["open", "secret"]
    assert texts_of(Filter(collection="other")) == ["other"]
    assert store.outlines([], ALL) == []


def test_holdings_tell_what_may_be_asked_for(store: Store) -> None:
    store.write(
        [
            make_document("a", "x", scope="s", series="Policy", edition="1", year=2001),
            make_document("b", "y", scope="s", series="Policy", edition="1", year=2001),
            make_document("c", "z"),
            make_document("d", "secret", scope="hidden", audience="staff"),
        ]
    )

    found = store.holdings(ALL)

    assert found == [
        Holding("default", None, None, None, 1),
        Holding("s", "Policy", "1", 2001, 2),
    ]


def test_a_router_is_kept_by_collection_and_name(store: Store) -> None:
    first = TrainedRouter("default", "probe", "f1", "2026-01-01T00:00:00+00:00", "{}", b"\x00\xff")
    store.write_router(first)
    store.write_router(replace(first, fingerprint="f2", weights=b"\x01"))

    found = store.read_router("default", "probe")

    assert found == replace(first, fingerprint="f2", weights=b"\x01")
    assert store.read_router("default", "tfidf") is None
    assert store.read_router("other", "probe") is None


def test_scope_names_are_those_of_all_audiences(store: Store) -> None:
    store.write(
        [
            make_document("a", "x", scope="open"),
            make_document("b", "y", scope="hidden", audience="staff"),
            make_document("c", "z", scope="elsewhere", collection="other"),
        ]
    )
    store.finish("default")

    assert store.scope_names("default") == ["hidden", "open"]
    assert store.scope_names("nothing") == []


def test_references_are_found_by_the_headings_that_hold_them(store: Store) -> None:
    def headed(name: str, heading: str, *texts: str, **properties: object) -> IngestedDocument:
        item = make_document(name, *texts, **properties)
        chunks = tuple(replace(chunk, heading=heading) for chunk in item.chunks)
        return replace(item, chunks=chunks)

    store.write(
        [
            headed("s", "RCW 82.04.050: Sale at retail", "retail sale", "wholesale", "unrelated"),
            headed("r", "WAC 458-20-177: Motor vehicles", "retail vehicle"),
            headed("x", "RCW 82.04.060", "retail secret", audience="staff"),
        ]
    )
    vector = EMBEDDER.embed_query("Part 1\nretail sale")

    found = store.referred(["RCW 82.04.050", "WAC 458-20-177", "RCW 82.04.060"], vector, ALL, 2)

    lists = {c.passage.text: {n: r.rank for n, r in c.lists.items()} for c in found}
    assert lists["retail sale"] == {"reference:RCW 82.04.050": 1}
    assert lists["retail vehicle"] == {"reference:WAC 458-20-177": 1}
    assert len(lists) == 3
    assert "retail secret" not in lists
    assert store.referred([], vector, ALL, 2) == []
    assert store.referred(["", "()"], vector, ALL, 2) == []


@LEGS
def test_a_document_that_is_moved_is_found_in_its_new_scope_only(store: Store, leg: Leg) -> None:
    moved = make_document("a", "culvert size", "culvert price", scope="old", year=2024, series="s")
    store.write([moved, make_document("b", "culvert depth", scope="old")])
    store.finish("default")

    assert store.set_scopes("default", {moved.document.id: "new"}) == 1
    store.finish("default")

    assert leg(store, "culvert", Filter(scopes=("new",))) == ["culvert price", "culvert size"]
    assert leg(store, "culvert", Filter(scopes=("old",))) == ["culvert depth"]
    both = Filter(scopes=("new", "old"), year=2024, series="s", current_only=True)
    assert leg(store, "culvert", both) == ["culvert price", "culvert size"]
    assert [(s.name, s.documents) for s in store.list_scopes(ALL)] == [("new", 1), ("old", 1)]
    assert store.scope_names("default") == ["new", "old"]


def test_where_metadata_come_from_is_kept_and_a_scope_that_is_set_says_so(store: Store) -> None:
    sources = ("title: first page (0.60)", "scope: folder (0.80)", "year: file name (0.80)")
    item = make_document("a", "culvert", scope="old", metadata_sources=sources)
    store.write([item, make_document("b", "bridge")])

    assert {d.metadata_sources for d, _ in store.list_documents(ALL)} == {sources, ()}
    store.set_scopes("default", {item.document.id: "new"})
    (moved,) = [d for d, _ in store.list_documents(Filter(scopes=("new",)))]
    assert moved.metadata_sources == (sources[0], sources[2], SCOPE_SET)


def test_a_scope_that_is_left_by_all_is_gone(store: Store) -> None:
    items = [make_document(name, f"culvert {name}", scope="old") for name in ("a", "b")]
    store.write(items)

    store.set_scopes("default", {item.document.id: "new" for item in items})
    store.finish("default")

    assert store.scope_names("default") == ["new"]
    assert {d.scope_set for d, _ in store.list_documents(ALL)} == {True}
    assert {s.scope_set for s in store.document_states("default").values()} == {"new"}
    store.write(items)
    assert {s.scope_set for s in store.document_states("default").values()} == {None}


def test_only_documents_of_the_collection_are_moved(store: Store) -> None:
    other = make_document("a", "culvert", collection="other", scope="old")
    store.write([other])

    assert store.set_scopes("default", {other.document.id: "new", "nobody": "new"}) == 0
    assert store.scope_names("other") == ["old"]
