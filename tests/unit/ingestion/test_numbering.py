import pytest

from ingestion.numbering import parse_line, roman_numeral, roman_value, split_number


@pytest.mark.parametrize(
    ("line", "number", "title"),
    [
        ("SECTION 203 - EXCAVATION AND EMBANKMENT", "203", "EXCAVATION AND EMBANKMENT"),
        ("CHAPTER 4", "Chapter 4", ""),
        ("Chapter 4. Title", "Chapter 4", "Title"),
        ("PART 1024", "Part 1024", ""),
        ("PART IV \u2014 REMEDIES", "Part IV", "REMEDIES"),
        ("APPENDIX A - Forms", "Appendix A", "Forms"),
        ("Appendix A-2 Forms", "Appendix A-2", "Forms"),
        ("401.4-2(b) Title", "401.4-2(b)", "Title"),
        ("4.1.2 Title", "4.1.2", "Title"),
        ("1.3.1.1. Federal PKI Policy Authority", "1.3.1.1", "Federal PKI Policy Authority"),
        ("Sec. 28-1. - Short title.", "28-1", "Short title."),
        ("\u00a7 1003.2 Definitions", "1003.2", "Definitions"),
        ("A-33(R) Worksheets", "A-33(R)", "Worksheets"),
        ("IV. Findings", "IV", "Findings"),
    ],
)
def test_a_heading_is_split_into_number_and_title(line: str, number: str, title: str) -> None:
    parsed = parse_line(line)

    assert parsed is not None
    assert (parsed.number, parsed.title) == (number, title)


@pytest.mark.parametrize(
    "line",
    [
        "Section 203 shall apply to all work.",
        "Chapter 82.04 RCW governs the business and occupation tax",
        "Volume 6, Issue 3 | Fall 2019",
        "203 tons of rock were moved",
        "3 apples",
        "see Appendix A for",
        "Appendix A for the forms that are to be used",
        "Part a of the form",
        "4.1 and 4.2 are amended as follows",
        "1. The contractor shall keep records, and he must show them to the engineer on request.",
        "1.3.6.1.5.5.7.3.2 TLS client authentication",
        "SECTION 203 - EXCAVATION ..... 45",
        "SECTION 203 ... 45",
        "SECTION 203 - EXCAVATION      45",
        "12",
        "",
    ],
)
def test_a_sentence_a_figure_and_a_contents_line_are_no_headings(line: str) -> None:
    assert parse_line(line) is None


def test_a_single_integer_without_a_dot_is_no_number_of_a_known_heading() -> None:
    assert split_number("10 Tips for Writers") == (None, "10 Tips for Writers")


def test_roman_numerals_are_read_and_written() -> None:
    assert [roman_value(roman_numeral(n)) for n in range(1, 400)] == list(range(1, 400))
    assert (roman_value("XIV"), roman_numeral(49)) == (14, "XLIX")
