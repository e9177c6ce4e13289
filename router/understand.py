"""What a question says about where its answer stands, found by rules.

What is certain narrows the search; what is likely lifts passages that fit. A name is certain when
it is written out and nothing contradicts it: a wrong restriction would lose the answer, a missing
one costs only rank.
"""

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.fold import fold
from graph.model import Holding
from router.addresses import addresses
from router.references import references
from router.retrieve import Guidance

ABOUT_WORDS = 20
"""In a question of at most so many words an address is what is asked about; in a longer text it
is mentioned, like a citation."""

_VERSION = re.compile(
    r"\b(?:version|ver\.?|edition|ed\.|revision|rev\.?|release|v(?=\.?\s?\d))\s?\.?\s?"
    r"(?P<number>\d{1,4}(?:[.\-]\d{1,4})*[a-z]?(?:[ \-](?:draft|final))?)(?![\w(])",
    re.IGNORECASE,
)
_BEHIND_NAME = re.compile(
    r"[\s,]*(?:\(|v\.?\s?)?(?P<number>\d{1,3}(?:[.\-]\d{1,3})+[a-z]?)(?![\w.\-(]*\w)", re.IGNORECASE
)
_YEAR = re.compile(r"(?<![\w.\-/$§#])(?P<year>(?:19|20)\d\d)(?![\w/]|[.\-,]\d)")
_NO_YEAR_BEFORE = re.compile(
    r"(?:section|sec\.?|rfc|no\.?|number|form|wac|rcw|cfr|usc|part|\d)\s$", re.IGNORECASE
)
_AS_OF = re.compile(r"(?:as of|in force (?:in|at the end of))(?: the year)?\s+$", re.IGNORECASE)
_EDITION_AFTER = re.compile(r"\s+(?:edition|version|revision|supplement)\b", re.IGNORECASE)
_FISCAL = re.compile(
    r"\b(?:FY|fiscal year)\s?'?(?P<year>(?:20)?\d\d)(?:\s?[\-\u2013]\s?(?P<end>(?:20)?\d\d))?\b"
)
_CURRENT = re.compile(
    r"\b(?:current|latest|newest|most recent|today's)\s+(?:[\w.\-]+\s+){0,4}?(?:editions?|"
    r"versions?|revisions?|policy|policies|standards?|specifications?|manuals?|guides?|guidance|rules?)\b",
    re.IGNORECASE,
)
_OLD = re.compile(
    r"\b(?:previous|earlier|former|old(?:er)?|superseded|before|prior|differ\w*|chang\w*|compar\w*)\b",
    re.IGNORECASE,
)
_FILLERS = {"the", "a", "an", "of", "for", "and", "to", "in", "on", "u.s", "us"}


@dataclass(frozen=True, slots=True)
class _Named:
    """A series that a question names, wholly or in part."""

    series: str
    whole: bool
    start: int
    """Where the name stands in the question."""
    end: int


def understand(question: str, holdings: Sequence[Holding]) -> Guidance:
    """Return what the question says, as far as the collection has it.

    Args:
        question: As typed.
        holdings: Which series, editions and years the caller may see.
    """
    text = fold(question)
    editions = _editions(holdings)
    named = list(_series(text, list(editions)))
    reader = _Reader(text, editions, named, {h.year for h in holdings if h.year is not None})
    reader.read_editions()
    reader.read_years()
    reader.read_series()
    reader.read_scopes({h.scope for h in holdings})
    reader.read_addresses()
    reader.read_currency()
    return reader.guidance()


class _Reader:
    """Reads one question; each step adds what it finds."""

    def __init__(
        self,
        text: str,
        editions: Mapping[str, frozenset[str]],
        named: Sequence[_Named],
        years: set[int],
    ) -> None:
        self._text = text
        self._editions = editions
        self._named = named
        self._years = years
        self._certain: dict[str, str] = {}
        self._year: int | None = None
        self._as_of: int | None = None
        self._current = False
        self._wishes: dict[tuple[str, str], None] = {}
        self._addresses: tuple[str, ...] = ()
        self._reasons: list[str] = []

    def read_editions(self) -> None:
        """Find editions, and tell whose they are: of the series named, or of the only one."""
        found: dict[tuple[str, str], bool] = {}
        for number in self._numbers():
            owners = self._owners(number)
            for series, edition, certain in owners:
                found[series, edition] = certain
            if not owners and self._named:
                self._reasons.append(f"edition {number} is not in the collection: not searched for")
        if len(found) == 1 and all(found.values()):
            ((series, edition),) = found
            self._certain = {"series": series, "edition": edition}
            self._reasons.append(f'edition {edition} of "{series}": only this one is searched')
            return
        for series, edition in found:
            self._wish("edition", edition, f'edition {edition} of "{series}"')
            self._wish("series", series)

    def read_years(self) -> None:
        """Find the year of an edition, or the year whose law is asked for."""
        for match in _YEAR.finditer(self._text):
            year, before = int(match["year"]), self._text[: match.start()]
            if _NO_YEAR_BEFORE.search(before):
                continue
            if _AS_OF.search(before):
                self._as_of = year
                self._reasons.append(f"as of {year}: only editions in force then are searched")
            elif year in self._years:
                self._add_year(year, certain=self._is_edition_year(match))
        for match in _FISCAL.finditer(self._text):
            written = match["end"] or match["year"]
            year = int(written) + (2000 if len(written) == 2 else 0)
            if year in self._years:
                self._add_year(year, certain=False)

    def read_series(self) -> None:
        """Find series that are named without an edition."""
        if "series" in self._certain:
            return
        # "Common Policy" also stands in "Federal Common Policy CA": a name alone is never certain.
        for one in self._named:
            self._wish("series", one.series, f'"{one.series}"')

    def read_scopes(self, scopes: set[str]) -> None:
        """Find scopes that are named, such as "certificate policy"."""
        for scope in sorted(scopes):
            words = re.findall(r"\w+", scope)
            if len(words) > 1 and re.search(_spaced(words), self._text, re.IGNORECASE):
                self._wish("scope", scope, f'scope "{scope}"')

    def read_addresses(self) -> None:
        """Find sections by number, where the question is about them."""
        if len(self._text.split()) > ABOUT_WORDS:
            return
        cited = references(self._text)
        numbers = [address.number for address in addresses(self._text)]
        plain = [number for number in numbers if not any(number in name for name in cited)]
        self._addresses = tuple(dict.fromkeys([*cited, *plain]))
        for number in self._addresses:
            self._reasons.append(f"{number} is looked up first")

    def read_currency(self) -> None:
        """Find whether only what is in force is asked for."""
        if "edition" in self._certain or self._year is not None or self._as_of is not None:
            return
        if _CURRENT.search(self._text) and not _OLD.search(self._text):
            self._current = True
            self._reasons.append("the current edition is asked for: only current ones are searched")

    def guidance(self) -> Guidance:
        """Return what was found."""
        return Guidance(
            series=self._certain.get("series"),
            edition=self._certain.get("edition"),
            year=self._year,
            as_of=self._as_of,
            current_only=self._current,
            addresses=self._addresses,
            wishes=tuple(self._wishes),
            reasons=tuple(self._reasons),
        )

    def _numbers(self) -> list[str]:
        found = [match["number"] for match in _VERSION.finditer(self._text)]
        for one in self._named:
            if match := _BEHIND_NAME.match(self._text, one.end):
                found.append(match["number"])
        return list(dict.fromkeys(found))

    def _owners(self, number: str) -> list[tuple[str, str, bool]]:
        """Return series and edition that a number can mean, and whether that is certain."""
        matches = [
            (series, edition)
            for series, editions in self._editions.items()
            for edition in editions
            if _normal(edition) == _normal(number)
        ]
        named = {one.series for one in self._named}
        meant = [(series, edition) for series, edition in matches if series in named]
        if meant:
            return [(series, edition, len(meant) == 1) for series, edition in meant]
        return [(series, edition, False) for series, edition in matches]

    def _is_edition_year(self, match: re.Match[str]) -> bool:
        if _EDITION_AFTER.match(self._text, match.end()):
            return True
        # "the 2021 Standard Specifications"
        return any(one.whole and one.start - match.end() == 1 for one in self._named)

    def _add_year(self, year: int, *, certain: bool) -> None:
        if certain and self._year in (None, year):
            self._year = year
            self._reasons.append(f"{year} names an edition: only this year is searched")
        else:
            self._wish("year", str(year), f"year {year}")

    def _wish(self, field: str, value: str, reason: str = "") -> None:
        if (field, value) not in self._wishes and reason:
            self._reasons.append(f"{reason} may be meant: its passages are lifted")
        self._wishes[field, value] = None


def _editions(holdings: Sequence[Holding]) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for holding in holdings:
        if holding.series:
            found[holding.series] |= {holding.edition} if holding.edition else set()
    return {series: frozenset(editions) for series, editions in found.items()}


def _series(text: str, names: Sequence[str]) -> Iterator[_Named]:
    """Yield the series that are named: whole names first, then those known by what sets them apart.

    An acronym in front of a number, as in "RCW 82.04.050", cites a document and names no series.
    """
    taken: list[tuple[int, int]] = []
    for name in sorted(names, key=len, reverse=True):
        words = re.findall(r"\w+", name)
        acronym = len(words) == 1 and name.isupper()
        flags = re.NOFLAG if acronym or len(words) == 1 else re.IGNORECASE
        for match in re.finditer(_spaced(words), text, flags) if words else ():
            inside = any(start <= match.start() and match.end() <= end for start, end in taken)
            if inside or (acronym and re.match(r"[\s§]*\d|\s+(?:\w\s)?\d", text[match.end() :])):
                continue
            taken.append((match.start(), match.end()))
            yield _Named(name, True, match.start(), match.end())
            break
    if not taken:
        yield from _partly(text, names)


def _partly(text: str, names: Sequence[str]) -> Iterator[_Named]:
    """Yield the series whose own words the question has: those that no other series has.

    At least one own word and two words of the name stand in the question, side by side.
    """
    words_of = {name: _words(name) for name in names}
    asked = re.finditer(r"\w+", text.lower())
    places = [match for match in asked if match.group() not in _FILLERS]
    for name, words in words_of.items():
        others = {word for other, its in words_of.items() if other != name for word in its}
        own = words - others
        for first, second in itertools.pairwise(places):
            pair = {first.group(), second.group()}
            if len(pair) == 2 and pair <= words and pair & own:
                yield _Named(name, False, first.start(), second.end())
                break


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w+", name.lower())) - _FILLERS


def _normal(edition: str) -> tuple[str, ...]:
    """Return an edition's parts, so that "v2.4", "2-4" and "2.4" are the same."""
    parts = re.findall(r"\d+|[a-z]+", edition.lower())
    return tuple(part for part in parts if part not in ("v", "version", "rev", "revision"))


def _spaced(words: Sequence[str]) -> str:
    return r"\b" + r"[\W_]+".join(map(re.escape, words)) + r"\b"
