"""Which section of one edition continues which of the other."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agents.alignment import align, build_parts
from tests.unit.agents.compared import Entry, edition, outline

LOGS = "Audit logs are reviewed every month by an officer who did not write them."
KEYS = "Private keys are kept in hardware modules that two persons must open together."
FIRES = "Halls have extinguishers, which the fire brigade inspects in spring and in autumn."
NOTHING = "No stipulation."


def aligned(older: list[Entry], newer: list[Entry]) -> list[tuple[str | None, str | None, bool]]:
    pairs = align(
        build_parts(outline(edition("1", *older))), build_parts(outline(edition("2", *newer)))
    )
    return [
        (
            pair.older and (pair.older.number or pair.older.title),
            pair.newer and (pair.newer.number or pair.newer.title),
            pair.moved,
        )
        for pair in pairs
    ]


def test_a_number_and_title_that_stay_belong_together_whatever_the_text() -> None:
    assert aligned([("1", "Logs", LOGS)], [("1", "Logs", FIRES)]) == [("1", "1", False)]


def test_a_section_with_another_number_and_the_same_title_was_moved() -> None:
    older: list[Entry] = [("1", "Logs", LOGS), ("2", "Keys", KEYS)]
    newer: list[Entry] = [("1", "Scope", FIRES), ("2", "Logs", LOGS), ("3", "Keys", KEYS)]

    assert aligned(older, newer) == [(None, "1", False), ("1", "2", True), ("2", "3", True)]


def test_a_section_moved_and_renamed_is_found_by_its_text() -> None:
    older: list[Entry] = [("1", "Logs", LOGS), ("2", "Keys", KEYS)]
    newer: list[Entry] = [("1", "Logs", LOGS), ("7", "Cryptography", KEYS.replace("two", "three"))]

    assert aligned(older, newer) == [("1", "1", False), ("2", "7", True)]


def test_a_number_that_another_section_took_over_does_not_join_the_two() -> None:
    older: list[Entry] = [("4", "Logs", LOGS)]
    newer: list[Entry] = [("4", "Fire", FIRES), ("5", "Logs", LOGS)]

    assert aligned(older, newer) == [(None, "4", False), ("4", "5", True)]


def test_a_title_of_one_edition_that_lost_its_numbers_is_not_moved() -> None:
    older: list[Entry] = [("1", "Logs", LOGS), ("2", "Keys", KEYS)]
    newer: list[Entry] = [(None, "Logs", LOGS), (None, "Keys", KEYS)]

    assert aligned(older, newer) == [("1", "logs", False), ("2", "keys", False)]


def test_stock_phrases_do_not_tell_where_a_section_went() -> None:
    older: list[Entry] = [("1", "Logs", NOTHING)]
    newer: list[Entry] = [("2", "Fire", NOTHING)]

    assert aligned(older, newer) == [("1", None, False), (None, "2", False)]


def test_a_number_kept_under_a_title_made_longer_is_the_same_section() -> None:
    older: list[Entry] = [("1", "Procedure for Suspension Request", NOTHING)]
    newer: list[Entry] = [("1", "Procedure for Suspension and Restoration Requests", KEYS)]

    assert aligned(older, newer) == [("1", "1", False)]


def test_a_section_that_is_gone_stands_behind_the_one_before_it() -> None:
    older: list[Entry] = [("1", "Logs", LOGS), ("2", "Fire", FIRES), ("3", "Keys", KEYS)]
    newer: list[Entry] = [("1", "Logs", LOGS), ("3", "Keys", KEYS)]

    assert aligned(older, newer) == [("1", "1", False), ("2", None, False), ("3", "3", False)]


def test_what_chunks_repeat_is_read_once_and_pages_are_those_of_the_chunk() -> None:
    item = edition("1", ("1", "Logs", "1 Logs\n\nOne two three."))
    (first,) = item.chunks
    second = replace(
        first, id="b", text="three. Four.", start=16, end=28, ordinal=1, page_start=2, page_end=2
    )

    (part,) = build_parts([(item.sections[0], [first, second])])

    assert part.text == "One two three. Four."
    assert part.pages(0, 3) == (1, 1)
    assert part.pages(15, 20) == (2, 2)


_ENTRIES = st.lists(
    st.tuples(
        st.sampled_from([None, "1", "1.1", "1.2", "2", "A"]),
        st.sampled_from(["Logs", "Keys", "LOGS", ""]),
        st.sampled_from([LOGS, KEYS, FIRES, NOTHING, ""]),
    ),
    max_size=12,
)


@given(_ENTRIES, _ENTRIES)
def test_every_section_is_in_exactly_one_pair(older: list[Entry], newer: list[Entry]) -> None:
    left = build_parts(outline(edition("1", *older)))
    right = build_parts(outline(edition("2", *newer)))

    pairs = align(left, right)

    assert sorted(p.older.section.id for p in pairs if p.older) == sorted(
        part.section.id for part in left
    )
    assert [p.newer for p in pairs if p.newer] == right
