"""From a file's bytes to text, in this process: picks the reader by the media type."""

from graph.errors import UnreadableFile
from ingestion.media import DOCX, HTML, MARKDOWN, PDF, XML, media_type
from ingestion.parsed import ParsedDocument


def parse(data: bytes, name: str, seconds: float = 120.0) -> ParsedDocument:
    """Read a file's bytes into text.

    Args:
        data: All of the file.
        name: Its name; decides only what the bytes do not tell.
        seconds: Time for the whole file; what can be left out, such as OCR, stops before it ends.

    Raises:
        UnreadableFile: With a status that says what is wrong: "empty", "unsupported", "broken",
            "encrypted", "too_large", "needs_ocr" or "no_text".
    """
    # Imported when needed: each of them takes a tenth of a second or more.
    kind = media_type(data, name)
    if kind == PDF:
        from ingestion.pdf import parse_pdf

        parsed = parse_pdf(data, seconds)
    elif kind == HTML:
        from ingestion.html import parse_html

        parsed = parse_html(data)
    elif kind == DOCX:
        from ingestion.docx import parse_docx

        parsed = parse_docx(data)
    elif kind == XML:
        from ingestion.regulation_xml import parse_regulation

        parsed = parse_regulation(data)
    elif kind == MARKDOWN:
        from ingestion.markdown import parse_markdown

        parsed = parse_markdown(data)
    else:
        from ingestion.text import parse_text

        parsed = parse_text(data)
    if not any(character.isalnum() for character in parsed.text):
        raise UnreadableFile("no_text", "the file holds no letters or figures")
    return parsed
