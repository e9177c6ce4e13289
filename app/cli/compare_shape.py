"""The JSON shape of a comparison; programs depend on it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.compare import CitedChange, Comparison, Pages, Place, SectionComparison
    from agents.compare_editions import SeriesEdition
    from agents.wording import FigureChange, Run
    from graph.model import Document


def comparison_as_dict(comparison: "Comparison") -> dict[str, object]:
    """Return what `compare --json` prints.

    `figures` has the changes of figures apart, each with the sentence that it stands in and both
    places; `lone_figures` those that only one side's section states. `sections` has everything in
    reading order.
    """
    return {
        "series": comparison.series,
        "older": _edition(comparison.older),
        "newer": _edition(comparison.newer),
        "section": comparison.section,
        "counts": dict(comparison.counts),
        "figures": [
            {
                **_figure(figure),
                "runs": _runs(change.runs),
                "older_place": _place_of(section.older, change.older_pages),
                "newer_place": _place_of(section.newer, change.newer_pages),
            }
            for section in comparison.sections
            for change in section.changes
            for figure in change.figures
        ],
        "lone_figures": [
            {
                "only_older": list(section.figures_gone),
                "only_newer": list(section.figures_new),
                **_places(section),
            }
            for section in comparison.sections
            if section.figures_gone or section.figures_new
        ],
        "sections": [_section(section) for section in comparison.sections],
    }


def _section(section: "SectionComparison") -> dict[str, object]:
    return {
        "status": section.status,
        "similarity": round(section.similarity, 4),
        **_places(section),
        "heading": _runs(section.heading),
        "changes": [_change(change) for change in section.changes],
    }


def _places(section: "SectionComparison") -> dict[str, object]:
    older, newer = section.older, section.newer
    return {
        "older": _place_of(older, older.pages) if older else None,
        "newer": _place_of(newer, newer.pages) if newer else None,
    }


def _change(change: "CitedChange") -> dict[str, object]:
    return {
        "runs": _runs(change.runs),
        "figures": [_figure(figure) for figure in change.figures],
        "older_pages": list(change.older_pages or ()),
        "newer_pages": list(change.newer_pages or ()),
    }


def _edition(edition: "SeriesEdition") -> dict[str, object]:
    return {
        "edition": edition.name,
        "year": edition.year,
        "is_current": edition.is_current,
        "documents": [_document(document) for document in edition.documents],
    }


def _place_of(place: "Place | None", pages: "Pages") -> dict[str, object] | None:
    if place is None:
        return None
    return {
        "document": _document(place.document),
        "section": {
            "id": place.section_id,
            "number": place.number,
            "title": place.title,
            "heading": " > ".join(place.path),
        },
        "pages": list(pages or ()),
    }


def _document(document: "Document") -> dict[str, object]:
    names = ("id", "title", "uri", "scope", "series", "edition", "year", "is_current")
    return {name: getattr(document, name) for name in names}


def _figure(figure: "FigureChange") -> dict[str, str]:
    return {"older": figure.older, "newer": figure.newer}


def _runs(runs: "Sequence[Run]") -> list[dict[str, str]]:
    return [{"kind": run.kind, "text": run.text} for run in runs]
