"""Finds dates and years in text and in file names, and what only looks like them.

Rules for names, where figures mean many things:
- a year has four figures, is not later than next year, and does not follow a word that takes a
  number ("Section 2014", "Form 1080", "NCHRP 2001");
- a version ("v2.1") and a plan's horizon ("2035_plan") are none;
- "FY24" and "FY2023-24" are fiscal years, 2024 both;
- of several years the first is taken: "2019 Supplement to 2018 Specs" is of 2019.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_EARLIEST = 1900
_MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTHS = {
    spelling: number for number, name in enumerate(_MONTH_NAMES, 1) for spelling in (name, name[:3])
} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_DATES = (
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b", re.I),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>\d{{4}})\b", re.I),
    re.compile(r"(?<!\d)(?P<year>\d{4})[-./_](?P<month>\d{2})[-./_](?P<day>\d{2})(?!\d)"),
    re.compile(r"(?<!\d)(?P<month>\d{1,2})[-./_](?P<day>\d{1,2})[-./_](?P<year>\d{4})(?!\d)"),
    re.compile(r"(?<!\d)(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?!\d)"),
    re.compile(rf"\b{_MONTH},?\s+(?P<year>\d{{4}})\b", re.I),
    re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d{2})(?!\d)"),
)
"""From the plainest form down; the last two give no day."""

_FISCAL = re.compile(r"(?<![A-Za-z])FY[ _-]?(\d{4}|\d{2})(?:[-/_](\d{4}|\d{2}))?(?!\d)", re.I)
_MONTH_AND_SHORT = re.compile(rf"(?<![A-Za-z]){_MONTH}[ _-](?P<short>\d{{2}})(?!\d)", re.I)
_APOSTROPHE = re.compile(r"['\u2019](\d{2})(?!\d)")
_YEAR = re.compile(r"(?<![\d.])(\d{4})(?![\d]|\.\d)")
_TAKES_A_NUMBER = re.compile(
    r"(?:section|sec|form|part|chapter|title|rule|order|no|number|rev|revision|version|resolution|"
    r"nchrp|tcrp|acrp|rfc|fips|sp|iso|astm|wtd|omb|hb|sb|publication|pub|circular)[\s._#-]*$",
    re.I,
)
_HORIZON = re.compile(r"[\s_-]*(?:plan|vision|strategy|horizon|goals?)\b", re.I)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text."""

    iso: str
    """ISO 8601: "2024-05-08", or "2024-05" where no day is given."""
    start: int
    """Offset of its first character."""

    @property
    def year(self) -> int:
        """The year of the date."""
        return int(self.iso[:4])


def find_dates(text: str, latest_year: int) -> list[FoundDate]:
    """Return the dates in a text, in order of their positions.

    Args:
        text: A page, or a file's name.
        latest_year: Years after this one are none.
    """
    found: list[FoundDate] = []
    taken: list[re.Match[str]] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            iso = _iso(match, latest_year)
            if iso and all(match.end() <= t.start() or t.end() <= match.start() for t in taken):
                found.append(FoundDate(iso, match.start()))
                taken.append(match)
    return sorted(found, key=lambda date: date.start)


def find_years(name: str, latest_year: int) -> list[tuple[int, str]]:
    """Return the years that a file's name tells, the likeliest first.

    Args:
        name: The name without its folder and suffix.
        latest_year: Years after this one are none.

    Returns:
        Pairs of year and kind: "", "fiscal" or "short" (two figures only).
    """
    found = [
        *_fiscal_years(name),
        *((found.year, "") for found in find_dates(name, latest_year)),
        *((year, "") for year in _plain_years(name)),
        *_short_years(name),
    ]
    return list(dict.fromkeys(pair for pair in found if _EARLIEST <= pair[0] <= latest_year))


def _iso(match: re.Match[str], latest_year: int) -> str | None:
    parts = match.groupdict()
    year, month = int(parts["year"]), parts["month"].lower()
    number = int(month) if month.isdigit() else _MONTHS[month]
    try:
        day = date(year, number, int(parts.get("day") or 1))
    except ValueError:  # no such month or day: not a date
        return None
    if not _EARLIEST <= year <= latest_year:
        return None
    return day.isoformat() if "day" in parts else f"{year:04}-{number:02}"


def _plain_years(name: str) -> Iterator[int]:
    for match in _YEAR.finditer(name):
        is_number = _TAKES_A_NUMBER.search(name[: match.start()])
        if not is_number and not _HORIZON.match(name[match.end() :]):
            yield int(match[1])


def _fiscal_years(name: str) -> Iterator[tuple[int, str]]:
    for match in _FISCAL.finditer(name):
        last = match[2] or match[1]
        yield (int(last) if len(last) == 4 else _century(int(last))), "fiscal"


def _short_years(name: str) -> Iterator[tuple[int, str]]:
    for match in _MONTH_AND_SHORT.finditer(name):
        yield _century(int(match["short"])), "short"
    for match in _APOSTROPHE.finditer(name):
        yield _century(int(match[1])), "short"


def _century(two_figures: int) -> int:
    return (1900 if two_figures >= 70 else 2000) + two_figures
