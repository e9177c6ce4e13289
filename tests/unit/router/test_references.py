from dataclasses import replace

import pytest

from graph.model import Candidate, Hit, ListRank
from router.references import FOLLOWED, interleaved, references, weighed
from tests.unit.agents.made import PASSAGE, hits


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("under RCW 82.04.050 and WAC 458-20-177.", ["RCW 82.04.050", "WAC 458-20-177"]),
        ("36 WTD 164 (2017); 12 CFR 1003.4(a)", ["36 WTD 164", "12 CFR 1003.4"]),
        ("12 CFR § 1003.4, RCW § 82.08.020, RCW\n82.08.020", ["12 CFR 1003.4", "RCW 82.08.020"]),
        ("SP 800\u201163B and FIPS 201-3", ["SP 800-63B", "FIPS 201-3"]),
        ("Section 5.1, 1 May 2020, USA 12, I-95, page 3 OF 4", []),
        ("", []),
    ],
)
def test_references_are_designations_with_two_numbers_or_parts(text: str, found: list[str]) -> None:
    assert references(text) == found


def test_what_the_best_passages_and_the_question_name_weighs_most() -> None:
    found = hits("RCW 1.2.3 and RCW 4.5.6", "RCW 4.5.6", "RCW 7.8.9")

    # 1.2.3: 1; 4.5.6: 1 + 1/2; 7.8.9: 1/3 + 2
    assert weighed(found, "see RCW 7.8.9") == ["RCW 7.8.9", "RCW 4.5.6", "RCW 1.2.3"]


def test_a_passage_does_not_refer_to_itself() -> None:
    own = replace(PASSAGE, text="RCW 1.2.3 is cited as RCW 1.2.3", heading="RCW 1.2.3: Title")

    assert weighed([Hit(own, {}, 1.0)], "q") == []


def test_only_so_many_references_are_followed() -> None:
    text = " ".join(f"RCW 1.2.{n}" for n in range(50))

    assert len(weighed(hits(text), "q")) == FOLLOWED


def referred(id: str, **ranks: int) -> Candidate:
    lists = {f"reference:{name}": ListRank(rank, 0.5) for name, rank in ranks.items()}
    return Candidate(replace(PASSAGE, chunk_id=id), lists, 0.0)


def test_references_take_turns_behind_the_third_hit() -> None:
    main = hits("a", "b", "c", "d", "e", "f")  # ids c1 … c6
    candidates = [referred("y1", Y=1), referred("x2", X=2), referred("x1", X=1)]

    merged = interleaved(main, candidates, ["X", "Y"], 8)

    assert [hit.passage.chunk_id for hit in merged] == [
        "c1", "c2", "c3", "x1", "c4", "y1", "c5", "x2",
    ]  # fmt: skip
    scores = [hit.score for hit in merged]
    assert scores == sorted(scores, reverse=True)


def test_a_chunk_that_was_found_both_ways_comes_once() -> None:
    main = hits("a", "b", "c", "d", "e")
    candidates = [referred("c1", X=1), referred("c5", X=2)]

    merged = interleaved(main, candidates, ["X"], 10)

    assert [hit.passage.chunk_id for hit in merged] == ["c1", "c2", "c3", "c5", "c4"]


def test_without_hits_references_come_alone() -> None:
    merged = interleaved([], [referred("x1", X=1)], ["X"], 5)

    assert [hit.passage.chunk_id for hit in merged] == ["x1"]
