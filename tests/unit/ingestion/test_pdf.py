import pytest

from graph.errors import UnreadableFile
from ingestion.pages import page_at
from ingestion.pdf import parse_pdf
from tests.unit.ingestion.pdf_writer import Page, Put, flowing, write_pdf

LONG = "This line of text is long enough to reach the right edge of the page, or nearly,"


def body(first: str) -> list[Put]:
    return flowing([first, LONG, LONG, "and ends here."], top=650)


def test_lines_of_a_paragraph_are_joined_and_paragraphs_parted() -> None:
    pdf = write_pdf([Page(flowing([LONG, "and goes on.", "", "", "A new one."]))])

    assert parse_pdf(pdf).text == f"{LONG} and goes on.\n\nA new one."


def test_pages_are_counted_from_the_start_of_each() -> None:
    parsed = parse_pdf(write_pdf([Page(body("One.")), Page(body("Two.")), Page(body("Three."))]))

    found = [page_at(parsed.page_starts, parsed.text.index(w)) for w in ("One.", "Two.", "Three.")]
    assert found == [1, 2, 3]


def test_a_sentence_that_runs_over_the_page_stays_whole() -> None:
    pdf = write_pdf([Page(flowing([LONG])), Page(flowing(["which continues here."]))])
    parsed = parse_pdf(pdf)

    assert f"{LONG} which continues" in parsed.text
    assert parsed.page_starts[1] == parsed.text.index("which")


def numbered_pages(count: int) -> list[Page]:
    return [
        Page(
            [
                Put("Agency Manual 2024", 250, 750),
                Put(f"Page {i} of {count}", 280, 40),
                *body(f"Text of page number {i * i}."),
            ]
        )
        for i in range(1, count + 1)
    ]


def test_running_heads_and_page_numbers_are_left_out_and_named() -> None:
    parsed = parse_pdf(write_pdf(numbered_pages(5)))

    assert "Agency Manual" not in parsed.text
    assert "Page 3" not in parsed.text
    assert all(f"page number {i * i}" in parsed.text for i in range(1, 6))
    assert "Agency Manual" in parsed.left_out[0]


def test_a_line_that_two_pages_share_is_no_running_head() -> None:
    assert parse_pdf(write_pdf(numbered_pages(2))).text.count("Agency Manual") == 2


def test_rows_of_a_table_in_the_margin_stay() -> None:
    pages = [
        Page([Put(f"{i}/1/{year} Layoff Permanent", 72, 760 - 14 * i) for i in range(1, 50)])
        for year in range(2016, 2020)
    ]
    parsed = parse_pdf(write_pdf(pages))

    assert parsed.text.count("Layoff Permanent") == 4 * 49


def test_figures_in_the_margin_that_do_not_count_on_stay() -> None:
    pages = [Page([Put(str(n), 300, 40), *body("Text.")]) for n in (40, 12, 93, 7)]

    assert "93" in parse_pdf(write_pdf(pages)).text


def test_a_contents_list_is_left_out_and_named() -> None:
    entries = ["CONTENTS", "1. Scope 2", "1.1 General 2", "2. Terms 3", "2.1 Meaning 3"]
    pages = [
        Page(flowing(entries)),
        Page([Put("1. Scope", 72, 700, 14, True), *body("First.")]),
        Page([Put("2. Terms", 72, 700, 14, True), *body("Second.")]),
    ]
    parsed = parse_pdf(write_pdf(pages))

    assert "CONTENTS" not in parsed.text
    assert parsed.left_out == ("contents lists on pages 1",)
    assert parsed.pages_without_text == ()
    assert [(h.number, page_at(parsed.page_starts, h.start)) for h in parsed.headings] == [
        ("1", 2),
        ("2", 3),
    ]


def chapters() -> list[Page]:
    return [
        Page([Put(title, 72, 700, 14, True), *body("Text.")]) for title in ("Purpose", "Duties")
    ]


def test_bookmarks_are_headings_where_their_titles_are_printed() -> None:
    pdf = write_pdf(chapters(), [("Purpose", 0), ("Duties", 1), ("Microsoft Word - x.doc", 0)])
    parsed = parse_pdf(pdf)

    assert [parsed.text[h.start : h.end] for h in parsed.headings] == ["Purpose", "Duties"]
    assert {h.provenance for h in parsed.headings} == {"bookmarks"}


def test_bookmarks_that_point_to_the_wrong_page_are_not_trusted() -> None:
    assert parse_pdf(write_pdf(chapters(), [("Purpose", 1), ("Duties", 0)])).headings == ()


def test_a_title_over_two_lines_is_one_heading() -> None:
    heading = "1.1 A Title That Is Too Long For One Line Of The Page And Goes"
    lines = [
        Put("1. PROFILES", 72, 720, 14, True),
        Put(heading, 72, 700, 14, True),
        Put("On Below It", 72, 684, 14, True),
        *body("Text."),
        Put("2. AUDIT", 72, 500, 14, True),
    ]
    parsed = parse_pdf(write_pdf([Page(lines)]))

    assert (
        parsed.headings[1].title
        == "A Title That Is Too Long For One Line Of The Page And Goes On Below It"
    )


@pytest.mark.parametrize(
    ("lines", "mended"),
    [
        (["a periodic table is a peri-", "odic one"], "a peri" + "odic one"),
        (["cross-certified means cross-", "certified"], "means cross-certified"),
        (["the number DTFH61-12-H-", "00001 applies"], "DTFH61-12-H-00001 applies"),
        (["see WAC 458-20-", "102 for it"], "WAC 458-20-102 for it"),
    ],
)
def test_hyphens_at_line_ends_go_only_where_they_are_the_typesetters(
    lines: list[str], mended: str
) -> None:
    assert mended in parse_pdf(write_pdf([Page(flowing(lines))])).text


def test_a_scan_is_refused_and_the_message_tells_how_many_pages_need_ocr() -> None:
    with pytest.raises(UnreadableFile, match=r"3 pages.*OCR") as raised:
        parse_pdf(write_pdf([Page(picture=True)] * 3))

    assert raised.value.status == "needs_ocr"


def test_a_file_of_scans_and_text_says_which_pages_have_none() -> None:
    pages = [Page(body("Text.")), Page(picture=True), Page(picture=True), Page(body("More."))]
    parsed = parse_pdf(write_pdf(pages))

    assert parsed.pages_without_text == (2, 3)
    assert "pages 2-3" in parsed.warnings[0]


def test_a_stamp_on_every_scanned_page_is_no_text() -> None:
    scans = [Page([Put("Received by the clerk", 72, 40)], picture=True)] * 4
    parsed = parse_pdf(write_pdf([*scans, Page(body("Text."))]))

    assert parsed.pages_without_text == (1, 2, 3, 4)


def test_fonts_that_do_not_tell_their_letters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # tesseract would read what the page shows
    garbled = "6HVVLRQ.HSFRYUWLQJ XTPRSZ BCDFGH KLMNPQ RSTVWX ZBCDFG " * 3
    with pytest.raises(UnreadableFile, match="letters") as raised:
        parse_pdf(write_pdf([Page(flowing([garbled[:80], garbled[80:160]]))]))

    assert raised.value.status == "needs_ocr"


@pytest.mark.parametrize(
    ("data", "status"), [(b"%PDF-1.4\nnothing", "broken"), (write_pdf([]), "empty")]
)
def test_what_cannot_be_opened_has_a_status(data: bytes, status: str) -> None:
    with pytest.raises(UnreadableFile) as raised:
        parse_pdf(data)

    assert raised.value.status == status


def test_a_file_without_its_last_bytes_is_read_all_the_same() -> None:
    assert "Text." in parse_pdf(write_pdf([Page(body("Text."))])[:-2]).text


def test_the_largest_type_of_the_title_page_is_the_printed_title() -> None:
    cover = [Put("Common Policy", 200, 500, 24, True), Put("Framework", 220, 470, 24, True)]
    note = flowing(["The attached document has been archived."])
    parsed = parse_pdf(write_pdf([Page(note), Page(cover), Page(body("Text."))]))

    assert parsed.printed_title == "Common Policy Framework"


def test_the_line_above_a_heading_is_not_taken_for_a_part_of_it() -> None:
    lines = [
        *flowing([LONG, "Section 2.2.2."], top=720),
        Put("4.7 RE-KEY", 72, 680, 14, True),
        Put("4.8 MODIFICATION", 72, 500, 14, True),
        *body("Text."),
    ]
    parsed = parse_pdf(write_pdf([Page(lines)], [("4.7 Re-key", 0), ("4.8 Modification", 0)]))

    assert [(h.number, h.title) for h in parsed.headings] == [
        ("4.7", "RE-KEY"),
        ("4.8", "MODIFICATION"),
    ]


def test_numbers_of_lines_are_taken_away() -> None:
    numbers = range(1, 31)
    lines = [Put(f"{n} Line of the draft number {n * n}.", 72, 740 - 20 * n) for n in numbers]
    parsed = parse_pdf(write_pdf([Page(lines)]))

    assert parsed.text.startswith("Line of the draft number 1.")
    assert "number 900." in parsed.text
    assert parsed.left_out == ("the numbers of the lines",)


def test_larger_type_makes_headings_where_nothing_is_numbered() -> None:
    lines = [
        Put("Agency Newsletter", 72, 750, 30),
        Put("Trust Stores", 72, 720, 16),
        *flowing([LONG, LONG, LONG, "and ends here."], top=690),
        Put("What Should I Do About A Title", 72, 600, 16),
        Put("That Runs On", 72, 582, 16),
        *flowing([LONG, LONG, LONG, "and ends here, too."], top=560),
        Put("More", 72, 480, 12, True),
        *flowing([LONG] * 6, top=460),
    ]
    parsed = parse_pdf(write_pdf([Page(lines)]))

    assert [(h.level, h.title, h.provenance) for h in parsed.headings] == [
        (1, "Trust Stores", "fonts"),
        (1, "What Should I Do About A Title That Runs On", "fonts"),
        (2, "More", "fonts"),
    ]
    assert parsed.printed_title == "Agency Newsletter"


def centred(text: str, y: float) -> Put:
    return Put(text, 270 - 3.7 * len(text), y)  # capitals of Helvetica at 11 points


def test_centred_capitals_are_headings_and_the_caption_of_a_court_is_not() -> None:
    caption = ["BEFORE THE APPEALS DIVISION", "DEPARTMENT OF REVENUE", "STATE OF WASHINGTON"]
    lines = [
        *(centred(line, 740 - 13 * i) for i, line in enumerate(caption)),
        *flowing([LONG], top=640),
        centred("FINDINGS OF FACT", 600),
        *flowing([LONG] * 4, top=570),
        centred("ANALYSIS", 500),
        *flowing([LONG] * 4, top=470),
    ]
    parsed = parse_pdf(write_pdf([Page(lines)]))

    assert [h.title for h in parsed.headings] == ["FINDINGS OF FACT", "ANALYSIS"]


def test_cells_of_a_table_and_stressed_sentences_are_no_headings() -> None:
    rows = [
        Put(text, x, 700 - 30 * i, 11, True)
        for i in range(8)
        for x, text in ((72, "Grade of sand"), (200, "Price of it"))
    ]
    sentence = [Put("Nobody may enter this place", 72, 300, 11, True), Put("at night.", 72, 287)]
    parsed = parse_pdf(write_pdf([Page([*rows, *sentence, *flowing([LONG] * 9, top=200)])]))

    assert parsed.headings == ()


def test_a_few_numbered_lines_do_not_hide_the_headings_of_the_document() -> None:
    lines = [
        Put("Determination", 72, 765, 30),
        Put("Determination of a Case", 72, 770, 24),
        Put("FINDINGS", 72, 740, 16),
        *flowing([LONG] * 5, top=715),
        Put("Article 2. SERVICE", 72, 640),
        *flowing([LONG] * 5, top=620),
        Put("Article 3. PAYMENT", 72, 545),
        *flowing([LONG] * 5, top=525),
        Put("ANALYSIS", 72, 450, 16),
        *flowing([LONG] * 5, top=425),
        Put("DECISION", 72, 350, 16),
        *flowing([LONG] * 5, top=325),
    ]
    parsed = parse_pdf(write_pdf([Page(lines)]))

    assert [(h.level, h.number, h.title) for h in parsed.headings] == [
        (1, None, "FINDINGS"),
        (2, "Article 2", "SERVICE"),
        (2, "Article 3", "PAYMENT"),
        (1, None, "ANALYSIS"),
        (1, None, "DECISION"),
    ]


def test_a_file_that_is_nothing_but_a_contents_list_keeps_it() -> None:
    entries = [f"{i}. Title of the chapter {'.' * 20} {i * 7}" for i in range(1, 9)]
    parsed = parse_pdf(write_pdf([Page(flowing(entries))]))

    assert "8. Title of the chapter" in parsed.text
    assert parsed.headings == ()
