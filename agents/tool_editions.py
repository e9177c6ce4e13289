"""Tools that read on in a document, and compare the editions of a series."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import Field

from agents.compare import Comparison, Place, SectionComparison, compare
from agents.compare_editions import CURRENT
from agents.context import Context
from agents.read_section import read_section
from agents.tool import Arguments, Found, Tool, as_hits, quoted
from agents.wording import Run
from graph.errors import UsageError
from graph.model import Hit, Passage

_MOST_SECTIONS = 12
"""Changed sections of a comparison that are shown, as far as there is room."""
_MOST_CHANGES = 6
"""Sentences of each of them."""


class SectionArguments(Arguments):
    """Arguments of `get_section`."""

    section: str | None = Field(
        None, description="Number or whole title of the section, such as 4.2.3."
    )
    source: int | None = Field(
        None,
        description="Number of a source: the section it stands in, or another of its document.",
    )
    document: str | None = Field(
        None, description="Title of the document or name of its series, as sources show it."
    )
    edition: str = Field(CURRENT, description="Of the series: as it is marked, current, or a year.")


class ComparisonArguments(Arguments):
    """Arguments of `compare_versions`."""

    series: str = Field(min_length=1, description="Name of the series.")
    older: str = Field(min_length=1, description="As it is marked (2.4), current, or a year.")
    newer: str = Field(min_length=1, description="The edition to compare it with.")
    section: str | None = Field(
        None, description="Number or title: only this section and those below it."
    )


def section_tool(context: Context, hits: Sequence[Hit]) -> Tool:
    """Return `get_section`.

    Args:
        context: Of the run.
        hits: The sources so far, by number; looked at when the tool is called.
    """

    def find(arguments: SectionArguments) -> Iterable[Found]:
        for section_id in _sections(context, arguments, hits):
            passages = context.graph.section_passages(section_id, context.filter)
            if passages:
                yield Found(as_hits(passages, "section"))

    return Tool(
        "get_section",
        "Read a whole section and those below it: by number or title with the document, or the "
        "one that a source stands in.",
        SectionArguments,
        find,
    )


def comparison_tool(context: Context) -> Tool:
    """Return `compare_versions`."""

    def find(arguments: ComparisonArguments) -> Iterable[Found]:
        asked = arguments.series, arguments.older, arguments.newer
        found = compare(context.graph, *asked, context.filter, arguments.section)
        yield Found(about=_summary(found))
        changed = [one for one in found.sections if one.changes or one.heading]
        changed.sort(key=lambda one: not one.figures)  # stable: reading order within both kinds
        for one in changed[:_MOST_SECTIONS]:
            yield Found(as_hits(list(_passages(context, one)), "comparison"), _described(one))

    return Tool(
        "compare_versions",
        "Tell what changed between two editions of a series: figures first, then wording.",
        ComparisonArguments,
        find,
    )


def _sections(context: Context, asked: SectionArguments, hits: Sequence[Hit]) -> list[str]:
    """Return the ids of the sections that are asked for, without those that are in them."""
    store, where = context.graph, context.filter
    if asked.source is not None:
        passage = _source(asked.source, hits)
        if asked.section is None:
            return [passage.section_id]
        document = passage.document_id
    elif asked.section is None or asked.document is None:
        raise UsageError("Name a section and its document, or give the number of a source.")
    else:
        document = _titled(context, asked.document)
    found = read_section(
        store,
        asked.section,
        where,
        document=document,
        series=asked.document if document is None else None,
        edition=asked.edition,
    )
    ids = {one.part.section.id for one in found}
    return [s.id for one in found if (s := one.part.section).parent_id not in ids]


def _source(n: int, hits: Sequence[Hit]) -> Passage:
    if not 1 <= n <= len(hits):
        raise UsageError(f"There is no source {n}: {len(hits)} were found so far.")
    return hits[n - 1].passage


def _titled(context: Context, name: str) -> str | None:
    """Return the id of the one document of that title; None where the series is meant."""
    wanted = " ".join(name.casefold().split())
    documents = (document for document, _ in context.graph.list_documents(context.filter))
    found = [d.id for d in documents if " ".join(d.title.casefold().split()) == wanted]
    return found[0] if len(found) == 1 else None


def _summary(found: Comparison) -> str:
    counts = ", ".join(f"{number} {status}" for status, number in found.counts.items())
    return quoted(f"{found.series}: {found.older} -> {found.newer}. Sections: {counts}.")


def _described(section: SectionComparison) -> str:
    """Return what changed in a section, in the words of both editions."""
    place = section.newer or section.older
    named = " ".join(part for part in (place.number, place.title) if part) if place else ""
    lines = [f"{section.status}: {named}"]
    lines += [f"figure: {figure.older} -> {figure.newer}" for figure in section.figures]
    lines += [_marked(change.runs) for change in section.changes[:_MOST_CHANGES]]
    if (more := len(section.changes) - _MOST_CHANGES) > 0:
        lines.append(f"and {more} more sentences")
    return quoted("\n".join(lines))


def _marked(runs: Sequence[Run]) -> str:
    marks = {"deleted": "[-{}-]", "inserted": "{{+{}+}}", "same": "{}"}
    return " ".join(marks[run.kind].format(run.text) for run in runs)


def _passages(context: Context, section: SectionComparison) -> Iterator[Passage]:
    """Yield the passages of both editions in which the changes stand."""
    yield from _side(context, section, section.older, lambda run: run.kind != "inserted")
    yield from _side(context, section, section.newer, lambda run: run.kind != "deleted")


def _side(
    context: Context,
    section: SectionComparison,
    place: Place | None,
    is_of_it: Callable[[Run], bool],
) -> list[Passage]:
    if place is None:
        return []
    found = context.graph.section_passages(place.section_id, context.filter)
    direct = [passage for passage in found if passage.section_id == place.section_id]
    sentences = [
        " ".join(run.text for run in change.runs if is_of_it(run))
        for change in section.changes[:_MOST_CHANGES]
    ]
    changed = [p for p in direct if _holds_any(p.text, sentences)]
    return changed or direct[:1]


def _holds_any(text: str, sentences: Sequence[str]) -> bool:
    plain = " ".join(text.split())
    return any(sentence in plain for sentence in sentences if sentence)
