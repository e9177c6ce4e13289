"""Files on which readers fail, from public test suites; they lie beside the repository."""

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.errors import UnreadableFile
from ingestion.chunk import chunk_document
from ingestion.metadata import find_metadata
from ingestion.parse import parse
from ingestion.parsed import ParsedDocument, ReadLimits
from ingestion.read import Reader
from ingestion.sections import build_sections
from tests.unit.ingestion.tokenizers import WordTokenizer

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "hardfiles"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data/hardfiles is not there"),
]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(ReadLimits(seconds=60)) as reader:
        yield reader


def read(reader: Reader, number: int) -> ParsedDocument:
    (path,) = FOLDER.glob(f"h{number:02}_*")
    return reader.read(path)


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (1, "encrypted"),
        (5, "empty"),
        (7, "no_text"),
        (31, "no_text"),
        (40, "broken"),
        (53, "encrypted"),
        (54, "broken"),
        (65, "no_text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(
    reader: Reader, number: int, status: str
) -> None:
    with pytest.raises(UnreadableFile) as raised:
        read(reader, number)

    assert raised.value.status == status


@pytest.mark.parametrize("number", [41, 42])
def test_a_file_with_hardly_any_text_is_read_with_a_warning(reader: Reader, number: int) -> None:
    assert read(reader, number).warnings


@pytest.mark.parametrize("path", sorted(FOLDER.glob("h*")), ids=lambda path: path.name)
def test_no_file_crashes_or_hangs_the_reader(reader: Reader, path: Path) -> None:
    try:
        parsed = reader.read(path)
    except UnreadableFile as error:
        assert error.status not in ("timeout", "memory")
    else:
        assert "\x00" not in parsed.text
        assert "\ufffe" not in parsed.text


def test_the_text_beside_pictures_that_unfold_to_gigabytes_is_read(reader: Reader) -> None:
    parsed = read(reader, 43)

    assert parsed.text.startswith("GIANT JBIG2 BOMB")
    assert "packed as pictures" in parsed.warnings[0]


def test_a_file_without_an_end_is_read(reader: Reader) -> None:
    assert read(reader, 39).text == "Hello PDF-world!"


def test_a_chunk_says_what_is_printed_on_its_pages_where_that_is_not_their_count(
    reader: Reader,
) -> None:
    parsed = read(reader, 28)
    sections = build_sections(parsed, "document", "Title")
    chunks = chunk_document(parsed, sections, "Title", WordTokenizer(max_tokens=20))

    assert parsed.pages == 5
    assert {c.page_start for c in chunks} <= set(range(1, 6))
    assert chunks[-1].page_end == 5
    assert parsed.page_labels == ("iii", "iv", "1", "2", "1")
    assert chunks[0].printed in ("iii", "iii-iv")
    assert chunks[-1].printed in ("1", "2-1")


def test_a_number_in_an_identifier_is_no_year(reader: Reader) -> None:
    found = find_metadata(read(reader, 26), "announcement.pdf", latest_year=2030)

    assert (found.year, found.date) == (2015, "2015-09-29")


def test_letters_of_another_script_are_kept_once(reader: Reader) -> None:
    text = read(reader, 14).text

    assert text.count("计算机科学与技术") == 1
    assert text.count("语言能力") == 1


def test_ligatures_and_hyphens_are_folded(reader: Reader) -> None:
    assert "ffifflstst" in read(reader, 15).text
    assert "optionalhyphen" in read(reader, 16).text
    assert "DARPA-BAA-15-58" in read(reader, 26).text
    assert "September 29, 2015" in read(reader, 26).text


def test_a_hyphen_that_was_dropped_at_a_line_end_does_not_part_the_word(reader: Reader) -> None:
    assert "adipiscing" in read(reader, 17).text
    assert "periodic" in read(reader, 19).text


def test_codes_of_a_list_are_not_taken_for_page_numbers(reader: Reader) -> None:
    assert "Acetorphine" in read(reader, 19).text


def test_rows_of_a_long_table_are_all_there(reader: Reader) -> None:
    assert read(reader, 23).text.count("Layoff") == 400


def test_the_section_tree_is_that_of_the_bookmarks(reader: Reader) -> None:
    numbers = [heading.number for heading in read(reader, 29).headings]

    assert [n for n in numbers if n and n.startswith("Part")] == ["Part I", "Part II", "Part III"]
    assert "3.1" in numbers


def test_bookmarks_that_are_not_printed_give_no_headings(reader: Reader) -> None:
    assert [h for h in read(reader, 30).headings if h.provenance == "bookmarks"] == []


def test_numbers_of_lines_are_no_headings(reader: Reader) -> None:
    assert read(reader, 24).headings == ()


def test_a_contents_list_gives_no_sections(reader: Reader) -> None:
    parsed = read(reader, 27)

    assert not [h for h in parsed.headings if "...." in parsed.text[h.start : h.end]]
    assert "contents lists" in " ".join(parsed.left_out)


def test_encodings_are_told_by_the_bytes(reader: Reader) -> None:
    assert "JIS" in read(reader, 56).text
    assert (
        "windows-1256" in read(reader, 58).warnings[0] or "cp1256" in read(reader, 58).warnings[0]
    )
    assert read(reader, 63).text.isascii()


def test_text_before_the_first_heading_of_markdown_is_kept(reader: Reader) -> None:
    parsed = read(reader, 66)

    assert parsed.text[: parsed.headings[0].start].strip()
    assert "<!--" not in parsed.text


def test_a_word_handbook_has_its_chapters_and_no_section_from_its_contents_list(
    reader: Reader,
) -> None:
    headings = read(reader, 45).headings
    chapters = [h.number for h in headings if h.level == 1]

    assert chapters == [f"Chapter {n}" for n in range(1, 8)] * 2  # the file holds the book twice
    assert all(h.title for h in headings)
    first_deep = next(i for i, h in enumerate(headings) if h.level == 3)
    assert headings[first_deep - 1].level == 2


def test_a_word_document_in_the_strict_form_is_read(reader: Reader) -> None:
    assert read(reader, 46).text == "Some text"


def test_numbers_of_words_lists_are_those_of_headings(reader: Reader) -> None:
    found = [(h.number, h.title) for h in read(reader, 48).headings]

    assert found[:3] == [("1", "Section 1"), ("1.1", "Section 1.1"), ("1.2", "Section 1.2")]


def test_lists_and_cells_of_word_keep_their_order(reader: Reader) -> None:
    lines = [line for line in read(reader, 49).text.split("\n") if line]
    assert [line.split()[-1] for line in lines[1:]] == ["section", "one", "one.", "two", "section"]
    cells = read(reader, 50).text
    assert cells.count("Simple cell upper left") == 1
    assert cells.index("Table with nested table") < cells.index("Rich cell A nested table")


def test_heads_and_feet_of_words_pages_are_no_text(reader: Reader) -> None:
    text = read(reader, 51).text

    assert "body text on page 2" in text
    assert "HEADER" not in text


@pytest.mark.parametrize("number", [3, 8, 10])
def test_a_scan_is_recognised_or_named_as_one_that_needs_ocr(reader: Reader, number: int) -> None:
    if shutil.which("tesseract") is None:
        with pytest.raises(UnreadableFile) as raised:
            read(reader, number)
        assert raised.value.status == "needs_ocr"
    else:
        parsed = read(reader, number)
        assert "tesseract" in parsed.engine
        assert parsed.warnings


def test_a_line_that_nobody_can_see_is_left_out_and_named(reader: Reader) -> None:
    parsed = read(reader, 12)

    assert parsed.text == "Visible heading line"
    assert "nobody can see" in parsed.left_out[0]


def test_a_wrapped_chapter_title_is_one_heading(reader: Reader) -> None:
    titles = [h.title for h in read(reader, 27).headings if h.number == "Chapter 1"]

    assert titles == ["Securing and protecting IBM DB2 data"]


def test_headings_of_the_same_name_are_sections_of_their_own(reader: Reader) -> None:
    parsed = read(reader, 30)
    spans = build_sections(parsed, "document", "Title")

    assert [h.number for h in parsed.headings] == [str(n) for n in range(1, 10)]
    assert len({span.section.id for span in spans}) == len(spans)


def test_content_that_only_another_engine_reads_is_read(reader: Reader) -> None:
    parsed = read(reader, 38)

    assert parsed.text == "Hello PDF-world!"
    assert parsed.engine.startswith("pdfplumber ")


def test_no_mark_of_an_unmapped_glyph_is_stored(reader: Reader) -> None:
    assert "(cid:" not in read(reader, 19).text
    assert "(cid:" not in read(reader, 27).text
    assert "/g115" not in read(reader, 27).text


def test_columns_are_read_one_after_the_other(reader: Reader) -> None:
    two, three = read(reader, 17).text, " ".join(read(reader, 18).text.split())

    assert "Curabitur dictum gravida mauris. Nam arcu libero" in two
    assert "which applies to all The Boeing Company Model 737" in three
    assert "Federal Register / Vol. 85" not in three


def test_headings_beside_another_column_are_found(reader: Reader) -> None:
    titles = [h.title for h in read(reader, 18).headings]

    assert "Airworthiness Directives; The Boeing Company Airplanes" in titles
    assert "Related Service Information Under 1 CFR Part 51" in titles


def test_rows_of_tables_stay_rows(reader: Reader) -> None:
    states, ledger = read(reader, 20).text, read(reader, 22).text

    assert "\nAlabama | 18,870 | 23,022 | 22,650 | " in states
    assert "\nBAIN, J MATTHEW | DISTRICT DIRECTOR | 37,499.96\n" in ledger


def test_each_chunk_of_a_table_over_16_pages_has_the_names_of_its_columns(reader: Reader) -> None:
    parsed = read(reader, 23)
    (table,) = parsed.tables
    sections = build_sections(parsed, "document", "Title")
    chunks = chunk_document(parsed, sections, "Title", WordTokenizer(max_tokens=250))
    first, *rest = [c for c in chunks if table.start <= c.start < table.end]
    names = "Notice Date | Effective | Received | Company | City | No. Of | Layoff/Closure"

    assert names in first.text
    assert {c.heading for c in rest} == {f"Title\n{names}"}


def test_items_of_html_lists_keep_their_numbers_and_depth(reader: Reader) -> None:
    text = read(reader, 61).text

    assert "1. Step 1 text\n\nNote text\n\n2. Step 2 text" in text
    assert "- Step instruction text\n\n  - Nested detail 1\n  - Nested detail 2" in text


def test_pages_that_one_engine_does_not_see_are_counted(reader: Reader) -> None:
    assert read(reader, 44).pages == 3


def test_the_text_of_a_repeated_page_is_one_passage_and_both_pages_are_named(
    reader: Reader,
) -> None:
    parsed = read(reader, 32)
    sections = build_sections(parsed, "document", "Title")
    chunks = chunk_document(parsed, sections, "Title", WordTokenizer(max_tokens=250))

    assert parsed.pages == 2
    assert [chunk.text.count("200 laptops") for chunk in chunks] == [1]
    assert (chunks[0].page_start, chunks[0].page_end) == (1, 1)
    assert parsed.warnings == ("page 2 repeats page 1 word for word, so its text is kept once",)
    assert parsed.pages_without_text == ()


def test_no_picture_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a file was fetched while a document was read")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    (path,) = FOLDER.glob("h52_*")

    assert parse(path.read_bytes(), path.name).text
