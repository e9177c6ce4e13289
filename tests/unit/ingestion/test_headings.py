from ingestion.headings import (
    find_headings,
    merge_headings,
    nested_by_number,
    with_bare_numbers,
)
from ingestion.parsed import Heading

BODY = "\nThis is what the section says about it.\n"


def outline(text: str) -> list[tuple[int, str | None, str]]:
    return [(h.level, h.number, h.title) for h in find_headings(text)]


def test_sections_contain_what_is_numbered_below_them() -> None:
    text = """SECTION 203 - EXCAVATION
203.01 Description.
This is what the section says about it.
203.02 Materials.
That is what this one says about them.
SECTION 204 - SUBBASE
204.01 Description.
"""

    assert outline(text) == [
        (1, "203", "EXCAVATION"),
        (2, "203.01", "Description."),
        (2, "203.02", "Materials."),
        (1, "204", "SUBBASE"),
        (2, "204.01", "Description."),
    ]


def test_positions_are_those_of_the_line() -> None:
    text = f"1. ONE\n\n  1.1 Two{BODY}2. TWO{BODY}"

    assert [text[h.start : h.end] for h in find_headings(text)] == ["1. ONE", "1.1 Two", "2. TWO"]


def test_a_list_inside_a_section_does_not_interrupt_the_outline() -> None:
    text = """1. OPERATIONS
1.1 Application
1. Name
2. Address
3. Signature
1.2 Processing
2. CONTROLS
2.1 Access
"""

    assert [title for _, _, title in outline(text)] == [
        "OPERATIONS", "Application", "Processing", "CONTROLS", "Access",
    ]  # fmt: skip


def test_a_stray_number_is_left_out() -> None:
    text = "1. SCOPE\n1.1 General\n97.3 Percent Of Cases\n1.2 Limits\n2. TERMS\n2.1 Meaning\n"

    assert "97.3" not in [number for _, number, _ in outline(text)]


def test_a_contents_list_gives_no_headings() -> None:
    text = """CONTENTS
1. Scope 3
1.1 General 3
1.2 Limits 4
2. Terms 5
2.1 Meaning 5

1. Scope
1.1 General
This is what the section says about it.
1.2 Limits
This is what the section says about it.
2. Terms
2.1 Meaning
"""
    headings = find_headings(text)

    assert len(headings) == 5
    assert headings[0].start > text.index("Meaning 5")


def test_either_all_headings_of_a_pattern_are_found_or_none() -> None:
    titles = ["Short title", "Purpose", "Scope", "Definitions", "Fees", "Penalty", "Appeals"]
    text = "".join(f"Sec. 28-{i}. - {t}.\nText of it.\n" for i, t in enumerate(titles, 1))

    assert [number for _, number, _ in outline(text)] == [f"28-{i}" for i in range(1, 8)]


def test_numbers_may_restart_in_each_part() -> None:
    parts = [f"PART {n} - A\n1. ONE{BODY}2. TWO{BODY}" for n in ("I", "II")]

    assert [number for _, number, _ in outline("".join(parts))] == [
        "Part I", "1", "2", "Part II", "1", "2",
    ]  # fmt: skip


def test_a_section_stands_below_a_part_also_where_the_text_begins_inside_a_part() -> None:
    text = "\u00a7 1307.31 Native American Church\nPART 1308\n\u00a7 1308.01 Scope\n"

    assert [(level, number) for level, number, _ in outline(text)][1:] == [
        (1, "Part 1308"),
        (2, "1308.01"),
    ]


def test_an_appendix_is_on_the_top_level_behind_the_last_section() -> None:
    text = f"1. ONE{BODY}2. TWO{BODY}APPENDIX A - FORMS\nA-1 Request{BODY}A-2 Answer{BODY}"

    assert outline(text)[-3:] == [
        (1, "Appendix A", "FORMS"),
        (2, "A-1", "Request"),
        (2, "A-2", "Answer"),
    ]


def test_the_title_of_a_chapter_may_stand_on_the_next_line() -> None:
    text = "CHAPTER 1\nGeneral Provisions\nText.\nCHAPTER 2\nFees\nText.\n"
    headings = find_headings(text)

    assert [h.title for h in headings] == ["General Provisions", "Fees"]
    assert text[headings[0].start : headings[0].end] == "CHAPTER 1\nGeneral Provisions"


def test_plain_lines_lose_against_an_unbroken_outline_in_bold() -> None:
    text = "1. One\n2. Two\n3. Three\n4. Foreign Row\n5. Foreign Row\n4. Four\n5. Five\n"
    bold = {text.index(line) for line in ("1. One", "2. Two", "3. Three", "4. Four", "5. Five")}

    titles = [h.title for h in find_headings(text, bold)]

    assert titles == ["One", "Two", "Three", "Four", "Five"]


def test_numbered_lines_alone_are_a_list_unless_they_are_capitals() -> None:
    assert find_headings(f"1. Bring a card{BODY}2. Show a card{BODY}") == ()
    assert len(find_headings(f"1. SCOPE{BODY}2. TERMS{BODY}")) == 2


def test_items_that_follow_one_another_are_a_list_also_in_bold() -> None:
    text = "In this issue\n1. Bridge Value\n2. New Site\n3. Ask Us\n" + BODY * 3

    assert find_headings(text, {text.index(f"{i}. ") for i in (1, 2, 3)}) == ()


def test_a_subsection_without_the_first_of_its_kind_is_none() -> None:
    text = f"1. ONE{BODY}2. TWO{BODY}2.4 The Rest{BODY}3. THREE{BODY}"

    assert [number for _, number, _ in outline(text)] == ["1", "2", "3"]


def test_a_few_numbers_with_gaps_are_no_outline() -> None:
    text = f"2. WHEN TO FILE{BODY}5. HOW TO PAY{BODY}6. INTEREST{BODY}"

    assert find_headings(text) == ()


def test_one_section_in_plain_type_is_quoted_from_elsewhere() -> None:
    quoted = f"It says{BODY}\u00a7 422.404 State premium taxes prohibited{BODY}"

    assert find_headings(quoted, emphasised=set()) == ()
    assert len(find_headings(quoted, emphasised={quoted.index("\u00a7")})) == 1


def test_rows_of_a_revision_history_are_no_headings() -> None:
    assert find_headings(f"0.1 6 December 2010 Draft{BODY}0.2 30 January 2011 Final{BODY}") == ()


def heading(start: int, number: str | None, title: str, level: int, source: str) -> Heading:
    return Heading(start, start + 5, level, number, title, source)


def test_an_incomplete_list_of_bookmarks_is_completed_by_numbers_that_agree() -> None:
    marks = [heading(0, "1", "A", 1, "bookmarks"), heading(40, None, "Notes", 1, "bookmarks")]
    numbered = [heading(0, "1", "A", 2, "numbering"), heading(20, "1.1", "B", 3, "numbering")]

    merged = merge_headings(marks, numbered)

    assert [(h.title, h.level) for h in merged] == [("A", 2), ("B", 3), ("Notes", 2)]


def test_bookmarks_stand_alone_where_numbers_disagree() -> None:
    marks = [heading(0, "1", "A", 1, "bookmarks"), heading(40, "2", "B", 1, "bookmarks")]
    numbered = [heading(20, "7", "X", 1, "numbering")]

    assert merge_headings(marks, numbered) == tuple(marks)


def test_a_bare_number_counts_where_others_continue_it() -> None:
    headings = with_bare_numbers(
        [heading(0, None, "4 Requirements", 1, "markup"), heading(9, "4.1", "Two", 2, "markup")]
    )

    assert (headings[0].number, headings[0].title) == ("4", "Requirements")


def test_flat_bookmarks_are_nested_by_their_numbers() -> None:
    flat = [
        heading(0, "3", "A", 1, "bookmarks"),
        heading(10, "3.1", "B", 1, "bookmarks"),
        heading(20, "3.1.1", "C", 1, "bookmarks"),
        heading(30, "4", "D", 1, "bookmarks"),
        heading(40, None, "E", 1, "bookmarks"),
    ]

    assert [h.level for h in nested_by_number(flat)] == [1, 2, 3, 1, 1]


WORK = "The Contractor shall do the work as shown in the plans and be paid for it in full.\n" * 3


def numbers_and_titles(*lines: str) -> list[tuple[str | None, str]]:
    return [(h.number, h.title) for h in find_headings("".join(line + WORK for line in lines))]


def test_highway_specifications_are_numbered_with_dashes_and_run_in_titles() -> None:
    found = numbers_and_titles(
        "SECTION 203 - EXCAVATION AND EMBANKMENT\n",
        "203-1.1 Description:\n",
        "203-1.2 Materials: ",
        "203-1.3 Final Payment. ",
        "SECTION 204 - STRUCTURES\n",
    )

    assert found == [
        ("203", "EXCAVATION AND EMBANKMENT"),
        ("203-1.1", "Description:"),
        ("203-1.2", "Materials:"),
        ("203-1.3", "Final Payment."),
        ("204", "STRUCTURES"),
    ]


def test_text_that_runs_on_behind_a_title_is_not_part_of_the_heading() -> None:
    text = "".join(f"203.{i} Materials: {WORK}" for i in (1, 2, 3))
    headings = find_headings(text)

    assert [text[h.start : h.end] for h in headings] == [f"203.{i} Materials:" for i in (1, 2, 3)]


def test_a_title_in_capitals_that_is_wrapped_is_one() -> None:
    found = numbers_and_titles(
        "SECTION 101 DEFINITIONS AND\nTERMS\n", "SECTION 102\nBIDDING\n", "SECTION 103 AWARD\n"
    )

    assert found == [("101", "DEFINITIONS AND TERMS"), ("102", "BIDDING"), ("103", "AWARD")]


def test_subparts_of_one_part_follow_each_other() -> None:
    found = numbers_and_titles("Part 1024 - Subpart B\n", "Part 1024 - Subpart C - Servicing\n")

    assert found == [("Part 1024 Subpart B", ""), ("Part 1024 Subpart C", "Servicing")]


def test_roman_numbers_that_count_through_a_text_are_headings_and_a_list_is_none() -> None:
    titles = ["I. Background\n", "II. Findings\n", "III. Orders\n"]

    assert [n for n, _ in numbers_and_titles(*titles)] == ["I", "II", "III"]
    assert find_headings("".join(titles) + WORK) == ()
