"""Reads Word documents (.docx, .docm, .dotx), transitional or strict.

The parts are parsed here instead of by python-docx, which refuses the strict form and skips text
boxes, insertions and content controls. Heads and feet of pages are parts of their own and not
content; nothing that a part points to is fetched.
"""

import re
from collections.abc import Iterator, Sequence

from graph.errors import UnreadableFile
from graph.fold import fold
from ingestion.builder import TextBuilder
from ingestion.contents import contents_lines
from ingestion.docx_blocks import Block, Walker, note_texts
from ingestion.docx_styles import Lists, Styles
from ingestion.headings import find_headings, only_top_heading, with_bare_numbers
from ingestion.media import DOCX
from ingestion.numbering import split_number
from ingestion.office_zip import OfficeZip
from ingestion.parsed import Heading, ParsedDocument
from ingestion.xml_tree import PARSER, Element, attribute, child, name, parse_xml

_OFFICE_DOCUMENT = "/officeDocument"
_LONGEST_BOLD = 120
_FEWEST_BOLD = 2
_CONTENTS_TITLE = re.compile(r"\s*(?:table of )?contents\W*", re.IGNORECASE)
_INSERTED = "parts that were inserted as whole files (altChunk) are not read: paste their text"
_FEWEST_ENTRIES, _LONGEST_GAP = 4, 2


def parse_docx(data: bytes) -> ParsedDocument:
    """Read a Word document.

    Headings are those that styles or outline levels mark, with the numbers that Word's lists give
    them; without any, numbered lines or short bold paragraphs.

    Raises:
        UnreadableFile: "broken", "encrypted", "too_large" or "unsupported" (no text document).
    """
    package = OfficeZip(data)
    path = _main_part(package)
    folder = path.rpartition("/")[0]
    root = _required(package, path)
    body = child(root, "body")
    if body is None:
        raise UnreadableFile("broken", "a Word document without a body; fetch the file again")
    styles = Styles(package.part(f"{folder}/styles.xml"))
    walker = Walker(styles, Lists(package.part(f"{folder}/numbering.xml")), _notes(package, folder))
    walker.walk(body)
    blocks, had_contents = _without_contents_lists(walker.blocks)
    builder = TextBuilder()
    bold = set(_write(blocks, builder))
    marked = with_bare_numbers(builder.headings)
    properties = _properties(package)
    left_out = walker.left_out
    if had_contents:
        left_out.add("contents lists")
    inserted = any(name(element) == "altChunk" for element in root.iterdescendants())
    titles = [" ".join(block.text.split()) for block in blocks if block.style == "title"]
    return ParsedDocument(
        text=builder.text,
        page_starts=(),
        headings=marked or _unmarked_headings(builder.text, bold),
        title=properties.get("title"),
        printed_title=" ".join(titles) or only_top_heading(marked),
        metadata=properties,
        media_type=DOCX,
        engine=f"{PARSER} (docx)",
        warnings=(_INSERTED,) if inserted else (),
        left_out=tuple(sorted(left_out)),
        tables=tuple(builder.tables),
    )


def _main_part(package: OfficeZip) -> str:
    """Return the name of the main part, which the package's relations tell."""
    relations = parse_xml(_bytes(package, "_rels/.rels"))
    for relation in relations:
        if (attribute(relation, "Type") or "").endswith(_OFFICE_DOCUMENT):
            path = (attribute(relation, "Target") or "").lstrip("/")
            if path.lower().startswith("word/") or path in package:
                return path
    raise UnreadableFile("broken", "an Office document without a main part; fetch the file again")


def _required(package: OfficeZip, path: str) -> Element:
    root = parse_xml(_bytes(package, path))
    if name(root) != "document":
        raise UnreadableFile(
            "unsupported", f"an Office document of another kind ({name(root)}); convert it to PDF"
        )
    return root


def _bytes(package: OfficeZip, path: str) -> bytes:
    part = package.part(path)
    if part is None:
        raise UnreadableFile("broken", f"an Office document without {path}; fetch the file again")
    return part


def _notes(package: OfficeZip, folder: str) -> dict[str, str]:
    notes: dict[str, str] = {}
    for kind in ("footnotes", "endnotes"):
        if part := package.part(f"{folder}/{kind}.xml"):
            notes |= note_texts(parse_xml(part), kind)
    return notes


def _properties(package: OfficeZip) -> dict[str, str]:
    """Return what docProps/core.xml says; keys in lower case, such as "title" and "created"."""
    part = package.part("docProps/core.xml")
    elements = parse_xml(part) if part else ()
    pairs = ((name(element).lower(), fold(element.text or "").strip()) for element in elements)
    return {key: value for key, value in pairs if key and value}


def _without_contents_lists(blocks: Sequence[Block]) -> tuple[list[Block], bool]:
    """Drop contents lists that were typed by hand; headings proper are never in one."""
    texts = [block.text for block in blocks]
    found = contents_lines(texts)
    for i, text in enumerate(texts):
        if i not in found and _CONTENTS_TITLE.fullmatch(text):
            found |= _entries_below(blocks, i)
    dropped = {i for i in found if blocks[i].level is None}
    return [block for i, block in enumerate(blocks) if i not in dropped], bool(dropped)


def _entries_below(blocks: Sequence[Block], title: int) -> set[int]:
    """Return a contents title and its entries, which may have lost the tab before their pages."""
    last, entries = title, 0
    for i in range(title + 1, len(blocks)):
        if blocks[i].level is not None or i - last > _LONGEST_GAP + 1:
            break
        if blocks[i].text.rstrip()[-1:].isdigit():
            last, entries = i, entries + 1
    return set(range(title, last + 1)) if entries >= _FEWEST_ENTRIES else set()


def _write(blocks: Sequence[Block], builder: TextBuilder) -> Iterator[int]:
    """Write the blocks; yield the offsets of short paragraphs that are all bold."""
    before: Block | None = None
    for block in blocks:
        is_item = block.label is not None
        if not (is_item and before is not None and before.label is not None):
            builder.end_block()
        if block.rows:
            builder.table(block.rows, block.header_rows)
        elif block.level is not None:
            _heading(block, builder)
        else:
            if is_item:
                builder.prefix(f"{'  ' * block.depth}{block.label or '-'} ")
            elif block.bold and len(block.text) <= _LONGEST_BOLD:
                yield builder.position
            for line in block.text.split("\n"):
                builder.inline(line)
                builder.end_line()
            builder.prefix("")
        before = block
    builder.end_block()


def _heading(block: Block, builder: TextBuilder) -> None:
    if not block.text.strip():
        return
    label = (block.label or "").strip()
    number = re.sub(r"[.:\s]+$", "", label) if any(c.isalnum() for c in label) else None
    builder.heading(f"{label} {block.text}", block.level or 1, "markup", number=number)


def _unmarked_headings(text: str, bold: set[int]) -> tuple[Heading, ...]:
    """Find headings in a document that marks none."""
    numbered = find_headings(text, bold)
    if numbered or len(bold) < _FEWEST_BOLD:
        return numbered
    headings: list[Heading] = []
    for start in sorted(bold):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)].strip()
        if line and line[-1] not in ".,;:" and any(c.isalpha() for c in line):
            number, title = split_number(line)
            headings.append(Heading(start, start + len(line), 1, number, title, "fonts"))
    return tuple(headings) if len(headings) >= _FEWEST_BOLD else ()
