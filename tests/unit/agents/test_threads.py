from collections.abc import Iterator
from contextlib import closing
from sqlite3 import connect

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from agents.threads import MOST_TURNS, Threads, Turn, new_id, questions
from graph.errors import UsageError
from graph.model import Filter

PUBLIC = Filter()
STAFF = Filter(audiences=("public", "staff"))


def turn(asked: str, *audiences: str, collection: str = "default") -> Turn:
    return Turn(
        asked=asked,
        question=f"{asked} (alone)",
        answer="They are kept for three years [Source 1].",
        supported=True,
        sources=[],
        collection=collection,
        audiences=["public", *audiences],
        at="2026-12-01T00:00:00+00:00",
    )


@pytest.fixture(params=["memory", "sqlite"])
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    if request.param == "memory":
        yield Threads(InMemorySaver())
        return
    with closing(connect(":memory:", check_same_thread=False)) as connection:
        yield Threads(SqliteSaver(connection))


def asked(threads: Threads, owner: str, id: str, where: Filter = PUBLIC) -> list[str]:
    return [one["asked"] for one in threads.turns(owner, id, where)]


def test_turns_are_kept_in_their_order(threads: Threads) -> None:
    for n in range(3):
        threads.add("page", "t", turn(f"{n}?"))

    assert asked(threads, "page", "t") == ["0?", "1?", "2?"]


def test_a_thread_is_its_owners_alone(threads: Threads) -> None:
    threads.add("page", "t", turn("mine?"))

    with pytest.raises(UsageError, match="no thread 't'"):
        threads.turns("other", "t", PUBLIC)
    with pytest.raises(UsageError, match="no thread"):
        threads.delete("other", "t")
    assert threads.list("other", PUBLIC) == []
    threads.add("other", "t", turn("yours?"))
    assert asked(threads, "page", "t") == ["mine?"]


def test_turns_for_an_audience_that_is_not_held_any_more_are_not_there(threads: Threads) -> None:
    threads.add("page", "t", turn("open?"))
    threads.add("page", "t", turn("secret?", "staff"))

    assert asked(threads, "page", "t") == ["open?"]
    assert asked(threads, "page", "t", STAFF) == ["open?", "secret?"]
    assert [one.turns for one in threads.list("page", PUBLIC)] == [1]
    assert [one.turns for one in threads.list("page", STAFF)] == [2]


def test_a_thread_that_begins_with_what_is_not_held_any_more_is_not_listed(
    threads: Threads,
) -> None:
    threads.add("page", "t", turn("secret?", "staff"))
    threads.add("page", "t", turn("open?"))

    assert threads.list("page", PUBLIC) == []
    assert asked(threads, "page", "t") == ["open?"]


def test_threads_are_listed_by_their_last_use(threads: Threads) -> None:
    for id, question in (("a", "first?"), ("b", "second?"), ("a", "third?")):
        threads.add("page", id, turn(question))

    listed = threads.list("page", PUBLIC)

    assert [(one.id, one.title, one.turns) for one in listed] == [
        ("a", "first?", 2),
        ("b", "second?", 1),
    ]
    assert listed[0].updated_at > listed[1].updated_at


def test_a_thread_that_is_deleted_is_gone(threads: Threads) -> None:
    threads.add("page", "a", turn("first?"))
    threads.add("page", "b", turn("second?"))
    threads.delete("page", "a")

    assert [one.id for one in threads.list("page", PUBLIC)] == ["b"]
    with pytest.raises(UsageError):
        threads.turns("page", "a", PUBLIC)


def test_a_full_thread_takes_no_further_turn(threads: Threads) -> None:
    for n in range(MOST_TURNS):
        threads.add("page", "t", turn(str(n)))

    with pytest.raises(UsageError, match="begin a new one"):
        threads.add("page", "t", turn("one more?"))


def test_a_follow_up_leans_on_questions_of_its_own_collection_only() -> None:
    turns = [turn("a?"), turn("b?", collection="other"), turn("c?")]

    assert questions(turns, PUBLIC) == ["a? (alone)", "c? (alone)"]


def test_ids_cannot_be_guessed_and_fit_into_an_address() -> None:
    ids = {new_id() for _ in range(100)}

    assert len(ids) == 100
    assert all(len(id) >= 20 and id.replace("-", "").replace("_", "").isalnum() for id in ids)
