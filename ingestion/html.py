"""Reads HTML pages: the main text without menus, with headings, lists and tables."""

import re
from collections.abc import Iterator

from bs4 import BeautifulSoup, Tag

from graph.errors import UnreadableFile
from graph.fold import fold
from ingestion.builder import TextBuilder
from ingestion.decode import decode
from ingestion.headings import only_top_heading, with_bare_numbers
from ingestion.html_text import inline_text, write_element
from ingestion.media import HTML
from ingestion.parsed import ParsedDocument

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:\-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.\-]+)", re.IGNORECASE)
_FURNITURE_TAGS = ["nav", "aside", "header", "footer", "button", "dialog"]
_FURNITURE_ROLES = {
    "navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog",
    "alertdialog",
}  # fmt: skip
_MENU_NAMES = re.compile(
    r"(?:^|[-_ ])(?:nav|navbar|navigation|sidenav|menu|sidebar|pagination|pager|share|social|toc)"
    r"(?:$|[-_ ])",
    re.IGNORECASE,
)
"""Names of blocks that are furniture if they hold hardly anything but links."""
_FURNITURE_NAMES = re.compile(
    r"bread-?crumb|prev-?next|hidden-print|no-?print|d-print-none|skip-?(?:nav|link|to|main)|"
    r"cookie-?(?:banner|notice|consent)",
    re.IGNORECASE,
)
"""Names of blocks that are furniture whatever they hold."""
_LINK_SHARE = 0.5
"""Share of a block's text that must be links before its name makes it a menu."""
_MAIN = ("main", "article")


def parse_html(data: bytes) -> ParsedDocument:
    """Read an HTML page.

    Raises:
        UnreadableFile: The page has no main text ("no_text"), or is not text at all.
    """
    declared = _declared_encoding(data)
    decoded = decode(data, declared)
    soup = BeautifulSoup(decoded.text, "lxml")
    metadata = _metadata(soup)
    title = soup.title.get_text() if soup.title else ""
    builder = TextBuilder()
    elements = list(_main_elements(soup))
    left_out = elements != [soup.body]
    for element in elements:
        left_out |= _remove_furniture(element)
        write_element(element, builder)
    if not any(character.isalnum() for character in builder.text):
        raise UnreadableFile("no_text", "the page has no main text, only menus or scripts")
    return ParsedDocument(
        text=builder.text,
        page_starts=(),
        headings=with_bare_numbers(builder.headings),
        title=" ".join(fold(title).split()) or None,
        printed_title=only_top_heading(builder.headings),
        metadata=metadata,
        media_type=HTML,
        engine=f"beautifulsoup4 ({decoded.encoding})",
        tables=tuple(builder.tables),
        warnings=decoded.warnings,
        left_out=("menus, page heads and feet",) if left_out else (),
    )


def _declared_encoding(data: bytes) -> str | None:
    match = _XML_ENCODING.search(data[:1024]) or _CHARSET.search(data[:4096])
    return match[1].decode("ascii") if match else None


def _metadata(soup: BeautifulSoup) -> dict[str, str]:
    pairs = (
        (str(meta.get("name") or meta.get("property") or ""), str(meta.get("content") or ""))
        for meta in soup.find_all("meta")
    )
    return {name.lower(): fold(content).strip() for name, content in pairs if name and content}


def _main_elements(soup: BeautifulSoup) -> Iterator[Tag]:
    """Yield what holds the main text: <main>, else its role, else the articles, else the body."""
    for candidates in (
        soup.find_all("main"),
        soup.find_all(role="main"),
        soup.find_all("article"),
    ):
        outermost = [tag for tag in candidates if not any(p in candidates for p in tag.parents)]
        if any(inline_text(tag) for tag in outermost):
            yield from outermost
            return
    yield soup.body or soup


def _remove_furniture(main: Tag) -> bool:
    """Take menus and the like out of the main text; tell whether there were any."""
    furniture = [tag for tag in main.find_all(True) if _is_furniture(tag)]
    for tag in furniture:
        if not tag.decomposed:
            tag.decompose()
    return bool(furniture)


def _is_furniture(tag: Tag) -> bool:
    if tag.name in ("header", "footer"):  # those of an article are content
        return not any(parent.name in _MAIN for parent in tag.parents)
    if tag.name in _FURNITURE_TAGS or str(tag.get("role", "")).lower() in _FURNITURE_ROLES:
        return True
    if tag.has_attr("hidden") or str(tag.get("aria-hidden", "")).lower() == "true":
        return True
    return _is_named_furniture(tag)


def _is_named_furniture(tag: Tag) -> bool:
    names = " ".join([str(tag.get("id", "")), *tag.get_attribute_list("class")])
    if _FURNITURE_NAMES.search(names):
        return True
    if not _MENU_NAMES.search(names):
        return False
    linked = sum(len(inline_text(link)) for link in tag.find_all("a"))
    return linked > 0 and linked >= len(inline_text(tag)) * _LINK_SHARE
