import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval import dilution
from eval.advice import advice
from eval.corpus import NO_SERIES, read_corpus, top
from eval.dilution import Dilution, measure
from eval.labelled import measure as measure_labelled
from graph.errors import UsageError
from tests.fakes import MemoryStore
from tests.graphs import make_document
from tests.unit.eval.corpora import bunch, make_asked, make_corpus


def deltas(found: Dilution) -> dict[str, float]:
    return {one.scope: one.delta_hat for one in found.scopes}


APART = make_corpus(*bunch("a", range(0, 12)), *bunch("b", range(90, 102)))
MIXED = make_corpus(*bunch("a", range(0, 24, 2)), *bunch("b", range(1, 25, 2)))


def test_scopes_that_lie_apart_are_not_diluted() -> None:
    found = measure(APART)

    assert deltas(found) == {"a": 0.0, "b": 0.0}
    assert found.leaks() == []
    assert found.shares == ((1.0, 0.0), (0.0, 1.0))


def test_delta_hat_by_hand() -> None:
    # At 0, 1, 2 and 4 degrees; the two nearest others of each: 1 2, 0 2, 1 0 (tied with 4) and 2 1.
    corpus = make_corpus(("a", "d", 0), ("a", "d", 1), ("b", "e", 2.1), ("b", "e", 4))

    found = measure(corpus, neighbours=2)

    # a: (1 of 2) + (1 of 2) are b. b: both of 2.1's are 1 and 4; of 4's, 2.1 and 1.
    assert deltas(found) == {"a": 0.5, "b": 0.5}


def test_the_smaller_of_two_mixed_scopes_is_diluted_more() -> None:
    corpus = make_corpus(*bunch("large", np.linspace(0, 40, 60)), *bunch("small", range(1, 40, 3)))

    found = measure(corpus)

    assert deltas(found)["small"] > 2 * deltas(found)["large"]
    assert [one.scope for one in found.scopes] == ["small", "large"]


def test_leaks_tell_which_scope_takes_whose_place() -> None:
    corpus = make_corpus(
        *bunch("a", range(0, 12)), *bunch("b", range(0, 24)), *bunch("c", range(90, 102))
    )

    leaks = measure(corpus).leaks()

    assert {(leak.asking, leak.answering) for leak in leaks} == {("a", "b"), ("b", "a")}
    assert [leak.asking for leak in leaks] == ["a", "b"]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.floats(0, 360)), min_size=2
    ),
    st.integers(1, 12),
)
def test_the_shares_of_a_scopes_neighbours_sum_to_one(
    chunks: list[tuple[str, str, float]], neighbours: int
) -> None:
    found = measure(make_corpus(*chunks), neighbours=neighbours)

    assert np.allclose([sum(row) for row in found.shares], 1.0)
    for one in found.scopes:
        assert one.least - 1e-9 <= one.delta_hat <= 1
    assert advice(found)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = measure(MIXED)
    monkeypatch.setattr(dilution, "_BLOCK", 1)

    assert measure(MIXED) == whole


def test_a_sample_asks_for_each_scope_and_is_seeded() -> None:
    found = measure(MIXED, sample=5, seed=1)

    assert [one.asked for one in found.scopes] == [5, 5]
    assert found == measure(MIXED, sample=5, seed=1)
    assert abs(found.delta_hat - measure(MIXED).delta_hat) < 0.3


def test_progress_ends_with_the_last_chunk() -> None:
    told: list[tuple[int, int]] = []

    measure(MIXED, progress=lambda *n: told.append(n))

    assert told[-1] == (24, 24)


def test_a_scope_that_cannot_fill_its_neighbourhood_is_not_held_against_it() -> None:
    corpus = make_corpus(*bunch("a", range(20)), *bunch("tiny", [90, 91, 92]))

    found = measure(corpus)

    tiny = next(one for one in found.scopes if one.scope == "tiny")
    assert tiny.delta_hat == pytest.approx(0.8) == tiny.least
    assert not tiny.is_measurable
    assert found.size_effect.n == 1


def test_smaller_scopes_that_are_diluted_more_show_as_a_negative_correlation() -> None:
    chunks = [
        chunk
        for n, size in enumerate((11, 20, 40, 80))
        for chunk in bunch(f"s{n}", np.linspace(0, 40, size))
    ]

    assert measure(make_corpus(*chunks)).size_effect.rho == pytest.approx(-1.0)


def test_one_chunk_has_no_neighbours() -> None:
    with pytest.raises(UsageError, match="one chunk"):
        measure(make_corpus(("a", "d", 0)))


def test_delta_from_labels_by_hand() -> None:
    # Nearest to 0 degrees: rows 0 (a), 1 (b), 2 (a), 3 (b). Gold: row 2, so 2 of 4 are wrong.
    corpus = make_corpus(("a", "d", 0), ("b", "e", 1), ("a", "f", 2), ("b", "g", 3), ("a", "h", 9))

    found = measure_labelled(corpus, [make_asked(corpus, 0, 2)], k=4)

    assert found.delta.mean == 0.5
    assert [(one.scope, one.questions, one.delta) for one in found.scopes] == [("a", 1, 0.5)]
    assert found.precision.mean == 0.25
    # Within a: rows 0, 2 and 4, of which one is relevant; still one of k = 4.
    assert found.gain.difference.mean == 0.0


def test_the_right_scope_gains_where_the_corpus_is_diluted() -> None:
    corpus = MIXED
    gold = [n for n in range(12)]

    found = measure_labelled(corpus, [make_asked(corpus, d, *gold) for d in range(3, 21)])

    assert found.gain.difference.mean is not None and found.gain.difference.mean > 0.3
    assert found.gain.p is not None and found.gain.p < 0.01


def test_no_labels_give_no_number() -> None:
    found = measure_labelled(MIXED, [])

    assert (found.delta.n, found.delta.mean, found.gain.p, found.scopes) == (0, None, None, ())


@given(st.lists(st.floats(-1, 1, width=32), max_size=40), st.integers(0, 50))
def test_top_is_what_sorting_gives(values: list[float], k: int) -> None:
    found = top(np.array(values, dtype=np.float32), k).tolist()

    assert found == sorted(range(len(values)), key=lambda row: (-values[row], row))[:k]


def test_a_corpus_is_read_by_scope_or_by_series() -> None:
    store = MemoryStore()
    store.write([
        make_document("a", "one", "two", scope="s", series="Spec"),
        make_document("b", "three", scope="t"),
        make_document("c", "four", collection="other"),
    ])  # fmt: skip

    by_scope, by_series = read_corpus(store, "default"), read_corpus(store, "default", "series")

    assert dict(zip(by_scope.names, by_scope.sizes.tolist(), strict=True)) == {"s": 2, "t": 1}
    assert dict(zip(by_series.names, by_series.sizes.tolist(), strict=True)) == {
        NO_SERIES: 1, "Spec": 2,
    }  # fmt: skip
    assert by_scope.vectors.shape == (3, 256)
    assert len(by_scope.documents) == 2


def test_an_empty_collection_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        read_corpus(MemoryStore(), "default")


def test_advice_for_one_scope_says_that_scoping_cannot_help() -> None:
    assert "cannot help" in advice(measure(make_corpus(*bunch("a", range(20)))))


def test_advice_for_scopes_that_lie_apart_says_hardly_diluted() -> None:
    said = advice(measure(APART))

    assert "hardly diluted" in said
    assert "Scoping has little to gain" in said


def test_advice_names_the_scopes_that_suffer_what_leaks_and_which_are_alike() -> None:
    said = advice(measure(MIXED))

    assert "the collection is diluted" in said
    assert "Scoping would help most in a (" in said
    assert "b into a (" in said
    assert "a and b finds the other" in said


def test_advice_does_not_judge_what_is_too_small() -> None:
    tiny = bunch("tiny", [90, 91, 92])

    alone = advice(measure(make_corpus(*bunch("a", range(20)), *tiny)))
    beside = advice(
        measure(make_corpus(*bunch("a", range(20)), *bunch("b", range(180, 200)), *tiny))
    )

    assert "too little to tell" in alone
    assert "hardly diluted" in beside
    assert "Too small to tell, with 10 chunks or fewer: tiny." in beside


def test_advice_for_a_large_scope_beside_a_small_one_says_in_parts() -> None:
    corpus = make_corpus(
        *bunch("large", np.linspace(0, 40, 60)), *bunch("small", range(1, 40, 3)),
        *bunch("apart", np.linspace(120, 150, 300)),
    )  # fmt: skip

    said = advice(measure(corpus))

    assert "diluted in parts" in said
    assert "belong to small (" in said
    assert "large into small (" in said
