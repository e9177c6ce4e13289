"""The rules by which the benchmark of a local model judges answers."""

from dataclasses import replace

import pytest

from agents.answer import ABSTENTION, Answer, Checks, Source, Usage
from eval.bench.answers import Faithfulness, faithfulness, has_gold, is_correct
from graph.model import Query
from router import systems
from router.retrieve import embed_only
from tests.fakes import HashingEmbedder
from tests.unit.agents.scripted import LOGS, RAILS, library

GOLD = "Audit logs shall be kept for three years."


def answer(text: str, *cited: int) -> Answer:
    routed = embed_only(Query("logs rails"), embedder=HashingEmbedder())
    hits = systems.hybrid(routed, 20, store=library()).hits
    found = {hit.passage.text: hit.passage for hit in hits}
    sources = [Source(n, found[t], n in cited) for n, t in enumerate((LOGS, RAILS), start=1)]
    supported = text != ABSTENTION
    return Answer(text, tuple(sources), Checks(), Usage(), extractive=False, supported=supported)


@pytest.mark.parametrize(
    ("said", "correct"),
    [
        ("They are kept for 3 years [Source 1].", True),
        ("They are kept for five years [Source 1].", False),
        (ABSTENTION, False),
    ],
)
def test_the_figure_decides_where_the_gold_has_one(said: str, correct: bool) -> None:
    assert is_correct(answer(said), "How long are logs kept?", [GOLD]) == correct


def test_a_figure_of_the_question_proves_nothing() -> None:
    said = answer("That is 3 years [Source 1].")

    assert not is_correct(said, "Is it three years?", ["Yes, three years, until 2027."])


def test_a_figure_of_a_citation_is_none_of_the_answer() -> None:
    assert not is_correct(answer("It is so [Source 3]."), "How long are logs kept?", [GOLD])


@pytest.mark.parametrize(
    ("said", "correct"),
    [
        ("Stickers are put over them [Source 1].", True),  # stickers of tamper, replace, sticker
        ("Nobody scans them [Source 1].", False),
    ],
)
def test_words_decide_where_the_gold_has_no_figure(said: str, correct: bool) -> None:
    gold = ["Criminals tamper with codes, replacing them with stickers."]

    assert is_correct(answer(said), "What can go wrong with codes of criminals?", gold) == correct


def test_without_gold_only_silence_is_correct() -> None:
    assert is_correct(answer(ABSTENTION), "What is it?", [])
    assert not is_correct(answer("It is so [Source 1]."), "What is it?", [])


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Logs are kept by each authority for three years [Source 1].", (1, 1, 1, 0)),
        ("Logs are kept by each authority for three years. [Source 1]", (1, 1, 1, 0)),
        ("Logs are kept by each authority for three years [Source 2].", (1, 0, 1, 1)),
        ("Logs are kept for five years [Source 1] [not in the source: five years].", (1, 0, 1, 1)),
        ("Logs are kept. Rails are inspected on main tracks [Source 2].", (2, 1, 0, 0)),
        (ABSTENTION, (0, 0, 0, 0)),
    ],
)
def test_a_faithful_sentence_cites_a_source_that_holds_it(
    said: str, expected: tuple[int, int, int, int]
) -> None:
    assert faithfulness(answer(said)) == Faithfulness(*expected)


def test_gold_is_found_whatever_its_blanks() -> None:
    made = answer("")

    assert has_gold(made.sources, [LOGS.replace(" ", "\n ")])
    assert not has_gold(replace(made, sources=made.sources[1:]).sources, [LOGS])
