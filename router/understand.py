"""What a question says about where its answer stands, found by rules.

What is certain narrows the search; what is likely lifts passages that fit. A name is certain when
it is written out and nothing contradicts it: a wrong restriction would lose the answer, a missing
one costs only rank.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph.fold import fold
from graph.model import Holding
from router.addresses import addresses, is_host
from router.references import references
from router.retrieve import Guidance
from router.years import Year, years

ABOUT_WORDS = 20
"""In a question of at most so many words an address is what is asked about; in a longer text it
is mentioned, like a citation."""

_NUMBER = r"\d{1,4}(?:[.\-]\d{1,4}){0,6}[a-z]?(?:[ \-](?:draft|final))?"
_VERSION = re.compile(
    r"\b(?:versions?|ver|editions?|ed|revisions?|rev|releases?|v(?=\.?\s?\d))\s?\.?\s?"
    rf"(?P<number>{_NUMBER})(?![\w(])(?P<others>(?:(?:,|,? (?:and|or|to|through|vs\.?)) {_NUMBER}"
    r"(?![\w(])){0,6})",
    re.IGNORECASE,
)
_OTHER = re.compile(_NUMBER, re.IGNORECASE)
_BEHIND_NAME = re.compile(
    r"[\s,]*(?:\(|v\.?\s?)?(?P<number>\d{1,3}(?:[.\-]\d{1,3}){1,6}[a-z]?)(?![\w.\-(]*\w)"
    r"(?!\s?%|\s(?:percent|per|thousand|million|billion|[kmg]?hz|[kmgt]b|days?|hours?|years?)\b)",
    re.IGNORECASE,
)
_BEHIND_FIGURE = re.compile(r"-(?P<number>\d{1,2})(?![\w.\-(]*\w)")
"""Behind a name with a figure in it, as in "SP 800-63-3"."""
# "before version 2", "not the 2018 edition": any edition but this one is meant.
_BUT = re.compile(
    r"\b(?:before|after|since|until|than|without|except|not|unlike|prior to|up to)\s"
    r"(?:in\s|for\s)?(?:the\s|its\s)?$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:compar(?:e[ds]?|ing|ison)|differs?|differed|differences?|different from|versus|vs|"
    r"what (?:has |have |was )?changed|"
    r"chang(?:e|ed|es) (?:since|from|between|in (?:version|edition))|"
    r"how (?:did|has|have|does)\b[^.?!]{0,80}\bchanged?)\b",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(r"(?<![\w.])[A-Z]\w*\s$")
_CURRENT = re.compile(
    r"\b(?:current|latest|newest|most recent|today's)\s+(?:[\w.\-]+\s+){0,4}?(?:editions?|"
    r"versions?|revisions?|policy|policies|standards?|specifications?|manuals?|guides?|guidance|rules?)\b",
    re.IGNORECASE,
)
_CURRENT_WORD = re.compile(r"\b(?:current|latest|newest|most recent|today's)\s$", re.IGNORECASE)
_IN_FORCE = re.compile(
    r"\b(?:currently|now) in (?:force|effect)\b|\bin (?:force|effect) (?:now|today|at present)\b"
    r"|\b(?:which|what) (?:[\w.\-]+ ){0,4}?(?:is|are) in force\b(?! (?:in|at|on|until|when|if)\b)",
    re.IGNORECASE,
)
_OLD = re.compile(
    r"\b(?:previous|earlier|former|old(?:er)?|superseded|before|prior|differ\w*|chang\w*|compar\w*)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_NEAR = 40
"""Characters around a find that tell what it is."""
_FILLERS = {"the", "a", "an", "of", "for", "and", "to", "in", "on"}


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
    named = _series(text, list(editions))
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
        self._compared = bool(_COMPARED.search(text))
        self._dated = False
        self._wishes: dict[tuple[str, str], None] = {}
        self._addresses: tuple[str, ...] = ()
        self._reasons: list[str] = []

    def read_editions(self) -> None:
        """Find editions, and tell whose they are: of the series named, or of the only one."""
        found: dict[tuple[str, str], bool] = {}
        for number, clear in self._numbers().items():
            owners = self._owners(number)
            for series, edition, certain in owners:
                found[series, edition] = certain and clear
            if not owners and self._named:
                self._reasons.append(f"edition {number} is not in the collection: not searched for")
        self._dated = bool(found)
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
        found = years(self._text)
        as_of = {one.year for one in found if one.kind == "as of"}
        if len(as_of) == 1 and not self._compared:
            (self._as_of,) = as_of
            self._reasons.append(f"as of {self._as_of}: only editions in force then are searched")
        held = [one for one in found if one.kind != "as of" and one.year in self._years]
        of_editions = [one for one in held if self._is_edition_year(one)]
        self._dated |= bool(as_of or of_editions)
        current = _CURRENT.search(self._text)
        # "the current edition and the 2018 edition" names two, "the current 2018 edition" one.
        beside = current is not None and not any(
            current.start() <= one.start < current.end() for one in held
        )
        only = len({one.year for one in held}) == 1 and not self._compared and not beside
        for one in held:
            clear = only and one in of_editions and not _BUT.search(self._before(one.start))
            self._add_year(one.year, certain=clear)

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
        cited = [
            name for name in references(self._capitalised()) if not is_host(name.rpartition(" ")[2])
        ]
        numbers = [address.number for address in addresses(self._text)]
        plain = [number for number in numbers if not any(number in name for name in cited)]
        self._addresses = tuple(dict.fromkeys([*cited, *plain]))
        for number in self._addresses:
            self._reasons.append(f"{number} is looked up first")

    def read_currency(self) -> None:
        """Find whether only what is in force is asked for."""
        if self._dated or self._compared or _OLD.search(self._text):
            return
        asked = _CURRENT.search(self._text) or _IN_FORCE.search(self._text)
        if asked or any(
            one.whole and _CURRENT_WORD.search(self._before(one.start)) for one in self._named
        ):
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

    def _numbers(self) -> dict[str, bool]:
        """Return the numbers of editions, and whether each is meant itself, by where it stands."""
        found: dict[str, bool] = {}
        for match in _VERSION.finditer(self._text):
            clear = self._is_meant(match.start()) and not self._is_of_another(match.start())
            for number in (match["number"], *_OTHER.findall(match["others"])):
                found[number] = found.get(number, True) and clear
        for one in self._named:
            behind = _BEHIND_NAME.match(self._text, one.end)
            if behind is None and re.search(r"\d", one.series):
                behind = _BEHIND_FIGURE.match(self._text, one.end)
            if behind:
                clear = self._is_meant(one.start)
                found[behind["number"]] = found.get(behind["number"], True) and clear
        return found

    def _before(self, start: int) -> str:
        return self._text[max(0, start - _NEAR) : start]

    def _is_meant(self, start: int) -> bool:
        return not self._compared and not _BUT.search(self._before(start))

    def _is_of_another(self, start: int) -> bool:
        """Tell whether a version is that of something else, as in "TLS version 1.2"."""
        word = _WORD_BEFORE.search(self._before(start))
        if word is None or (len(word.group()) >= start and not word.group().strip().isupper()):
            return False  # the first word of a question has a capital anyway
        ends = {one.end for one in self._named}
        initials = {"".join(w[0] for w in _tokens(one.series)).upper() for one in self._named}
        return start - 1 not in ends and not any(
            name.endswith(word.group().strip()) for name in initials
        )

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
        if meant or any(one.whole for one in self._named):
            return [(series, edition, len(meant) == len(named) == 1) for series, edition in meant]
        return [(series, edition, False) for series, edition in matches]

    def _is_edition_year(self, one: Year) -> bool:
        # "the 2021 Standard Specifications"
        return one.kind == "edition" or any(
            name.whole and name.start - one.end == 1 for name in self._named
        )

    def _capitalised(self) -> str:
        """Return the question with its acronyms as the collection writes them: "wac 458-20-100"."""

        def written(match: re.Match[str]) -> str:
            upper = match.group().upper()
            return upper if upper in self._editions else match.group()

        return re.sub(r"\b[A-Za-z]{2,6}(?=\s\d)", written, self._text)

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


def _series(text: str, names: Sequence[str]) -> list[_Named]:
    """Return the series that are named: whole names, or else those known by what sets them apart.

    An acronym beside a number, as in "RCW 82.04.050", cites a document and names no series.
    """
    words_of = {name: _tokens(name) for name in names}
    starting: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(names, key=lambda name: (-len(words_of[name]), name)):
        if words_of[name]:
            starting[words_of[name][0].lower()].append(name)
    places = [m for m in _WORD.finditer(text) if m.group().lower() not in _FILLERS]
    found: list[_Named] = []
    at = 0
    while at < len(places):
        name = _name_at(text, places, at, starting, words_of)
        length = len(words_of[name]) if name is not None else 1
        if name is not None:
            found.append(_Named(name, True, places[at].start(), places[at + length - 1].end()))
        at += length
    return found or list(_partly(places, words_of))


def _name_at(
    text: str,
    places: Sequence[re.Match[str]],
    at: int,
    starting: Mapping[str, Sequence[str]],
    words_of: Mapping[str, Sequence[str]],
) -> str | None:
    """Return the longest name that begins at a word of the question."""
    for name in starting.get(places[at].group().lower(), ()):
        words = words_of[name]
        here = [place.group() for place in places[at : at + len(words)]]
        if len(words) > 1:
            if [word.lower() for word in here] == [word.lower() for word in words]:
                return name
        # Case tells one word that is a name from the word itself.
        elif here == words and not (name.isupper() and _is_citation(text, places[at])):
            return name
    return None


def _is_citation(text: str, acronym: re.Match[str]) -> bool:
    before = text[max(0, acronym.start() - 1 - _NEAR) : acronym.start()]
    return bool(
        re.match(r"[\s§\[]*\d|\s(?:\w\s)?\d", text[acronym.end() : acronym.end() + _NEAR])
        or re.search(r"\d[\w.()\-]*\s$", before)  # "chapter 82.62 RCW"
    )


def _partly(
    places: Sequence[re.Match[str]], words_of: Mapping[str, Sequence[str]]
) -> Iterator[_Named]:
    """Yield the series whose own words the question has: those that no other series has.

    At least one own word and two words of the name stand in the question, side by side.
    """
    sets = {name: {word.lower() for word in words} for name, words in words_of.items()}
    count = Counter(word for words in sets.values() for word in words)
    asked = [(place.group().lower(), place) for place in places]
    known = [
        (first, second)
        for first, second in itertools.pairwise(asked)
        if first[0] != second[0]
        and count[first[0]]
        and count[second[0]]
        and 1 in (count[first[0]], count[second[0]])
    ]
    for name, words in sets.items():
        for (first, start), (second, end) in known:
            if first in words and second in words:
                yield _Named(name, False, start.start(), end.end())
                break


def _tokens(name: str) -> list[str]:
    return [word for word in _WORD.findall(name) if word.lower() not in _FILLERS]


def _normal(edition: str) -> tuple[str, ...]:
    """Return an edition's parts, so that "v2.4", "2-4" and "2.4" are the same."""
    parts = re.findall(r"\d+|[a-z]+", edition.lower())
    return tuple(part for part in parts if part not in ("v", "version", "rev", "revision"))


def _spaced(words: Sequence[str]) -> str:
    return r"\b" + r"[\W_]+".join(map(re.escape, words)) + r"\b"
