from ingestion.parse import parse
from ingestion.parsed import ParsedDocument
from tests.unit.ingestion.pdf_writer import Page, flowing, write_pdf

MEMO = [f"Line {n} of a memorandum that has enough of them to be told apart." for n in range(6)]
FORM = [f"Field {n} of a form with words of its own, to be filled in." for n in range(6)]


def read_pages(*pages: list[str]) -> ParsedDocument:
    return parse(write_pdf([Page(flowing(lines)) for lines in pages]), "a.pdf")


def test_a_page_that_stands_there_twice_is_kept_once_and_named() -> None:
    parsed = read_pages(MEMO, MEMO, FORM)

    assert parsed.pages == 3
    assert parsed.text.count("Line 3 of a memorandum") == 1
    assert parsed.warnings == ("page 2 repeats page 1 word for word, so its text is kept once",)
    assert parsed.pages_without_text == ()
    assert parsed.text[parsed.page_starts[2] :].startswith("Field 0")


def test_pages_that_are_repeated_together_are_kept_once() -> None:
    parsed = read_pages(MEMO, FORM, MEMO, FORM, MEMO, FORM)

    assert parsed.text.count("Line 3 of a memorandum") == parsed.text.count("Field 3") == 1
    assert [warning.split(" word")[0] for warning in parsed.warnings] == [
        "page 3 repeats page 1",
        "page 4 repeats page 2",
        "page 5 repeats page 1",
        "page 6 repeats page 2",
    ]


def test_the_same_words_under_another_heading_are_kept() -> None:
    parsed = read_pages(["Worksheet A"], FORM, ["Worksheet B"], FORM)

    assert parsed.text.count("Field 3") == 2
    assert parsed.warnings == ()


def test_pages_with_few_words_or_with_other_figures_are_kept() -> None:
    parsed = read_pages(["Appendix"], ["Appendix"], MEMO, [*MEMO[:-1], "Amount: 7"])

    assert parsed.text.count("Appendix") == 2
    assert parsed.text.count("Line 3 of a memorandum") == 2
