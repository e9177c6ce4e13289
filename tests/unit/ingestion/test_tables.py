"""Tables in chunks: whole where they fit, else cut between rows with the names of columns."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.model import Chunk
from ingestion.builder import TextBuilder
from ingestion.chunk import ChunkSizes, chunk_document, embedded_text
from ingestion.html import parse_html
from ingestion.markdown import parse_markdown
from ingestion.parsed import ParsedDocument
from ingestion.sections import build_sections
from tests.unit.ingestion.tokenizers import WordTokenizer

LINE = "Some words come before the table and fill their chunk."


def chunk(parsed: ParsedDocument, size: int, overlap: int = 0) -> tuple[Chunk, ...]:
    sections = build_sections(parsed, "document", "Title")
    sizes = ChunkSizes(overlap_tokens=overlap)
    return chunk_document(parsed, sections, "Title", WordTokenizer(max_tokens=size), sizes)


def table(rows: int) -> str:
    return "| Kind | Fee |\n|---|---|\n" + "".join(f"| Kind {i} | {i} |\n" for i in range(rows))


def test_a_table_that_fits_is_never_parted() -> None:
    # 12 words before; the table has 19; a chunk takes 25 of which the heading is 1.
    chunks = chunk(parse_markdown(f"{LINE}\n\n{table(4)}\n{LINE}\n".encode()), 25)

    assert [c.text for c in chunks] == [
        LINE,
        "Kind | Fee\nKind 0 | 0\nKind 1 | 1\nKind 2 | 2\nKind 3 | 3",
        LINE,
    ]


def test_a_table_that_is_cut_has_its_columns_named_in_each_chunk() -> None:
    chunks = chunk(parse_markdown(f"{LINE}\n\nFees of 2020\n\n{table(20)}".encode()), 30)

    first, *rest = chunks[1:]
    assert chunks[0].text == LINE
    assert first.text.startswith("Fees of 2020\n\nKind | Fee\nKind 0 | 0")
    assert first.heading == "Title"
    assert len(rest) > 1
    assert {c.heading for c in rest} == {"Title\nKind | Fee"}
    assert all(c.text.startswith("Kind ") and "\nKind | Fee" not in c.text for c in rest)
    rows = "\n".join(c.text for c in chunks[1:]).split("\n")
    assert rows[3:] == [f"Kind {i} | {i}" for i in range(20)]


def test_a_row_longer_than_a_chunk_is_cut_and_nothing_of_it_lost() -> None:
    words = " ".join(f"word{i}" for i in range(90))
    chunks = chunk(parse_markdown(f"| A | B |\n|---|---|\n| {words} | end |\n".encode()), 20)

    assert " ".join(c.text for c in chunks).split() == f"A | B {words} | end".split()


def test_names_of_columns_without_end_are_shortened() -> None:
    names = " | ".join(f"column{i}" for i in range(30))
    source = f"| {names} |\n{'|---' * 30}|\n" + f"| {' | '.join('abc' for _ in range(30))} |\n" * 3
    tokenizer = WordTokenizer(max_tokens=40)

    for c in chunk(parse_markdown(source.encode()), 40):
        assert len(tokenizer.token_offsets(embedded_text(c.heading, c.text))) <= 40


def test_cells_that_span_rows_stand_in_each_of_them() -> None:
    html = (
        "<main><table><thead><tr><th>State<th>Year<th>Number</thead><tr><td rowspan=2>Ohio<td>2019"
        "<td>1<tr><td>2020<td>2<tr><td colspan=2>Total<td>3</table></main>"
    )
    parsed = parse_html(html.encode())

    assert parsed.text == ("State | Year | Number\nOhio | 2019 | 1\nOhio | 2020 | 2\nTotal | | 3")
    (only,) = parsed.tables
    assert parsed.text[only.start : only.header_end] == "State | Year | Number"


def test_a_span_without_end_costs_nothing() -> None:
    cell = "x" * 10_000
    html = (
        f"<main><table><tr><td rowspan=9999>{cell}<td>a</tr>{'<tr><td>b</tr>' * 999}</table></main>"
    )

    assert len(parse_html(html.encode()).text) < 20_000


CELLS = st.lists(
    st.lists(st.text("ab .", min_size=1, max_size=30), min_size=1, max_size=4), max_size=8
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text("ab. \n", max_size=60), CELLS, st.integers(0, 3)), max_size=3),
       st.integers(2, 40))  # fmt: skip
def test_nothing_is_lost_or_doubled_around_tables(
    blocks: list[tuple[str, list[list[str]], int]], size: int
) -> None:
    builder = TextBuilder()
    for before, rows, header_rows in blocks:
        builder.inline(before)
        builder.table(rows, header_rows)
    parsed = ParsedDocument(
        builder.text, (), (), None, {}, "text/html", "test", tables=tuple(builder.tables)
    )
    sections = build_sections(parsed, "document", "T")
    tokenizer = WordTokenizer(size)
    chunks = chunk_document(parsed, sections, "T", tokenizer, ChunkSizes(overlap_tokens=0))

    assert "".join("".join(c.text.split()) for c in chunks) == "".join(parsed.text.split())
    assert all(a.end <= b.start for a, b in pairwise(chunks))
    for c in chunks:
        fits = len(tokenizer.token_offsets(embedded_text(c.heading, c.text))) <= size
        assert fits or len(c.text) == 1
