"""Reads Markdown, also as written for Jekyll and Hugo, by way of the HTML that it stands for."""

import re
from typing import cast

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from graph.errors import UnreadableFile
from ingestion.builder import TextBuilder
from ingestion.decode import decode
from ingestion.front_matter import read_front_matter
from ingestion.headings import find_headings, only_top_heading, with_bare_numbers
from ingestion.html_text import write_element
from ingestion.media import MARKDOWN
from ingestion.parsed import Heading, ParsedDocument
from ingestion.templates import clear_templates

_TABLE_RULE = re.compile(
    r"^(?P<head>[^\n|]*\|[^\n]*)\n[ ]{0,3}\|?[ ]*:?-+:?[ ]*(?:\|[ ]*:?-+:?[ ]*)*\|?[ \t]*$",
    re.MULTILINE,
)
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")
"""Markdown that people write inside HTML, where only some renderers see it."""
_FENCE = re.compile(
    r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)


def parse_markdown(data: bytes) -> ParsedDocument:
    """Read a Markdown file; its front matter becomes metadata.

    Raises:
        UnreadableFile: There is no text below the front matter ("no_text").
    """
    decoded = decode(data)
    source = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    front = read_front_matter(source)
    body = _clear_outside_fences(source[front.length :], dict(front.fields))
    builder = _built(body)
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableFile("no_text", "there is no text below the front matter")
    headings = with_bare_numbers(builder.headings)
    if not headings:
        builder, headings = _with_numbered_headings(body, builder)
    warnings = (*decoded.warnings, *([front.warning] if front.warning else []))
    return ParsedDocument(
        text=builder.text,
        page_starts=(),
        headings=headings,
        title=front.fields.get("title"),
        printed_title=only_top_heading(builder.headings),
        metadata=front.fields,
        media_type=MARKDOWN,
        engine=f"markdown-it-py ({decoded.encoding})",
        tables=tuple(builder.tables),
        warnings=warnings,
    )


def _built(markdown: str, line_ends: bool = False) -> TextBuilder:
    builder = TextBuilder()
    write_element(BeautifulSoup(_html(markdown, line_ends), "lxml"), builder)
    return builder


def _with_numbered_headings(
    markdown: str, builder: TextBuilder
) -> tuple[TextBuilder, tuple[Heading, ...]]:
    """Find headings by their numbers, with the lines as written where that shows more of them."""
    headings, lined = find_headings(builder.text), _built(markdown, line_ends=True)
    on_lines = find_headings(lined.text)
    return (lined, on_lines) if len(on_lines) > len(headings) else (builder, headings)


def _html(markdown: str, line_ends: bool) -> str:
    """Render Markdown as those dialects do that are laxer than CommonMark.

    Args:
        markdown: The source.
        line_ends: Whether a line end in a paragraph is one in the text, too.
    """
    # What is nested more deeply than maxNesting would be dropped without a word; without that limit
    # Python's own raises an error, and the file is refused.
    options = {"html": True, "maxNesting": 1_000_000, "breaks": line_ends}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type == "code_block" and token.content.lstrip().startswith("<"):
            token.type = "html_block"  # indented below a list or an empty line of a table
        if token.type == "html_block":
            token.content = _STRONG.sub(r"\1", _LINK.sub(r"\1", token.content))
    return cast("str", parser.renderer.render(tokens, parser.options, {}))


def _clear_outside_fences(markdown: str, fields: dict[str, str]) -> str:
    parts: list[str] = []
    at = 0
    for fence in _FENCE.finditer(markdown):
        parts += [_cleared(markdown[at : fence.start()], fields), fence[0]]
        at = fence.end()
    return "".join([*parts, _cleared(markdown[at:], fields)])


def _cleared(markdown: str, fields: dict[str, str]) -> str:
    return _TABLE_RULE.sub(_with_as_many_columns, clear_templates(markdown, fields))


def _with_as_many_columns(rule: re.Match[str]) -> str:
    """Give the rule below a table's head as many columns as the head, or it is no table."""
    head = rule["head"]
    columns = len(re.findall(r"(?<!\\)\|", head.strip().strip("|"))) + 1
    return f"{head}\n{'|---' * columns}|"
