from pathlib import Path

import numpy as np
import pytest

from eval.dilution import measure
from eval.growth import RANKERS, Plan, Point, View, grow, hard_scoped, oracle_scoped, soft_scoped
from eval.plot import draw
from graph.errors import UsageError
from tests.unit.eval.corpora import bunch, direction, make_asked, make_corpus

# Gold of scope a lies between 40 distractors of scope b.
CORPUS = make_corpus(*bunch("a", np.linspace(0, 20, 8)), *bunch("b", np.linspace(0, 20, 40)))
QUESTIONS = [make_asked(CORPUS, degrees, *range(8)) for degrees in (3, 8, 15)]
PLAN = Plan(steps=4, draws=3)


def by_documents(points: list[Point]) -> list[int]:
    return [point.documents for point in points]


def test_the_corpus_grows_from_the_gold_documents_to_all() -> None:
    points = grow(CORPUS, QUESTIONS, PLAN)["monolithic"]

    assert by_documents(points)[0] == 8
    assert by_documents(points)[-1] == 48
    assert by_documents(points) == sorted(by_documents(points))
    assert [point.chunks for point in points] == by_documents(points)


def test_precision_falls_as_distractors_come_and_the_right_scope_keeps_it() -> None:
    points = grow(CORPUS, QUESTIONS, PLAN)

    monolithic = [point.precision for point in points["monolithic"]]
    assert monolithic == sorted(monolithic, reverse=True)
    assert monolithic[0] == pytest.approx(0.8)
    assert monolithic[-1] < 0.4
    assert [p.precision for p in points["oracle_scoped"]] == pytest.approx([0.8] * 4)
    assert {point.recall for point in points["oracle_scoped"]} == {1.0}


def test_only_sizes_that_can_be_drawn_differently_have_a_spread() -> None:
    points = grow(CORPUS, QUESTIONS, PLAN)["monolithic"]

    assert points[0].precision_sd == points[-1].precision_sd == 0
    assert any(point.precision_sd > 0 for point in points[1:-1])


def test_the_seed_decides_what_is_drawn() -> None:
    one = grow(CORPUS, QUESTIONS, Plan(seed=1))

    assert one == grow(CORPUS, QUESTIONS, Plan(seed=1))
    assert one != grow(CORPUS, QUESTIONS, Plan(seed=2))


def test_where_all_documents_are_gold_there_is_one_size() -> None:
    corpus = make_corpus(*bunch("a", range(5)))

    points = grow(corpus, [make_asked(corpus, 1, 0, 1, 2, 3, 4)], PLAN)

    assert [by_documents(found) for found in points.values()] == [[5]] * len(RANKERS)


def test_progress_ends_at_the_whole() -> None:
    told: list[tuple[int, int]] = []

    grow(CORPUS, QUESTIONS, PLAN, progress=lambda *n: told.append(n))

    assert told[-1][0] == told[-1][1]


def view(similarity: list[float], scopes: list[int], gold: int = 0) -> View:
    centroids = {scope: 1.0 - scope for scope in set(scopes)}
    return View(np.array(similarity, np.float32), np.array(scopes), centroids, frozenset([gold]))


def test_hard_scoping_loses_what_is_outside_of_the_voted_scope() -> None:
    one = view([0.94, 0.93, 0.92, 0.95], [0, 0, 0, 1], gold=1)

    assert hard_scoped(one, 4).tolist() == [0, 1, 2]
    assert oracle_scoped(one, 4).tolist() == [3]


def test_a_near_chunk_outvotes_many_far_ones() -> None:
    assert hard_scoped(view([0.5] * 9 + [0.7], [0] * 9 + [1]), 4).tolist() == [9]


def test_soft_scoping_never_loses_the_global_list() -> None:
    one = view([0.9, 0.8, 0.7, 0.95], [0, 0, 0, 1])

    assert set(soft_scoped(one, 4).tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_gives_distinct_rows_at_most_k(name: str) -> None:
    rows = RANKERS[name](view([0.1, 0.5, 0.5, 0.2, 0.9], [0, 1, 0, 1, 0]), 3).tolist()

    assert len(set(rows)) == len(rows) == 3
    assert set(rows) <= set(range(5))


def test_a_question_with_several_gold_scopes_keeps_all_of_them() -> None:
    one = View(
        direction(0).repeat(2)[:4], np.array([0, 1, 2, 0]), {0: 1.0, 1: 0.5, 2: 0.1},
        frozenset([0, 2]),
    )  # fmt: skip

    assert set(oracle_scoped(one, 10).tolist()) == {0, 2, 3}


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_is_drawn_with_and_without_growth(tmp_path: Path, suffix: str) -> None:
    corpus = make_corpus(*bunch("$a_1$ {x}", range(12)), *bunch("b" * 60, range(12)))

    for growth in ({}, grow(CORPUS, QUESTIONS, PLAN)):
        draw(measure(corpus), growth, tmp_path / f"plot.{suffix}")

    start = (tmp_path / f"plot.{suffix}").read_bytes()[:8]
    assert start.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")


@pytest.mark.parametrize("name", ["plot.nothing", "missing/plot.png"])
def test_a_picture_that_cannot_be_written_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.png"):
        draw(measure(CORPUS), {}, tmp_path / name)
