from hypothesis import given
from hypothesis import strategies as st

from graph.lucene import MAX_TERMS, chunk_keys, fulltext_query, key
from graph.model import Filter
from tests.graphs import make_document


def test_a_question_without_letters_or_digits_gives_no_query() -> None:
    assert [fulltext_query(question, Filter()) for question in ("", " ", "?!", "👍")] == [""] * 4


def test_operators_lose_their_meaning() -> None:
    query = fulltext_query("NOT a AND (b OR c)", Filter())

    assert query.startswith("+(text:(not a and b or c)")


def test_an_identifier_is_also_asked_for_as_a_phrase() -> None:
    assert '"dtfh61 12 h 00001"^2' in fulltext_query("DTFH61-12-H-00001", Filter())


def test_a_quoted_phrase_is_also_asked_for_as_a_phrase() -> None:
    assert '"shall not exceed"^2' in fulltext_query('where is "shall not exceed"', Filter())


def test_both_spellings_of_a_road_are_asked_for() -> None:
    assert '"i 95"' in fulltext_query("I95", Filter())
    assert "i95" in fulltext_query("I-95", Filter()).split("(")[2]


def test_a_very_long_question_stays_below_the_clause_limit() -> None:
    question = " ".join(f"word{n}" for n in range(5_000))

    assert fulltext_query(question, Filter()).count("word") < 4 * MAX_TERMS


def test_filter_clauses_add_nothing_to_the_score() -> None:
    query = fulltext_query("a", Filter(scopes=("x", "y"), year=2020, as_of=2021, current_only=True))

    clauses = query.split(" +")[1:]
    assert len(clauses) == 7
    assert all(clause.endswith("^0") for clause in clauses)


def test_keys_of_different_properties_never_meet() -> None:
    assert key("s", "x") != key("r", "x")
    document = make_document("a", "t", series="2020", year=2020).document
    assert len(set(chunk_keys(document).split())) == 5


@given(st.text())
def test_no_character_of_the_question_is_read_as_syntax(question: str) -> None:
    query = fulltext_query(question, Filter())

    words = query.split(" +keys")[0].removeprefix("+(text:(")
    assert not set(words) & set("+!{}[]~*?\\/&|<>=")
