from collections.abc import Mapping
from pathlib import Path

import pytest

from eval.report import CEILING, significance, table
from eval.results import WITHOUT_EMBEDDING, Results, SystemResult, Timing
from graph.errors import UsageError

Values = Mapping[str, Mapping[str, float]]


def results(systems: Mapping[str, Values], name: str = "s", level: str = "span") -> Results:
    keys = {key for values in systems.values() for key in values}
    return Results(
        set=name, part="dev", questions=len(keys), without_gold=0, not_held=0, chunks=1,
        started_at="2026-01-01T00:00:00+00:00", seconds=1, seed=0, commit="c",
        settings={"level": level, "unit": "chunk"}, machine={}, packages={},
        systems={
            name: SystemResult(
                scores=values, timings_ms={WITHOUT_EMBEDDING: Timing(mean=9, p50=7, p95=20)}
            )
            for name, values in systems.items()
        },
        ceiling={key: {"P@1": 1.0} for key in keys},
    )  # fmt: skip


def values(*scores: float, measure: str = "P@1") -> Values:
    return {f"s/q{n}": {measure: score} for n, score in enumerate(scores)}


def test_a_line_for_each_system_and_the_ceiling() -> None:
    lines = table({Path("a.json"): results({"x": values(0, 1), "y": values(1, 1)})})

    assert [(one.system, one.estimates["P@1"].mean) for one in lines] == [
        ("x", 0.5), ("y", 1.0), (CEILING, 1.0),
    ]  # fmt: skip
    assert [one.milliseconds for one in lines] == [7, 7, None]


def test_systems_of_the_same_name_are_told_apart_by_their_files() -> None:
    lines = table({
        Path("before.json"): results({"x": values(0), "y": values(0)}),
        Path("after.json"): results({"x": values(1)}),
    })  # fmt: skip

    assert [one.system for one in lines] == ["x (before)", "y", "x (after)", CEILING]


def test_a_product_of_means_has_no_interval() -> None:
    scores = {"s/q0": {"P@3": 1.0, "R@3": 1.0, "IE@3": 1.0}, "s/q1": dict.fromkeys(
        ("P@3", "R@3", "IE@3"), 0.0
    )}  # fmt: skip

    (line, _) = table({Path("a.json"): results({"x": scores})}, ["IE@3", "PxR@3"])

    assert line.estimates["IE@3"].mean == 0.5
    product = line.estimates["PxR@3"]
    assert (product.n, product.mean, product.low, product.high) == (2, 0.25, None, None)


@pytest.mark.parametrize("other", [results({"y": {}}, name="t"), results({"y": {}}, level="page")])
def test_results_that_do_not_belong_together_are_refused(other: Results) -> None:
    with pytest.raises(UsageError, match=r"a\.json and b\.json"):
        table({Path("a.json"): results({"x": values(0)}), Path("b.json"): other})


def test_an_unknown_measure_or_baseline_is_refused_with_the_known_ones() -> None:
    files = {Path("a.json"): results({"x": values(0), "y": values(0)})}

    with pytest.raises(UsageError, match=r"'P@2'.*P@1"):
        table(files, ["P@2"])
    with pytest.raises(UsageError, match=r"'z'.*x, y"):
        significance(files, "z")
    with pytest.raises(UsageError, match="PxR"):
        significance(files, "x", ["PxR@3"])
    with pytest.raises(UsageError, match="No results"):
        table({})


def test_systems_are_compared_on_the_questions_they_share() -> None:
    long = values(*[0.0] * 8, measure="P@10")
    files = {
        Path("a.json"): results({"base": long}),
        Path("b.json"): results(
            {"new": dict(list(values(*[1.0] * 9, measure="P@10").items())[2:])}
        ),
    }

    (found,) = significance(files, "base")

    assert (found.system, found.measure, found.comparison.n) == ("new", "P@10", 6)
    assert found.comparison.p == pytest.approx(2 / 2**6)
    assert found.baseline == 0.0


def test_p_values_are_corrected_over_the_whole_table() -> None:
    systems = {
        "base": values(*[0.0] * 8),
        "better": values(*[1.0] * 8),
        "same": values(*[0.0] * 8),
    }

    better, same = significance({Path("a.json"): results(systems)}, "base", ["P@1"])

    assert better.comparison.p is not None
    assert better.corrected_p == pytest.approx(2 * better.comparison.p)
    assert (same.comparison.note, same.corrected_p) == ("no difference", 1.0)


def test_no_question_in_common_says_n_0() -> None:
    files = {
        Path("a.json"): results({"base": values(1)}),
        Path("b.json"): results({"new": {"s/other": {"P@1": 1.0}}}),
    }

    (found,) = significance(files, "base", ["P@1"])

    assert (found.comparison.n, found.comparison.p, found.baseline) == (0, None, None)


def test_results_without_any_score_make_a_table_that_says_n_0() -> None:
    (line, _) = table({Path("a.json"): results({"x": {}})})

    assert all(one.n == 0 and one.mean is None for one in line.estimates.values())
