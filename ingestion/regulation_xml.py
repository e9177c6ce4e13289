"""Reads XML: federal regulations with all of their structure, other XML as the text it holds.

Regulations are in the form of the Consumer Financial Protection Bureau's regulations-schema
(eregs.xsd): a part with subparts, sections, paragraphs, appendices and official interpretations,
and the analysis of each rule that changed it.
"""

import re
from collections.abc import Iterator

from graph.errors import UnreadableFile
from graph.fold import fold
from ingestion.builder import TextBuilder
from ingestion.decode import decode
from ingestion.media import XML
from ingestion.parsed import ParsedDocument
from ingestion.xml_tree import PARSER, Element, attribute, child, name, parse_xml

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_UNNUMBERED = re.compile(r"[ph]\d+")
"""Parts of a label that number what bears no number of its own."""
_CONTAINERS = {"content", "subpart", "subjectGroup", "part"}
_SECTIONS = {
    "section", "appendix", "appendixSection", "interpretations", "interpSection", "analysis",
    "analysisSection", "subpart",
}  # fmt: skip
_TITLES = ("subject", "appendixTitle", "title")
_PARAGRAPHS = {"paragraph", "interpParagraph"}
_SHORTEST_SECTION = 400
"""Characters below which a paragraph without a title stays in the section above it."""
_DEEPEST_PARAGRAPH = 3
_SILENT = {"tableOfContents", "graphic", "table", "footnote", "callout", "reserved"}


def parse_regulation(data: bytes) -> ParsedDocument:
    """Read an XML file.

    The metadata of a regulation are "effective_date", "edition" (number of the Federal Register
    document that made it, and that date), "series" (such as "12 CFR 1005"), "agency" and
    "published".

    Raises:
        UnreadableFile: "broken", "unsupported" (declares entities) or "no_text".
    """
    root, encoding_warnings = _root(data)
    builder = TextBuilder()
    left_out: tuple[str, ...] = ()
    part = child(root, "part")
    if name(root) == "regulation" and part is not None:
        metadata, title = _regulation_metadata(root), _regulation_title(root)
        writer = _Writer(builder)
        writer.heading(f"Part {attribute(part, 'label')} {_subject(root)}", 1)
        writer.children(part, 2)
        if (analysis := child(root, "analysis")) is not None:
            writer.heading("Section-by-section analysis", 2)
            writer.children(analysis, 3)
        left_out = ("contents lists, links to pictures",)
    else:
        metadata, title = {}, _first_title(root)
        _write_any(root, builder)
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableFile("no_text", "the XML has no text in its elements, perhaps only data")
    return ParsedDocument(
        text=builder.text,
        page_starts=(),
        headings=tuple(builder.headings),
        title=title,
        metadata=metadata,
        media_type=XML,
        engine=PARSER,
        warnings=encoding_warnings,
        left_out=left_out,
        tables=tuple(builder.tables),
    )


def _root(data: bytes) -> tuple[Element, tuple[str, ...]]:
    """Parse the XML; where its bytes are not in the encoding that it declares, in the true one."""
    try:
        return parse_xml(data), ()
    except UnreadableFile as error:
        if error.status != "broken":
            raise
        decoded = decode(data, "utf-8")
        if not decoded.warnings:
            raise
        return parse_xml(_DECLARATION.sub("", decoded.text).encode()), decoded.warnings


def citation(label: str) -> str | None:
    """Return how a regulation cites what bears this label; None for what has no number.

    "1005-11-c-2" gives "1005.11(c)(2)", "1005-A-2-a" gives "A-2(a)", "1005-2-a-Interp-1-ii" gives
    "Comment 2(a)-1.ii".
    """
    part, *rest = label.split("-")
    if not rest or any(map(_UNNUMBERED.fullmatch, rest)):
        return None
    if "Interp" in rest:
        at = rest.index("Interp")
        if at == 0:
            return None
        below = "-" + ".".join(rest[at + 1 :]) if rest[at + 1 :] else ""
        return f"Comment {rest[0]}{_in_brackets(rest[1:at])}{below}"
    if rest[0] == "Subpart":
        return f"Subpart {rest[-1]}"
    if rest[0].isalpha():
        return "-".join(rest[:2]) + _in_brackets(rest[2:]) if rest[1:] else f"Appendix {rest[0]}"
    return f"{part}.{rest[0]}{_in_brackets(rest[1:])}"


def _in_brackets(parts: list[str]) -> str:
    return "".join(f"({part})" for part in parts)


class _Writer:
    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder

    def heading(self, text: str, level: int, number: str | None = None) -> None:
        self._builder.heading(text, level, "markup", number=number)

    def children(self, parent: Element, level: int) -> None:
        """Write the parts of the regulation inside an element, at this level or below it."""
        self._paragraphs(parent, level, depth=1)
        for element in parent:
            kind = name(element)
            if kind in _SECTIONS:
                self._section(element, level)
            elif kind in _CONTAINERS:
                self.children(element, level)
            elif kind == "analysisParagraph" or kind not in (*_TITLES, *_PARAGRAPHS, *_SILENT):
                self._content(element)

    def _section(self, element: Element, level: int) -> None:
        printed = next((_text(e) for e in element if name(e) in _TITLES), "")
        number = citation(attribute(element, "label") or "")
        if name(element) == "interpretations":
            number = None
        elif name(element) == "analysisSection":
            notice = ", ".join(filter(None, (element.attrib.get(k) for k in ("notice", "date"))))
            printed = f"Analysis of {printed}" + (f" ({notice})" if notice else "")
        elif number and name(element) in ("subpart", "appendix") and number not in printed:
            printed = f"{number} {printed}"
        if printed:
            self.heading(printed, level, number)
        self.children(element, level + bool(printed))

    def _paragraphs(self, parent: Element, level: int, depth: int) -> None:
        """Write the paragraphs right below an element: all of them as sections, or none.

        Text behind a section would belong to it, so one paragraph that has to be a section makes
        sections of those beside it.
        """
        paragraphs = [element for element in parent if name(element) in _PARAGRAPHS]
        if depth <= _DEEPEST_PARAGRAPH and any(_is_section(e, depth) for e in paragraphs):
            for element in paragraphs:
                self._as_section(element, level, depth)
        else:
            for element in paragraphs:
                self._as_item(element, level, depth)

    def _as_section(self, element: Element, level: int, depth: int) -> None:
        number = citation(attribute(element, "label") or "")
        title = _text(child(element, "title"))
        if number is not None:
            title = f"{number} {title.removeprefix(number.removeprefix('Comment ')).strip()}"
        title = title or attribute(element, "marker") or ""
        self.heading(title, level, number)
        self._content(child(element, "content"))
        self._paragraphs(element, level + bool(title), depth + 1)

    def _as_item(self, element: Element, level: int, depth: int) -> None:
        marker = (attribute(element, "marker") or "").replace("Interp", "")
        self._builder.prefix("  " * (depth - 1) + f"{marker} " * bool(marker))
        self._builder.inline(_text(child(element, "title")) + " ")
        self._content(child(element, "content"))
        self._builder.end_line()
        self._builder.prefix("")
        self._paragraphs(element, level, depth + 1)

    def _content(self, element: Element | None) -> None:
        """Write running text on a line, with its notes and tables below it."""
        if element is None:
            return
        self._builder.inline(_text(element))
        self._builder.end_line()
        for inner in element.iterdescendants():
            if name(inner) == "footnote":
                self._builder.inline(f"[{attribute(inner, 'ref') or '*'}] {_all_text(inner)}")
                self._builder.end_line()
            elif name(inner) == "graphic":
                self._builder.inline(_all_text(child(inner, "altText")))
                self._builder.end_line()
            elif name(inner) == "table":
                self._table(inner)

    def _table(self, table: Element) -> None:
        header = child(table, "header")
        head_rows = list(_rows(header)) if header is not None else []
        rows = [[_all_text(cell) for cell in row] for row in table if name(row) == "row"]
        self._builder.table([*head_rows, *rows], len(head_rows))


def _is_section(element: Element, depth: int) -> bool:
    if citation(attribute(element, "label") or "") is None:
        return False
    is_titled = depth == 1 and child(element, "title") is not None
    return is_titled or len(_text(element)) >= _SHORTEST_SECTION


def _rows(header: Element) -> Iterator[list[str]]:
    for row in header:
        yield [_all_text(cell) for cell in row]


def _text(element: Element | None) -> str:
    """Return an element's text on one line, without what is set below it."""
    return " ".join("".join(_pieces(element, _SILENT)).split())


def _all_text(element: Element | None) -> str:
    return " ".join("".join(_pieces(element, set())).split())


def _pieces(element: Element | None, silent: set[str]) -> Iterator[str]:
    if element is None:
        return
    yield element.text or ""
    for inner in element:
        kind = name(inner)
        if kind == "footnote" and silent:
            yield f" [{attribute(inner, 'ref') or '*'}] "
        elif kind == "dash":
            yield f"{_all_text(inner)} ____"
        elif kind not in silent:
            yield from _pieces(inner, silent)
        yield inner.tail or ""


def _regulation_metadata(root: Element) -> dict[str, str]:
    preamble = child(root, "preamble")
    volume, part = _all_text(child(preamble, "cfr", "title")), child(preamble, "cfr", "section")
    effective = _all_text(child(preamble, "effectiveDate"))
    number = _all_text(child(preamble, "documentNumber"))
    found = {
        "effective_date": effective,
        # One rule may come into force in parts, each of which makes another version.
        "edition": f"{number}, effective {effective}" if number and effective else number,
        "series": f"{volume} CFR {_all_text(part)}" if part is not None else "",
        "agency": _all_text(child(preamble, "agency")),
        "federal_register_date": _all_text(child(root, "fdsys", "date")),
        "source": _all_text(child(preamble, "federalRegisterURL")),
    }
    return {key: fold(value) for key, value in found.items() if value}


def _subject(root: Element) -> str:
    return _all_text(child(root, "fdsys", "title")).title().replace("'S", "'s")


def _regulation_title(root: Element) -> str:
    letter = _all_text(child(root, "preamble", "regLetter"))
    series = _regulation_metadata(root).get("series", "")
    regulation = f" (Regulation {letter})" if letter else ""
    return " ".join(f"{series} {_subject(root)}{regulation}".split())


def _first_title(root: Element) -> str | None:
    for element in (root, *root.iterdescendants()):
        if name(element).lower() == "title" and (title := _all_text(element)):
            return title
    return None


def _write_any(element: Element, builder: TextBuilder) -> None:
    """Write each element that has text of its own as a paragraph, with what is inside it."""
    has_own_text = (element.text or "").strip() or any((e.tail or "").strip() for e in element)
    if has_own_text:
        builder.inline(_all_text(element))
        builder.end_block()
        return
    for inner in element:
        _write_any(inner, builder)
