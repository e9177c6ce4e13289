"""A comparison of two editions as people read it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

    from agents.compare import Comparison, Pages, Place, SectionComparison, Status
    from agents.wording import Run

MOST_SECTIONS = 15
"""Of each status, unless the whole is asked for."""

MOST_CHANGES = 3
"""Sentences of one section."""

CONTEXT = 6
"""Words that are shown on either side of a change."""

LONGEST = 30
"""Words of one run of a change."""

_KINDS = {"deleted": ("[-", "-]", "red"), "inserted": ("{+", "+}", "green")}


class ComparisonText:
    """Prints a comparison: figures first, long parts cut unless the whole is asked for."""

    def __init__(self, comparison: "Comparison", out: "Console", *, whole: bool) -> None:
        self._found = comparison
        self._out = out
        self._whole = whole
        # Where an edition has several documents, each place says in which one it is.
        self._with_titles = any(
            len(edition.documents) > 1 for edition in (comparison.older, comparison.newer)
        )

    def print(self) -> None:
        """Print counts, changes of figures, then changed, moved, added and removed sections."""
        self._print_summary()
        self._print_figures()
        self._print_lone_figures()
        self._print_sections("changed", "Changed")
        self._print_sections("moved", "Moved or renumbered")
        self._print_sections("added", "Added")
        self._print_sections("removed", "Removed")

    def _print_summary(self) -> None:
        found = self._found
        part = f", section {found.section}" if found.section else ""
        self._line(f"{found.series}{part}: {found.older} -> {found.newer}", style="bold")
        counts = ", ".join(f"{number} {status}" for status, number in found.counts.items())
        self._line(f"Sections: {counts}")

    def _print_figures(self) -> None:
        found = [(s, c) for s in self._found.sections for c in s.changes if c.figures]
        if found:
            self._title("Figures that changed")
        for section, change in found:
            for figure in change.figures:
                self._line(f"{figure.older} -> {figure.newer}", style="bold yellow")
            self._places(section, change.older_pages, change.newer_pages)
            self._runs(change.runs)

    def _print_lone_figures(self) -> None:
        found = [s for s in self._found.sections if s.figures_gone or s.figures_new]
        if found:
            self._title("Figures in a section of one edition only")
        for section in found:
            self._places(section, *_pages(section))
            for name, figures in (
                (self._found.older.name, section.figures_gone),
                (self._found.newer.name, section.figures_new),
            ):
                if figures:
                    self._line(f"    only in {name}: {', '.join(figures)}")

    def _print_sections(self, status: "Status", title: str) -> None:
        sections = [section for section in self._found.sections if section.status == status]
        if not sections:
            return
        self._title(f"{title} ({len(sections):,})")
        for section in sections[: self._most(MOST_SECTIONS)]:
            self._print_section(section)
        self._rest(len(sections), MOST_SECTIONS, "sections")

    def _print_section(self, section: "SectionComparison") -> None:
        self._places(section, *_pages(section))
        if section.heading:
            self._runs(section.heading)
        most = MOST_CHANGES if section.older and section.newer else 1
        for change in section.changes[: self._most(most)]:
            self._runs(change.runs)
        self._rest(len(section.changes), most, "sentences", indent=4)

    def _places(self, section: "SectionComparison", older: "Pages", newer: "Pages") -> None:
        sides = (
            (self._found.older.name, section.older, older),
            (self._found.newer.name, section.newer, newer),
        )
        for name, place, pages in sides:
            if place:
                title = f"{place.document.title}, " if self._with_titles else ""
                self._line(f"  {name}: {title}{_name(place)}{_page_label(pages)}", style="cyan")

    def _rest(self, number: int, most: int, what: str, indent: int = 2) -> None:
        if not self._whole and number > most:
            self._line(f"{' ' * indent}… {number - most:,} more {what}: --all", style="dim")

    def _most(self, number: int) -> int | None:
        return None if self._whole else number

    def _title(self, title: str) -> None:
        self._out.print()
        self._line(title, style="bold underline")

    def _runs(self, runs: "Sequence[Run]") -> None:
        self._out.print(Padding(marked(runs, whole=self._whole), (0, 0, 0, 4), expand=False))

    def _line(self, text: str, *, style: str | None = None) -> None:
        self._out.print(text, markup=False, highlight=False, style=style, soft_wrap=True)


def marked(runs: "Sequence[Run]", *, whole: bool) -> Text:
    """Return a sentence with its changes marked as `git diff --word-diff` does."""
    shown = Text()
    for at, run in enumerate(runs):
        if at:
            shown.append(" ")
        if run.kind == "same":
            words = run.text if whole else _context(run.text, at > 0, at < len(runs) - 1)
            shown.append(words)
        else:
            before, behind, colour = _KINDS[run.kind]
            words = run.text if whole else _cut(run.text)
            shown.append(f"{before}{words}{behind}", style=colour)
    return shown


def _context(text: str, follows: bool, precedes: bool) -> str:
    """Return the words beside the changes; what is far from any is left out."""
    words = text.split()
    head = words[:CONTEXT] if follows else []
    tail = words[-CONTEXT:] if precedes else []
    if len(words) <= len(head) + len(tail) + 1:
        return text
    return " ".join([*head, "…", *tail])


def _cut(text: str) -> str:
    words = text.split()
    return text if len(words) <= LONGEST else " ".join([*words[:LONGEST], "…"])


def _name(place: "Place") -> str:
    return " ".join(part for part in (place.number, place.title) if part)


def _pages(section: "SectionComparison") -> "tuple[Pages, Pages]":
    older, newer = section.older, section.newer
    return older.pages if older else None, newer.pages if newer else None


def _page_label(pages: "Pages") -> str:
    if pages is None:
        return ""
    first, last = pages
    return f", p. {first}" if first == last else f", pp. {first}-{last}"
