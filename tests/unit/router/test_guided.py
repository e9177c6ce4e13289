from functools import partial

import pytest

from graph.model import Filter, Query, Route, SearchRequest
from router import guided
from router.facts import Facts
from router.fuse import mixed
from router.retrieve import Guidance, Routed, System
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document
from tests.unit.router.test_systems import candidate

EMBEDDER = HashingEmbedder()


def make_system(store: MemoryStore) -> System:
    facts = Facts(store, EMBEDDER.fingerprint)
    route = partial(guided.understood, embedder=EMBEDDER, holdings=facts.holdings)
    return System("guided", route, partial(guided.guided, store=store))


def make_store() -> MemoryStore:
    store = MemoryStore()
    store.write(
        [
            make_document("old", "audit monthly", "keys", series="Common Policy", edition="1.31"),
            make_document("new", "audit weekly", "keys", series="Common Policy", edition="2.4"),
            make_document("other", "audit yearly", scope="reports"),
            make_document("secret", "audit secret", audience="staff", scope="hidden"),
        ]
    )
    return store


def found(store: MemoryStore, text: str, where: Filter = Filter(), k: int = 10) -> list[str]:  # noqa: B008
    return [hit.passage.text for hit in make_system(store)(Query(text, where), k).hits]


def test_an_edition_named_in_the_question_is_the_only_one_searched() -> None:
    texts = found(make_store(), "audit in version 1.31 of the Common Policy")

    assert set(texts) == {"audit monthly", "keys"}


def test_where_the_narrow_search_finds_nothing_everything_is_searched() -> None:
    store = make_store()
    told = Routed(Query("audit"), EMBEDDER.embed_query("audit"), guidance=Guidance(series="gone"))

    assert len(guided.guided(told, 10, store=store).hits) == 5


def test_the_caller_sees_only_what_it_may_whatever_the_question_says() -> None:
    store = make_store()

    assert "audit secret" not in found(store, "audit secret hidden")
    assert found(store, "audit", Filter(scopes=("reports",))) == ["audit yearly"]
    assert "audit secret" in found(store, "audit", Filter(audiences=("public", "staff")))


def test_a_section_named_in_the_question_comes_first() -> None:
    texts = found(make_store(), "What does section 2 of the Common Policy say about audit?")

    assert texts[:2] == ["keys", "keys"]


def test_where_a_section_is_not_held_the_one_above_it_answers() -> None:
    texts = found(make_store(), "audit in section 2(b)(1)")

    assert texts[:2] == ["keys", "keys"]


def reasons(store: MemoryStore, text: str) -> tuple[str, ...]:
    return make_system(store)(Query(text), 10).reasons


def test_a_section_that_is_not_there_is_named() -> None:
    assert reasons(make_store(), "audit in section 9.9") == (
        "9.9 is looked up first",
        "9.9 was not found: no section has that number or name",
    )
    assert reasons(make_store(), "audit in section 2") == ("2 is looked up first",)


def test_the_section_that_answers_for_one_that_is_not_there_is_named() -> None:
    assert reasons(make_store(), "audit in section 2(b)(1)")[1] == (
        "2(b)(1) was not found: 2 above it comes first"
    )


def test_a_narrow_search_that_finds_nothing_says_that_everything_was_searched() -> None:
    told = Routed(Query("audit"), EMBEDDER.embed_query("audit"), guidance=Guidance(series="gone"))

    ranking = guided.guided(told, 10, store=make_store())

    assert ranking.reasons == ("nothing was found there: everything was searched",)


def test_what_the_best_passages_refer_to_comes_behind_them() -> None:
    store = MemoryStore()
    store.write(
        [make_document(f"d{n}", f"taxpayer appeals {n} under RCW 82.04.050") for n in range(6)]
    )
    statute = make_document("s", "selling defined", title="RCW 82.04.050")
    chunk = statute.chunks[0].__class__(
        **{
            **{f: getattr(statute.chunks[0], f) for f in statute.chunks[0].__slots__},
            "heading": "RCW 82.04.050: Sale",
        }
    )
    store.write(
        [
            statute.__class__(
                statute.document, statute.sections, (chunk,), statute.vectors, statute.embedder
            )
        ]
    )

    ranking = make_system(store)(Query("taxpayer appeals"), 6)

    texts = [hit.passage.text for hit in ranking.hits]
    assert texts[3] == "selling defined"
    assert "reference:RCW 82.04.050" in ranking.hits[3].lists
    assert len(texts) == len(set(texts)) == 6


def test_scores_are_mix_and_prior_and_wishes() -> None:
    likely = candidate("a", 0.5, **{"global": 1, "fulltext": 1})
    other = candidate("b", 0.6, **{"global": 2, "address": 1})
    base = mixed([likely, other])

    scores = guided.guided_scores(
        [likely, other], base, [Route("a", 0.9)], Guidance(wishes=(("scope", "a"),))
    )

    # .5 + .3 + .04 log .901 + .05 + .02, and .6 + .04 log .001 + .02 + 2
    assert base == [pytest.approx(0.8), pytest.approx(0.6)]
    assert scores == [pytest.approx(0.86583, abs=1e-4), pytest.approx(2.34369, abs=1e-4)]


def test_each_scope_votes_once_with_its_best_candidate() -> None:
    ours, other = candidate("a", 0.5, **{"global": 1}), candidate("b", 0.4, **{"global": 2})

    routes = guided.vote_of_candidates([ours, other, other, other], [0.5, 0.4, 0.4, 0.3])

    # e^0 against e^(-20 x .1)
    assert routes[0] == Route("a", pytest.approx(1 / (1 + 0.1353), abs=1e-4))


def test_the_search_takes_one_round_trip_unless_a_passage_refers_elsewhere() -> None:
    class Counting(MemoryStore):
        asked = 0

        def search(self, request: SearchRequest):
            self.asked += 1
            return super().search(request)

    store = Counting()
    store.write([make_document("a", "audit")])

    make_system(store)(Query("audit"), 10)

    assert store.asked == 1


def test_a_ranking_says_what_was_understood_and_how_long_each_stage_took() -> None:
    ranking = make_system(make_store())(Query("audit in version 2.4 of the Common Policy"), 5)

    assert ranking.reasons == ('edition 2.4 of "Common Policy": only this one is searched',)
    assert list(ranking.timings_ms) == ["embed", "understand", "search", "fuse", "references"]
    assert ranking.route[0].scope == "default"
