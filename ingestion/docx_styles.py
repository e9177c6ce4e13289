"""What a Word document's styles and list definitions say about a paragraph.

Elements and attributes are matched by their names without namespaces, so that the transitional and
the strict form of the format (ISO/IEC 29500) are read alike. Section numbers refer to part 1.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.numbering import roman_numeral
from ingestion.xml_tree import Element, attribute, child, name, parse_xml

_HEADING_NAME = re.compile(r"heading (\d)$", re.IGNORECASE)
_DEEPEST_STYLE = 20
_PLACEHOLDER = re.compile(r"%(\d)")
_MOST_LETTERS = 26 * 5
"""Numbers above are written as figures: Word repeats the letter, "zzzzz" and on."""
_ORDINALS = ("th", "st", "nd", "rd")


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style, what it inherits included."""

    name: str
    """In lower case, such as "heading 1", "toc 2", "title"."""
    outline_level: int | None
    """1 for the top; None for text."""
    list_id: str | None
    list_level: int | None


_PLAIN = Style("", None, None, None)


class Styles:
    """Paragraph styles by id."""

    def __init__(self, part: bytes | None) -> None:
        root = parse_xml(part) if part else None
        self._elements = {
            attribute(style, "styleId"): style
            for style in (root if root is not None else ())
            if name(style) == "style" and attribute(style, "type") in ("paragraph", None)
        }
        self._styles: dict[str | None, Style] = {}

    def of(self, paragraph: Element) -> Style:
        """Return the style of a paragraph."""
        style_id = attribute(child(paragraph, "pPr", "pStyle"), "val")
        if style_id not in self._styles:
            self._styles[style_id] = self._resolve(style_id)
        return self._styles[style_id]

    def _resolve(self, style_id: str | None) -> Style:
        chain = list(self._chain(style_id))
        if not chain:
            return _PLAIN
        label = (attribute(child(chain[0], "name"), "val") or style_id or "").lower()
        level, list_id, list_level = None, None, None
        for style in reversed(chain):  # from the most general on
            if match := _HEADING_NAME.match(attribute(child(style, "name"), "val") or ""):
                level = int(match[1])
            properties = child(style, "pPr")
            level = outline_level(properties, level)
            numbers = child(properties, "numPr")
            list_id = attribute(child(numbers, "numId"), "val") or list_id
            depth = attribute(child(numbers, "ilvl"), "val")
            list_level = int(depth) if depth and depth.isdecimal() else list_level
        return Style(label, level, list_id, list_level)

    def _chain(self, style_id: str | None) -> Iterator[Element]:
        """Yield the style and what it is based on; a loop of them ends somewhere."""
        for _ in range(_DEEPEST_STYLE):
            style = self._elements.get(style_id)
            if style is None:
                return
            yield style
            style_id = attribute(child(style, "basedOn"), "val")


def outline_level(properties: Element | None, inherited: int | None) -> int | None:
    """Return the outline level that paragraph properties set (17.3.1.20), else the inherited."""
    value = attribute(child(properties, "outlineLvl"), "val")
    if value is None or not value.isdecimal():
        return inherited
    return int(value) + 1 if int(value) < 9 else None  # 9 means: text


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a list definition (17.9.6)."""

    form: str
    text: str
    start: int


_NO_LEVEL = _Level("bullet", "", 1)


@dataclass(frozen=True, slots=True)
class Label:
    """What stands before an item of a list."""

    text: str
    """Such as "4.2" or "(a)"; empty for bullets."""
    level: int
    """0 for the outermost."""


class Lists:
    """Counts the items of all lists of a document, in the order in which they are asked for."""

    def __init__(self, part: bytes | None) -> None:
        root = parse_xml(part) if part else None
        definitions: dict[str | None, Element] = {}
        self._abstract: dict[str, str | None] = {}
        self._starts: dict[tuple[str, int], int] = {}
        for element in root if root is not None else ():
            if name(element) == "abstractNum":
                definitions[attribute(element, "abstractNumId")] = element
            elif name(element) == "num":
                self._add_list(element)
        self._levels = {key: _levels(element) for key, element in definitions.items()}
        self._style_levels = {
            (key, attribute(child(level, "pStyle"), "val")): _depth(level)
            for key, element in definitions.items()
            for level in element
            if name(level) == "lvl"
        }
        self._counts: dict[str | None, dict[int, int]] = {}
        self._seen: set[tuple[str, int]] = set()

    def label(self, paragraph: Element, style: Style) -> Label | None:
        """Count a paragraph and return its label; None for one that belongs to no list."""
        numbers = child(paragraph, "pPr", "numPr")
        list_id = attribute(child(numbers, "numId"), "val") or style.list_id
        if list_id is None or list_id not in self._abstract:
            return None
        abstract = self._abstract[list_id]
        depth = attribute(child(numbers, "ilvl"), "val")
        if depth and depth.isdecimal():
            level = int(depth)
        else:
            style_id = attribute(child(paragraph, "pPr", "pStyle"), "val")
            level = self._style_levels.get((abstract, style_id), style.list_level or 0)
        return Label(self._count(list_id, abstract, level), level)

    def _add_list(self, element: Element) -> None:
        list_id = attribute(element, "numId") or ""
        self._abstract[list_id] = attribute(child(element, "abstractNumId"), "val")
        for override in element:
            start = attribute(child(override, "startOverride"), "val")
            if start and start.isdecimal():
                self._starts[list_id, _depth(override)] = int(start)

    def _count(self, list_id: str, abstract: str | None, level: int) -> str:
        levels = self._levels.get(abstract, {})
        counts = self._counts.setdefault(abstract, {})
        start = levels.get(level, _NO_LEVEL).start
        if (list_id, level) not in self._seen and (list_id, level) in self._starts:
            counts[level] = self._starts[list_id, level]  # a list that begins anew
        else:
            counts[level] = counts[level] + 1 if level in counts else start
        self._seen.add((list_id, level))
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        definition = levels.get(level, _NO_LEVEL)
        if definition.form in ("bullet", "none") and not _PLACEHOLDER.search(definition.text):
            return definition.text.strip() if definition.form == "none" else ""

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            shown = levels.get(at, _NO_LEVEL)
            return _written(counts.get(at, shown.start), shown.form)

        return _PLACEHOLDER.sub(number, definition.text).strip()


def _depth(element: Element) -> int:
    depth = attribute(element, "ilvl") or ""
    return int(depth) if depth.isdecimal() else 0


def _levels(definition: Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for element in definition:
        depth = attribute(element, "ilvl") or ""
        if name(element) != "lvl" or not depth.isdecimal():
            continue
        start = attribute(child(element, "start"), "val") or "1"
        levels[int(depth)] = _Level(
            form=attribute(child(element, "numFmt"), "val") or "decimal",
            text=attribute(child(element, "lvlText"), "val") or "",
            start=int(start) if start.isdecimal() else 1,
        )
    return levels


def _written(number: int, form: str) -> str:
    """Write a number as numFmt (17.18.59) says; other forms than these few as figures."""
    if form in ("upperLetter", "lowerLetter") and 0 < number <= _MOST_LETTERS:
        letters = chr(ord("A") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters if form == "upperLetter" else letters.lower()
    if form in ("upperRoman", "lowerRoman"):
        numeral = roman_numeral(number)
        return numeral if form == "upperRoman" else numeral.lower()
    if form == "ordinal":
        last = number % 10 if number % 10 < 4 and number // 10 % 10 != 1 else 0
        return f"{number}{_ORDINALS[last]}"
    if form in ("none", "bullet"):
        return ""
    return f"{number:02}" if form == "decimalZero" else str(number)
