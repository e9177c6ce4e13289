"""The series of which a document is an edition, by its file name or title, or none.

Two documents are editions of one work if their names differ only by an edition, in the same folder
and scope. That is decided for each document alone, by what is left of its name, so that the order
of ingestion does not matter. A wrong link would hide a document that is in force; so whatever can
mean something else (a volume, a meeting's date, an issue of a newsletter) makes no series, and what
is left of a name must have words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ingestion.trust import FILE_NAME, NAME_AND_PAGE, NAME_OF_EDITION, NAME_YEAR, TITLE, Found

_STATUS = r"(?:draft|final|archived?|superseded|signed)"
_VERSION = re.compile(
    r"(?:^|(?<=[\W_]))(?:"
    r"(?P<sign>v|ver|version|rev|revision|release|ed|edition)[\W_]{0,2}"
    r"(?P<number>\d{1,3}(?:[._-]\d{1,3}){0,3})(?!\d)"
    r"|(?P<ordinal>\d{1,2})(?:st|nd|rd|th)[\W_]+(?:edition|revision))(?![^\W\d_])",
    re.IGNORECASE,
)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
_CENTURY = r"(?:19|20)\d{2}"
_DATE = re.compile(
    rf"(?<!\d)(?:{_CENTURY}[-_.]?[01]\d[-_.]?[0-3]\d|[01]?\d[-_.][0-3]?\d[-_.]{_CENTURY}"
    rf"|{_CENTURY}[-_.][01]\d|{_CENTURY}[01]\d)(?!\d)"
    rf"|(?<![a-z]){_MONTH}[\W_]*(?:\d{{1,2}}[\W_]+)?{_CENTURY}(?!\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(rf"(?<![\d.])(?:FY[\W_]?)?{_CENTURY}(?:[-_/](?:{_CENTURY}|\d\d))?(?![\d])", re.I)
_AT_END = re.compile(r"^[\W_]*\0|\0[\W_]*$")
"""Where the mark of what was taken out stands at an end of the name."""
_BEFORE_A_YEAR = re.compile(
    r"(?:^|[\W_])(?:in|of|for|by|since|to|until|from|through|section|part|chapter|form|rule|no|"
    r"number|order|act|sp|fips|iso|rfc|public law)[\W_]*$",
    re.IGNORECASE,
)
_NO_EDITIONS = re.compile(
    r"(?:^|[\W_])(?:news\w*|minutes|agendas?|bulletins?|memos?|memorand\w+|letters?|notices?|"
    r"announce\w*|press|presentations?|slides|transcripts?|meetings?|webinars?|symposi\w+|"
    r"workshops?|hearings?|testimony|speech\w*|blogs?|posts?|digests?|journals?|issues?|decisions?|"
    r"determinations?|orders?|opinions?|rulings?|updates?|changelog|alerts?|invoices?|contracts?|"
    r"readme|index|licen[sc]e)(?=$|[\W_])",
    re.IGNORECASE,
)
"""Words of what comes out again and again without replacing what came before."""
_SHELF = re.compile(r"(?:archived?|old(?:er)?|superseded|previous|past|current|latest)", re.I)
"""Folders that tell the age of what is in them."""
_PIECE = re.compile(
    r"(?:^|[\W_])(?:part|vol|volume|chapter|book|module|unit|lesson|appendix|annex|number|no|nr)"
    r"[\W_]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a document when its series is looked for."""

    title: str
    edition: str | None
    """From the document itself or a scope map, not from the file's name."""
    scope: str
    is_own_title: bool = True
    """Whether the title stands in the document, and is not one that its properties may have kept
    from another file."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A name without its edition."""

    rest: str
    number: str = ""
    """Version that was taken out, as written."""
    spelled: bool = False
    """Whether more than a "v" or a bare figure says that it is a version."""
    year: int | None = None
    dated: bool = False
    draft: bool = False

    @property
    def is_yearly(self) -> bool:
        """Return whether only a year tells the editions apart, of a work without a number."""
        # "36 WTD 384 (2017)" cites one document.
        return bool(self.year) and not self.dated and not re.search(r"\d", self.rest)


@dataclass(frozen=True, slots=True)
class Series:
    """A series, and the mark of the edition in the name that told it."""

    found: Found[str]
    year: int | None = None
    """The year by which this edition is told from others, where it is no version."""
    draft: bool = False
    """Whether the name says that this is a draft."""


def has_no_editions(name: str) -> bool:
    """Return whether a name is that of something that comes out again and replaces nothing."""
    return _NO_EDITIONS.search(name) is not None


def plain_series(words: str) -> str | None:
    """Return the name of a work without version and year; None where nothing is left of it."""
    cut = None if has_no_editions(words) else _cut(words, None)
    return cut.rest.strip(" -_,.:()") if cut and _has_words(cut.rest) else None


def find_series(path: PurePath, known: Known) -> Series | None:
    """Find the series by the file's name, else by a title that carries its edition.

    Args:
        path: The file's path below the ingested folder.
        known: What is known of the document.
    """
    stem = path.stem
    if has_no_editions(stem) or has_no_editions(known.title):
        return None
    cut = _cut(stem, known.edition)
    source = _source(cut, known.edition) if cut and _has_words(cut.rest) else None
    if cut and source:
        found = Found(series_name(path, known.scope, cut.rest), source)
        return Series(found, cut.year if source == NAME_YEAR else None, cut.draft)
    if cut is None or cut.dated or not known.is_own_title:
        return None
    titled = _cut(known.title, known.edition)
    if titled and (titled.spelled or titled.is_yearly) and _has_words(titled.rest):
        found = Found(series_name(path, known.scope, titled.rest), TITLE)
        return Series(found, None if titled.spelled else titled.year, titled.draft)
    return None


def series_name(path: PurePath, scope: str, words: str) -> str:
    """Return the name of a series: scope and folders, then the words that its editions share."""
    folders = [part for part in path.parent.parts if not _SHELF.fullmatch(part)]
    if scope != "default" and scope not in folders[:1]:
        folders.insert(0, scope)
    return "/".join([*folders, _spaced(words)])


def _cut(name: str, edition: str | None) -> _Cut | None:
    """Take version, date and year out of a name; None where it has several and means one."""
    versions = list(_VERSION.finditer(name))
    if len(versions) > 1:
        return None
    rest, number, spelled = name, "", False
    for match in versions:
        number = match["ordinal"] or match["number"]
        spelled = bool(match["ordinal"]) or len(match["sign"]) > 1 or not number.isdigit()
        rest = f"{rest[: match.start()]}\0{rest[match.end() :]}"
    rest, date, fits = _without(_DATE, rest)
    if not fits:
        return None
    if not number and edition and (bare := _bare_edition(rest, edition)):
        number, rest = bare, rest[: rest.rindex(bare)]
    rest, year, fits = _without(_YEAR, rest)
    if not fits:
        return None
    rest, draft = _without_status(rest.replace("\0", " "))
    return _Cut(rest, number, spelled, _last_year(year), bool(date), draft)


def _without(pattern: re.Pattern[str], name: str) -> tuple[str, str, bool]:
    """Take the only match out of a name; return the rest, the match, and whether it fits.

    Several, or one in the middle, or one that belongs to the words before it, do not fit.
    """
    matches = list(pattern.finditer(name))
    if not matches:
        return name, "", True
    (match, *others) = matches
    rest = f"{name[: match.start()]}\0{name[match.end() :]}"
    ends = re.sub(rf"[\W_]*{_STATUS}[\W_]*$", "", re.sub(r"(?:\0[\W_]*)+", "\0", rest), flags=re.I)
    fits = not others and bool(_AT_END.search(ends))
    return rest, match[0], fits and not _BEFORE_A_YEAR.search(name[: match.start()])


def _last_year(written: str) -> int | None:
    """Return the year of "2021" or "FY2023-24", of which it is the last one."""
    years = re.findall(r"\d+", written)
    return int(years[0][: 4 - len(years[-1])] + years[-1]) if years else None


def _without_status(name: str) -> tuple[str, bool]:
    """Take words such as "draft" and "final" from the end; tell whether it is a draft."""
    ending = re.compile(rf"[\W_]+({_STATUS})[\W_]*$", re.IGNORECASE)
    draft = False
    while match := ending.search(name):
        draft = draft or match[1].lower() == "draft"
        name = name[: match.start()]
    return name, draft


def _bare_edition(name: str, edition: str) -> str | None:
    """Return the figures at the end of a name that are those of a dotted edition: 131 of 1.31."""
    match = re.search(r"(?<=[-_ ])(\d{2,5})[\W_]*$", name)
    number = re.match(r"\d+(?:\.\d+)+", edition)
    if not match or not number or _PIECE.search(name[: match.start()]):
        return None
    return match[1] if match[1] == number[0].replace(".", "") else None


def _source(cut: _Cut, edition: str | None) -> str | None:
    """Return how the series is known from a name; None where it could mean something else."""
    if cut.number and _same_number(cut.number, edition):
        return NAME_AND_PAGE
    if cut.number:
        # "v2" alone may be a second volume.
        return FILE_NAME if cut.spelled else None
    if edition:
        return NAME_OF_EDITION
    return NAME_YEAR if cut.is_yearly else None


def _same_number(written: str, edition: str | None) -> bool:
    """Return whether a version in a name is that of the document: "v51" and 5.1, "v2" and 2.0."""
    number = re.match(r"\d+(?:\.\d+)*", edition or "")
    if not number:
        return False
    parts = re.split(r"[._-]", written)
    stated = number[0].split(".")
    return "".join(parts) == "".join(stated) or _trimmed(parts) == _trimmed(stated)


def _trimmed(parts: Sequence[str]) -> list[int]:
    numbers = [int(part) for part in parts]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return numbers


def _spaced(words: str) -> str:
    parts = re.split(r"[\s_,;()]+|(?<=\D)[-.]+|[-.]+(?=\D)", words.casefold())
    return " ".join(part for part in (part.strip("-.") for part in parts) if part)


def _has_words(rest: str) -> bool:
    """Return whether what is left names a work: two words, or a long one."""
    words = re.findall(r"[^\W\d_]{3,}", rest)
    return len(words) > 1 or any(len(word) > 4 for word in words)
