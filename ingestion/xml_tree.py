"""Parses XML that may be hostile: no entities, no network, no unbounded trees."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

import lxml.etree as _etree

from graph.errors import UnreadableFile

etree = cast("Any", _etree)
PARSER = f"lxml {etree.__version__}"
_LIMIT = "XML_PARSE_HUGE"
"""Stands in libxml2's messages about its limits."""


class Element(Protocol):
    """What is used of lxml's elements, which have no types of their own."""

    @property
    def tag(self) -> object:
        """A string, or a function for what is no element, such as an entity."""
        ...

    @property
    def text(self) -> str | None:
        """Text before the first child."""
        ...

    @property
    def tail(self) -> str | None:
        """Text behind the element, before its next sibling."""
        ...

    @property
    def attrib(self) -> Mapping[str, str]:
        """Attributes; names have their namespace in braces in front."""
        ...

    def __iter__(self) -> Iterator["Element"]:
        """Iterate over the children."""
        ...

    def iterdescendants(self) -> Iterator["Element"]:
        """Iterate over everything inside, in document order."""
        ...


def parse_xml(data: bytes) -> Element:
    """Return the root element.

    Entities stay unresolved, nothing is fetched, and libxml2's own limits on depth and size hold.

    Raises:
        UnreadableFile: It is no well-formed XML ("broken"), or declares entities ("unsupported"),
            whose text would be lost.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise UnreadableFile("broken", _syntax_problem(error)) from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and next(declared.iterentities(), None) is not None:
        raise UnreadableFile(
            "unsupported", "the XML declares entities, which are not read; save it without them"
        )
    return cast("Element", root)


def _syntax_problem(error: Any) -> str:
    """Say where the XML is wrong; the parser's own words are for programmers."""
    line, _ = error.position
    if _LIMIT in str(error):
        return f"the XML is nested too deeply or has too long a value in line {line}; split it"
    return f"no well-formed XML: line {line} is damaged or cut off; fetch the file again or mend it"


def name(element: Element) -> str:
    """Return an element's name without its namespace; "" for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element | None, wanted: str) -> str | None:
    """Return the value of the attribute of that name in any namespace."""
    if element is None:
        return None
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == wanted:
            return value
    return None


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first child of that name, its first child of the next name, and so on."""
    for wanted in path:
        if element is None:
            return None
        element = next((below for below in element if name(below) == wanted), None)
    return element
