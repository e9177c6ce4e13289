from hypothesis import given
from hypothesis import strategies as st

from ingestion.parsed import Heading, ParsedDocument
from ingestion.sections import build_sections


def parsed(
    text: str, headings: list[tuple[str, int]], pages: tuple[int, ...] = ()
) -> ParsedDocument:
    found: list[Heading] = []
    at = 0
    for title, level in headings:
        at = text.index(title, at)
        found.append(Heading(at, at + len(title), level, None, title, "markup"))
        at += len(title)
    return ParsedDocument(text, pages, tuple(found), None, {}, "text/plain", "test")


def test_the_tree_follows_the_levels() -> None:
    text = "A\nB\nC\nD\nE\n"
    spans = build_sections(
        parsed(text, [("A", 1), ("B", 2), ("C", 3), ("D", 2), ("E", 1)]), "doc", "Title"
    )

    assert [span.section.path for span in spans] == [
        ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",),
    ]  # fmt: skip
    assert [span.section.level for span in spans] == [1, 2, 3, 2, 1]
    by_id = {span.section.id: span.section.title for span in spans}
    parents = [span.section.parent_id for span in spans]
    assert [by_id[p] if p else None for p in parents] == [None, "A", "B", "A", None]


def test_levels_that_headings_skip_are_closed_up() -> None:
    spans = build_sections(parsed("A\nB\n", [("A", 1), ("B", 4)]), "doc", "Title")

    assert [span.section.level for span in spans] == [1, 2]


def test_text_before_the_first_heading_has_a_section_named_like_the_document() -> None:
    leading, first = build_sections(parsed("Preamble\nA\ntext", [("A", 1)]), "doc", "Title")

    assert (leading.section.title, leading.section.provenance) == ("Title", "document")
    assert (leading.start, leading.end, first.start) == (0, 9, 9)


def test_a_document_without_headings_is_one_section() -> None:
    (only,) = build_sections(parsed("Just text.", []), "doc", "Title")

    assert (only.start, only.body_start, only.end) == (0, 0, 10)


def test_sections_of_the_same_name_keep_apart() -> None:
    spans = build_sections(parsed("A\nx\nA\ny\n", [("A", 1), ("A", 1)]), "doc", "Title")

    assert len({span.section.id for span in spans}) == 2


def test_an_id_does_not_depend_on_what_stands_elsewhere() -> None:
    (_, before) = build_sections(parsed("A\nB\n", [("A", 1), ("B", 1)]), "doc", "Title")
    (_, _, after) = build_sections(parsed("A\nX\nB\n", [("A", 1), ("X", 1), ("B", 1)]), "doc", "T")

    assert before.section.id == after.section.id


def test_the_same_section_of_two_documents_has_two_ids() -> None:
    document = parsed("A\n", [("A", 1)])

    (one,), (other,) = build_sections(document, "1", "T"), build_sections(document, "2", "T")

    assert one.section.id != other.section.id


def test_pages_are_those_of_a_section_with_its_subsections() -> None:
    text = "A\ntext\nB\ntext\nC\ntext"
    spans = build_sections(
        parsed(text, [("A", 1), ("B", 2), ("C", 1)], pages=(0, 7, 14)), "doc", "Title"
    )

    pages = [(span.section.page_start, span.section.page_end) for span in spans]
    assert pages == [(1, 2), (2, 2), (3, 3)]


def test_a_heading_of_a_number_alone_has_what_is_printed_as_title() -> None:
    document = ParsedDocument(
        "CHAPTER 4\nx", (), (Heading(0, 9, 1, "Chapter 4", "", "numbering"),), None, {}, "t", "e"
    )

    (only,) = build_sections(document, "doc", "Title")

    assert only.section.title == "CHAPTER 4"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), max_size=12))
def test_every_character_belongs_to_exactly_one_section(shape: list[tuple[int, int]]) -> None:
    text, headings = "", list[Heading]()
    for blanks, level in shape:
        text += " " * blanks + "\n"
        headings.append(Heading(len(text), len(text) + 2, level, None, "Hh", "markup"))
        text += "Hh\n"
    spans = build_sections(
        ParsedDocument(text, (), tuple(headings), None, {}, "text/plain", "test"), "doc", "Title"
    )

    assert [spans[0].start, *(s.end for s in spans)] == [
        0,
        *(s.start for s in spans[1:]),
        len(text),
    ]
