"""Columns and tables of PDF pages."""

import pytest

from ingestion.parsed import ParsedDocument, Table
from ingestion.pdf import parse_pdf
from tests.unit.ingestion.pdf_writer import Page, Put, flowing, write_pdf

LEFT = "The left column tells of sand and of line"
RIGHT = "The right column tells of lime and of line"


def columns(texts: list[str], places: list[float], rows: int, top: float = 700) -> list[list[Put]]:
    """Return the lines of each row, from left to right."""
    return [
        [
            Put(f"{text} {row:02}.", x, top - 14 * row, 8)
            for text, x in zip(texts, places, strict=True)
        ]
        for row in range(rows)
    ]


def read(*pages: list[Put]) -> ParsedDocument:
    return parse_pdf(write_pdf([Page(list(lines)) for lines in pages]))


def cut(parsed: ParsedDocument, table: Table) -> tuple[str, list[str]]:
    """Return the names of the columns and the rows."""
    header = parsed.text[table.start : table.header_end]
    return header, parsed.text[table.header_end : table.end].strip().split("\n")


@pytest.mark.parametrize("across", [True, False], ids=["line by line", "column by column"])
def test_two_columns_are_read_one_after_the_other_however_they_are_drawn(across: bool) -> None:
    rows = columns([LEFT, RIGHT], [60, 320], 12)
    body = [p for row in rows for p in row] if across else [row[i] for i in (0, 1) for row in rows]
    over = Put("A title over both of the columns on this page of the book", 60, 740, 20)
    text = read([over, *body]).text

    assert text.startswith("A title")
    words = " ".join(text.split())
    assert words.index(f"{LEFT} 00.") < words.index(f"{LEFT} 11.") < words.index(f"{RIGHT} 00.")
    assert all(f"{side} {i:02}." in words for side in (LEFT, RIGHT) for i in range(12))


def test_three_columns_are_read_one_after_the_other() -> None:
    texts = [f"This is the text of column {name}" for name in ("A", "B", "C")]
    body = [p for row in columns(texts, [40, 230, 420], 12) for p in row]
    words = " ".join(read(body).text.split())

    starts = [words.index(f"{text} {i:02}.") for text in texts for i in range(12)]
    assert starts == sorted(starts)


def test_a_line_across_all_columns_parts_what_is_above_from_what_is_below() -> None:
    above = [p for row in columns([LEFT, RIGHT], [60, 320], 8, 700) for p in row]
    texts = ["Below: " + LEFT, "Below: " + RIGHT]
    below = [p for row in columns(texts, [60, 320], 8, 540) for p in row]
    over = Put(
        "A notice that runs over the whole width of the page and of both columns", 60, 565, 12
    )
    words = " ".join(read([*above, over, *below]).text.split())

    places = [LEFT + " 00", RIGHT + " 07", "A notice", "Below: " + LEFT, "Below: " + RIGHT]
    assert sorted(places, key=words.index) == places


ITEMS = [("Embankment", "1200"), ("Excavation", "450"), ("Riprap", "75"), ("Sod", "9000")]


def fees(top: float, header: bool = True) -> list[Put]:
    rows = [("Item", "Quantity"), *ITEMS] if header else ITEMS
    return [
        Put(cell, x, top - 14 * i)
        for i, row in enumerate(rows)
        for cell, x in zip(row, (72, 300), strict=True)
    ]


def test_rows_stay_rows_and_know_the_names_of_their_columns() -> None:
    parsed = read([*flowing(["These quantities are estimates:"], top=720), *fees(690)])

    (table,) = parsed.tables
    assert cut(parsed, table) == ("Item | Quantity", [f"{item} | {n}" for item, n in ITEMS])


def grid(rows: list[tuple[str, ...]], places: tuple[int, ...], bold_rows: int = 0) -> list[Put]:
    return [
        Put(cell, x, 690 - 14 * i, 11, bold=i < bold_rows)
        for i, row in enumerate(rows)
        for cell, x in zip(row, places, strict=True)
        if cell
    ]


@pytest.mark.parametrize("bold", [False, True], ids=["plain", "bold"])
@pytest.mark.parametrize(
    "names",
    [
        [("Kind of", "Number of", "Amount"), ("item", "permits", "in dollars")],
        [("", "Permits", "Amount"), ("Item", "issued", "paid"), ("", "in full", "in dollars")],
        [("Item", "Number", "Amount"), ("", "of permits", "")],
    ],
    ids=["two rows", "three rows", "a wrapped cell"],
)
def test_all_lines_of_a_header_name_the_columns(names: list[tuple[str, ...]], bold: bool) -> None:
    body = [(item, n, f"{n}.50") for item, n in ITEMS]
    places = (72, 250, 420)
    parsed = read(grid([*names, *body], places, len(names) if bold else 0))

    (table,) = parsed.tables
    header, rows = cut(parsed, table)
    assert header == "\n".join(" | ".join(filter(None, row)) for row in names)
    assert rows == [" | ".join(row) for row in body]


def test_a_first_row_without_figures_is_no_header_where_others_have_none() -> None:
    free = ("Gabions", "none", "no fee")
    body = [free, *((item, n, f"{n}.50") for item, n in ITEMS), free]
    parsed = read(grid([("Item", "Permits", "Amount"), *body], (72, 250, 420)))

    (table,) = parsed.tables
    assert cut(parsed, table) == ("Item | Permits | Amount", [" | ".join(row) for row in body])


def test_sentences_of_a_glossary_are_no_names_of_columns() -> None:
    body = [("Embankment", "Soil that is laid in layers, each of them at most a hand")]
    body += [(f"Class {n}", f"Soil of which {n} percent pass the sieve {n}") for n in range(4)]
    parsed = read(grid(body, (72, 250)))

    (table,) = parsed.tables
    assert table.header_end == table.start


def test_a_table_that_goes_on_over_the_page_is_one_table() -> None:
    # Four rows on the first page, four on the second.
    parsed = read([*flowing(["Quantities:"], top=720), *fees(690)], fees(700, header=False))

    (table,) = parsed.tables
    header, rows = cut(parsed, table)
    assert header == "Item | Quantity"
    assert len(rows) == 8
    assert parsed.page_starts[1] == parsed.text.index("Embankment", parsed.page_starts[0] + 60)


def test_a_table_that_is_drawn_column_by_column_has_its_rows_back() -> None:
    rows = [(f"{i:02}/06/2015", f"Company {i}", str(100 + i)) for i in range(1, 20)]
    names = ("Notice", "Company", "Number")
    body = [
        Put(row[column], x, 700 - 14 * i)
        for column, x in enumerate((72, 200, 400))
        for i, row in enumerate([names, *rows])
    ]
    parsed = read(body)

    (table,) = parsed.tables
    assert cut(parsed, table) == (" | ".join(names), [" | ".join(row) for row in rows])


def test_numbered_lines_with_a_gap_behind_the_number_are_no_table() -> None:
    items = [
        put
        for i in range(5)
        for put in (
            Put(f"{i + 1}.", 72, 700 - 14 * i),
            Put(f"Item {i} of the list that somebody wrote", 110, 700 - 14 * i),
        )
    ]

    assert read(items).tables == ()


def test_a_row_of_a_table_is_no_heading() -> None:
    rows = [("Section 1", "Scope", "12"), ("Section 2", "Terms", "14"), ("Section 3", "Fees", "9")]
    body = [
        Put(cell, x, 600 - 14 * i, 11, bold=True)
        for i, row in enumerate(rows)
        for cell, x in zip(row, (72, 200, 400), strict=True)
    ]
    text = "The rules of this document are found in three sections with so many paragraphs."
    parsed = read([*flowing([text] * 5), *body])

    assert len(parsed.tables) == 1
    assert parsed.headings == ()


def test_a_heading_beside_the_next_columns_text_is_one() -> None:
    names = ["Scope of Work and of Its Several Parts", "Measurement of What Has Been Placed"]
    body = [p for row in columns([LEFT], [60], 10, 672) for p in row]
    right = [p for row in columns([RIGHT], [290], 12, 700) for p in row]
    heads = [Put(name, 60, y, 12, True) for name, y in zip(names, (700, 520), strict=True)]
    more = [p for row in columns([LEFT], [60], 6, 500) for p in row]
    right_more = [p for row in columns([RIGHT], [290], 8, 520) for p in row]
    title = Put("Specifications of the Work", 60, 740, 24)
    parsed = read([title, heads[0], *body, heads[1], *more, *right, *right_more])

    assert [h.title for h in parsed.headings] == names
