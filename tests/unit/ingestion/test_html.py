import pytest

from graph.errors import UnreadableFile
from ingestion.html import parse_html
from ingestion.parsed import ParsedDocument


def page(body: str, head: str = "") -> ParsedDocument:
    return parse_html(
        f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode()
    )


def test_only_the_main_text_is_read() -> None:
    parsed = page(
        "<header>Agency</header><nav><a>Home</a></nav><main><p>The rule.</p></main>"
        "<aside>See also</aside><footer>Contact</footer><script>x()</script>"
    )

    assert parsed.text == "The rule."


def test_the_main_role_counts_like_the_element() -> None:
    assert page("<div>Menu</div><div role=main>Text.</div>").text == "Text."


def test_without_a_main_element_the_body_is_read_without_its_furniture() -> None:
    parsed = page("<nav>Menu</nav><div id=content><p>Text.</p></div><footer>Foot</footer>")

    assert parsed.text == "Text."


def test_the_header_of_an_article_is_content() -> None:
    assert page("<article><header><h1>Title</h1></header><p>Text.</p></article>").text == (
        "Title\n\nText."
    )


def test_a_menu_inside_the_main_text_is_told_by_its_links() -> None:
    menu = "<div class=side-menu><a>One</a><a>Two</a></div>"
    prose = "<div class=menu>The menu of the canteen is decided by the board, see <a>it</a>.</div>"

    assert page(f"<main>{menu}{prose}</main>").text.startswith("The menu of the canteen")


def test_a_page_of_menus_only_is_refused() -> None:
    with pytest.raises(UnreadableFile) as raised:
        page("<nav><a>Home</a></nav><script>render()</script>")

    assert raised.value.status == "no_text"


def test_headings_have_levels_numbers_and_positions() -> None:
    parsed = page("<main><h1>Rule</h1><h2>1.2 <b>Scope</b></h2><p>Text.</p></main>")

    assert [(h.level, h.number, h.title) for h in parsed.headings] == [
        (1, None, "Rule"),
        (2, "1.2", "Scope"),
    ]
    assert [parsed.text[h.start : h.end] for h in parsed.headings] == ["Rule", "1.2 Scope"]


def test_a_button_in_a_heading_is_not_its_title() -> None:
    parsed = page(
        "<main><h2><a href=x>PDF</a>RCW 82.04 <a href=#a>\u00b6</a></h2><p>Text.</p></main>"
    )

    assert parsed.headings[0].title == "RCW 82.04"


def test_what_was_left_out_is_told_only_where_something_was() -> None:
    assert page("<nav>Menu</nav><p>Text.</p>").left_out
    assert not page("<p>Text.</p>").left_out


def test_rows_of_a_table_stay_rows() -> None:
    table = (
        "<table><caption>Fees</caption><tr><th>Kind<th>Fee</tr><tr><td>A<td>$ 5</tr>"
        "<tr><td>B<br>C<td>$ 7</tr></table>"
    )

    assert page(f"<main>{table}</main>").text == "Fees\n\nKind | Fee\nA | $ 5\nB C | $ 7"


def test_a_table_that_lays_out_the_page_is_read_as_blocks() -> None:
    table = "<table><tr><td><h2>Left</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>"

    assert page(f"<main>{table}</main>").text == "Left\n\nOne.\n\nTwo."


def test_lists_keep_their_order_numbering_and_nesting() -> None:
    text = page(
        "<main><ol><li>First<ul><li>Inner</li></ul></li><li><p>Second</p></li></ol>"
        "<ol type=a start=3><li>Letter</li></ol><p>After.</p></main>"
    ).text

    assert text == "1. First\n  - Inner\n\n2. Second\n\nc. Letter\n\nAfter."


def test_inline_elements_do_not_part_words() -> None:
    assert (
        page("<main><p>un<b>break</b>able&nbsp;<i>text</i></p></main>").text == "unbreakable text"
    )


def test_source_code_keeps_its_lines() -> None:
    assert page("<main><pre>if x:\n    y()\n</pre></main>").text == "if x:\n    y()"


def test_comments_and_hidden_parts_are_left_out() -> None:
    assert page("<main><!-- no --><p hidden>No</p><p>Yes</p></main>").text == "Yes"


def test_a_byte_order_mark_wins_over_the_declaration() -> None:
    html = '<html><meta charset="utf-8"><main>Größe</main></html>'

    assert parse_html(html.encode("utf-16")).text == "Größe"


def test_a_declared_encoding_is_used() -> None:
    html = '<html><meta charset="windows-1251"><main>Правила</main></html>'

    assert parse_html(html.encode("cp1251")).text == "Правила"


def test_utf_8_is_recognised_whatever_is_declared() -> None:
    html = '<html><meta charset="iso-8859-1"><main>Größe, 10 €</main></html>'

    assert parse_html(html.encode()).text == "Größe, 10 €"


def test_a_lie_about_the_encoding_is_a_warning() -> None:
    html = '<html><meta charset="utf-8"><main>' + "Die Größe der Straße für Fußgänger. " * 8
    parsed = parse_html(html.encode("cp1252"))

    assert "Größe der Straße" in parsed.text
    assert "utf-8" in parsed.warnings[0]


def test_title_and_meta_elements_are_metadata() -> None:
    parsed = page(
        "<main>Text.</main>",
        "<title> The\n Rule </title><meta name='DC.Date' content='2024-05-08'>",
    )

    assert (parsed.title, parsed.metadata["dc.date"]) == ("The Rule", "2024-05-08")


def test_nesting_deeper_than_python_calls_loses_nothing() -> None:
    assert page("<div>" * 3000 + "deep" + "</div>" * 3000).text == "deep"
