import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model import Filter, Holding, Query, Route
from router.route import by_model, by_patterns, first_sure, name_patterns, shares, vote
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
VECTOR = EMBEDDER.embed_query("x")
HOLDINGS = [
    Holding("rules", "WAC", None, None, 3),
    Holding("statutes", "RCW", None, None, 9),
    Holding("federal-pki-policy", "Common Policy", "2.4", 2024, 1),
]


def test_shares_are_a_softmax_summed_by_scope() -> None:
    routes = shares([("a", 0.5), ("b", 0.4), ("b", 0.5)], sharpness=10)

    # weights: a 1, b 1 + e^-1
    total = 2 + math.exp(-1)
    assert routes == (
        Route("b", pytest.approx((1 + math.exp(-1)) / total)),
        Route("a", pytest.approx(1 / total)),
    )


def test_no_votes_give_no_route() -> None:
    assert shares([], 40) == ()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(-1e6, 1e6)), min_size=1))
def test_shares_are_probabilities_whatever_the_scores(votes: list[tuple[str, float]]) -> None:
    routes = shares(votes, 40)

    assert sum(route.probability for route in routes) == pytest.approx(1)
    assert list(routes) == sorted(routes, key=lambda r: (-r.probability, r.scope))


def test_the_vote_counts_only_what_the_caller_may_see() -> None:
    store = MemoryStore()
    store.write([make_document("a", "bridge rail", scope="bridges")])
    store.write([make_document("b", "bridge rail", scope="hidden", audience="staff")])
    query = Query("bridge rail", Filter())

    assert vote(query, EMBEDDER.embed_query(query.text), store=store) == (Route("bridges", 1.0),)
    assert vote(query, EMBEDDER.embed_query(query.text), store=MemoryStore()) == ()


def test_many_far_chunks_do_not_outvote_a_few_near_ones() -> None:
    store = MemoryStore()
    store.write([make_document("a", "bridge rail", scope="small")])
    store.write([make_document(f"b{n}", f"bridge pension {n}", scope="large") for n in range(40)])
    query = Query("bridge rail")

    routes = vote(query, EMBEDDER.embed_query("Part 1\nbridge rail"), store=store)

    assert routes[0].scope == "small"


@pytest.mark.parametrize(
    ("question", "scope"),
    [
        ("What does WAC 458-20-100 say?", "rules"),
        ("according to the common policy", "federal-pki-policy"),
        ("federal PKI policy on renewal", "federal-pki-policy"),
        ("What about wacky things?", None),
        ("RCW or WAC?", None),
        ("anything else", None),
    ],
)
def test_names_in_the_question_tell_the_scope(question: str, scope: str | None) -> None:
    patterns = name_patterns(HOLDINGS)

    routes = by_patterns(Query(question), VECTOR, patterns=lambda query: patterns)

    assert routes == (() if scope is None else (Route(scope, 1.0),))


def test_a_series_that_two_scopes_share_tells_nothing() -> None:
    patterns = name_patterns([Holding("a", "S9", None, None, 1), Holding("b", "S9", None, None, 1)])

    assert by_patterns(Query("in S9"), VECTOR, patterns=lambda query: patterns) == ()


def test_a_name_is_text_and_no_pattern() -> None:
    patterns = name_patterns([Holding("a.*(", "[x", None, None, 1)])

    assert by_patterns(Query("anything"), VECTOR, patterns=lambda query: patterns) == ()


@pytest.mark.parametrize(
    ("replies", "scope", "calls"),
    [
        (["rules"], "rules", 1),
        (['"Rules".\nBecause …'], "rules", 1),
        (["NONE"], None, 1),
        (["I think so", "statutes"], "statutes", 2),
        (["?", ""], None, 2),
    ],
)
def test_a_model_names_a_scope_in_at_most_two_calls(
    replies: list[str], scope: str | None, calls: int
) -> None:
    asked: list[str] = []

    def complete(prompt: str) -> str:
        asked.append(prompt)
        return replies[len(asked) - 1]

    routes = by_model(Query("q"), VECTOR, complete=complete, holdings=lambda query: HOLDINGS)

    assert routes == (() if scope is None else (Route(scope, 1.0),))
    assert len(asked) == calls


def test_a_model_is_not_asked_where_there_is_nothing_to_choose() -> None:
    def complete(prompt: str) -> str:
        raise AssertionError("asked")

    assert by_model(Query("q"), VECTOR, complete=complete, holdings=lambda query: []) == ()


def test_the_first_router_that_can_decide_decides() -> None:
    undecided = lambda query, vector: ()  # noqa: E731
    decided = lambda query, vector: (Route("a", 0.7),)  # noqa: E731

    routes = first_sure(Query("q"), VECTOR, routers=[undecided, decided, undecided])

    assert routes == (Route("a", 0.7),)
