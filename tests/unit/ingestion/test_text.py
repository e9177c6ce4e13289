import pytest

from graph.errors import UnreadableFile
from ingestion.decode import decode
from ingestion.parse import parse
from ingestion.text import parse_text


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_unicode_is_read_with_and_without_a_mark(encoding: str) -> None:
    assert parse_text("Größe of 10 €.".encode(encoding)).text == "Größe of 10 €."


def test_latin_1_is_recognised() -> None:
    text = "Die Größe der Straße für Fußgänger ist schön. " * 5

    assert decode(text.encode("latin-1")).text == text


@pytest.mark.parametrize("declared", ["hex", "no-such-thing", "undefined", "", "utf-16"])
def test_a_senseless_declaration_does_no_harm(declared: str) -> None:
    assert decode("Größe".encode(), declared).text == "Größe"


def test_binary_data_is_refused() -> None:
    with pytest.raises(UnreadableFile) as raised:
        parse(bytes(range(256)) * 20, "data.txt")

    assert raised.value.status == "unsupported"


def test_form_feeds_part_pages() -> None:
    parsed = parse_text(b"One.\n\fTwo.\n\f\n\fFour.\n\f")

    assert parsed.page_starts == (0, 5, 10, 11)
    assert parsed.text.index("Four") == 11
    assert parsed.pages_without_text == (3,)


def test_text_without_form_feeds_has_no_pages() -> None:
    assert parse_text(b"One.\n").pages is None


def test_numbered_headings_are_found() -> None:
    parsed = parse_text(b"SECTION 1 - SCOPE\ntext\nSECTION 2 - TERMS\ntext\n")

    assert [h.title for h in parsed.headings] == ["SCOPE", "TERMS"]


def test_white_space_alone_is_no_text() -> None:
    with pytest.raises(UnreadableFile) as raised:
        parse(b"   ", "blank.txt")

    assert raised.value.status == "no_text"
