import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from graph.errors import RouterMismatch, UsageError
from graph.model import Filter, Query, TrainedRouter
from router.facts import SECONDS, Facts
from router.learned import (
    LinearRouter,
    centroids,
    fingerprint,
    pack_linear,
    pack_tfidf,
    terms,
    unpack_linear,
    unpack_tfidf,
)
from router.train import temperature, train_probe, train_tfidf
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

EMBEDDER = HashingEmbedder()
TEXTS = [f"bridge rail post {n}" for n in range(10)] + [f"pension rule {n}" for n in range(10)]
SCOPES = ["bridges"] * 10 + ["pensions"] * 10


def test_a_linear_router_is_a_softmax_of_scaled_scores() -> None:
    router = LinearRouter(
        ("a", "b"), np.array([[1, 0], [0, 1]], np.float32), np.array([0, 1], np.float32), 2.0
    )

    routes = router.routes(np.array([3, 0], np.float32))

    # scores 3 and 1, divided by 2: softmax(1.5, .5) = 1 / (1 + e^-1)
    assert [route.scope for route in routes] == ["a", "b"]
    assert routes[0].probability == pytest.approx(1 / (1 + np.exp(-1)))


def test_a_scope_without_chunks_is_no_centroid() -> None:
    router = centroids(["a", "empty"], np.array([[3, 4], [0, 0]], np.float32))

    assert router.scopes == ("a",)
    assert router.weights.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


def test_words_and_pairs_are_weighted_as_scikit_learn_does() -> None:
    router, _ = train_tfidf(TEXTS, SCOPES)
    reference = TfidfVectorizer(ngram_range=(1, 2)).fit(TEXTS)
    model = LogisticRegression(class_weight="balanced", max_iter=4000)
    model.fit(reference.transform(TEXTS), SCOPES)
    question = "Which post has the bridge rail?"

    logit = float(model.decision_function(reference.transform([question]))[0])

    ours = {route.scope: route.probability for route in router.routes(question)}
    expected = 1 / (1 + np.exp(-logit / router.linear.temperature))
    assert ours["pensions"] == pytest.approx(expected, abs=1e-4)
    assert terms("A bridge rail") == ["bridge", "rail", "bridge rail"]


def test_a_question_without_known_words_is_not_routed() -> None:
    router, _ = train_tfidf(TEXTS, SCOPES)

    assert router.routes("zzz") == ()


def test_the_probe_learns_which_words_belong_where() -> None:
    router, report = train_probe(EMBEDDER.embed(TEXTS), SCOPES)

    assert router.routes(EMBEDDER.embed_query("bridge"))[0].scope == "bridges"
    assert (report.examples, report.scopes, report.accuracy) == (20, 2, 1.0)


def test_training_twice_gives_the_same_router() -> None:
    first, second = (train_probe(EMBEDDER.embed(TEXTS), SCOPES, seed=3)[0] for _ in range(2))

    assert np.array_equal(first.weights, second.weights)
    assert first.temperature == second.temperature


def test_one_scope_cannot_be_routed_between() -> None:
    with pytest.raises(UsageError, match="one scope"):
        train_probe(EMBEDDER.embed(TEXTS), ["same"] * 20)


def test_texts_without_words_teach_nothing() -> None:
    with pytest.raises(UsageError, match="no words"):
        train_tfidf(["?", "!"], ["a", "b"])


def test_a_scope_with_one_example_leaves_accuracy_unknown() -> None:
    router, report = train_tfidf([*TEXTS, "tunnel"], [*SCOPES, "tunnels"])

    assert report.accuracy is None
    assert router.routes("tunnel")[0].scope == "tunnels"


def test_the_temperature_makes_bold_scores_as_sure_as_they_are_right() -> None:
    # Right in three of four: the best probability is .75, log odds log 3 = 1.0986.
    scores = np.array([[10.0, 0.0]] * 4)
    labels = np.array([0, 0, 0, 1])

    assert 10 / temperature(scores, labels) == pytest.approx(np.log(3), abs=1e-3)


def test_what_was_packed_comes_back_the_same() -> None:
    probe, _ = train_probe(EMBEDDER.embed(TEXTS), SCOPES)
    words, _ = train_tfidf(TEXTS, SCOPES)

    again = unpack_linear(pack_linear(probe))
    words_again = unpack_tfidf(pack_tfidf(words))

    assert again.routes(EMBEDDER.embed_query("rail")) == probe.routes(EMBEDDER.embed_query("rail"))
    assert words_again.routes("pension rule") == words.routes("pension rule")


def make_store() -> MemoryStore:
    store = MemoryStore()
    store.write(
        [
            make_document("a", "bridge rail", scope="bridges"),
            make_document("b", "pension rule", scope="pensions"),
            make_document("c", "secret rule", scope="hidden", audience="staff"),
        ]
    )
    return store


def keep_probe(store: MemoryStore, scopes: tuple[str, ...], embedder: str = "e") -> None:
    probe, _ = train_probe(EMBEDDER.embed(TEXTS), SCOPES)
    mark = fingerprint(embedder, scopes)
    store.write_router(TrainedRouter("default", "probe", mark, "", "{}", pack_linear(probe)))


def test_a_router_that_was_never_trained_says_how_to_train_it() -> None:
    with pytest.raises(RouterMismatch, match="milepost scopes train"):
        Facts(make_store(), "e").probe(Query("x"), EMBEDDER.embed_query("x"))
    with pytest.raises(RouterMismatch, match="milepost scopes train"):
        Facts(make_store(), "e").tfidf(Query("x"), EMBEDDER.embed_query("x"))


@pytest.mark.parametrize(
    ("scopes", "embedder"),
    [(("bridges", "pensions"), "e"), (("bridges", "pensions", "hidden"), "other")],
)
def test_a_router_for_other_scopes_or_another_embedder_is_refused(
    scopes: tuple[str, ...], embedder: str
) -> None:
    store = make_store()
    keep_probe(store, scopes, embedder)

    with pytest.raises(RouterMismatch, match="again"):
        Facts(store, "e").probe(Query("x"), EMBEDDER.embed_query("x"))


def test_routes_name_only_scopes_that_the_caller_may_see() -> None:
    store = make_store()
    keep_probe(store, ("bridges", "pensions", "hidden"))
    facts = Facts(store, "e")
    vector = EMBEDDER.embed_query("secret rule")

    assert {r.scope for r in facts.centroid(Query("x"), vector)} == {"bridges", "pensions"}
    staff = Query("x", Filter(audiences=("public", "staff")))
    assert facts.centroid(staff, vector)[0].scope == "hidden"
    only = Query("x", Filter(scopes=("bridges",)))
    assert [r.scope for r in facts.probe(only, vector)] == ["bridges"]
    assert "hidden" not in facts.patterns(Query("x"))


def test_an_empty_collection_gives_no_route() -> None:
    facts = Facts(MemoryStore(), "e")

    assert facts.centroid(Query("x"), EMBEDDER.embed_query("x")) == ()
    assert facts.holdings(Query("x")) == []


def test_what_was_ingested_meanwhile_is_known_after_a_while() -> None:
    store, now = make_store(), [0.0]
    facts = Facts(store, "e", clock=lambda: now[0])
    facts.holdings(Query("x"))
    store.write([make_document("d", "new", scope="new")])

    before = {holding.scope for holding in facts.holdings(Query("x"))}
    now[0] = SECONDS + 1
    after = {holding.scope for holding in facts.holdings(Query("x"))}

    assert after - before == {"new"}
