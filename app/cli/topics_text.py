"""Topics in tables and JSON."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graph.model import Passage, TopicCount, TopicModel

if TYPE_CHECKING:
    from ingestion.topic_fit import Fit

SHOWN_TERMS = 6
SHOWN_TOPICS = 10
"""After fitting; `topics show` lists all."""
SHOWN_CHARACTERS = 300
"""Of an example."""


def fit_as_dict(found: "Fit") -> dict[str, object]:
    """Return what `topics fit --json` prints."""
    return {
        **_model_as_dict(found.model),
        "fitted_on": found.fitted_on,
        "written": found.written,
        "topics": [
            {"number": number, "label": label, "terms": list(terms)}
            for number, (label, terms) in enumerate(
                zip(found.model.labels, found.model.terms, strict=True)
            )
        ],
    }


def model_as_dict(
    model: TopicModel, counts: Sequence[TopicCount], coverage: tuple[int, int]
) -> dict[str, object]:
    """Return what `topics show --json` prints."""
    chunks, current = coverage
    return {
        **_model_as_dict(model),
        "coverage": {"chunks": chunks, "current": current},
        "topics": [_count_as_dict(model, count) for count in counts],
    }


def topic_as_dict(
    model: TopicModel, count: TopicCount, passages: Sequence[tuple[Passage, float]]
) -> dict[str, object]:
    """Return what `topics show TOPIC --json` prints."""
    from app.cli.shapes import pages

    return {
        **_count_as_dict(model, count),
        "examples": [
            {
                "chunk_id": passage.chunk_id,
                "weight": weight,
                "document": passage.document,
                "section": passage.section,
                "pages": pages(passage.page_start, passage.page_end),
                "text": passage.text,
            }
            for passage, weight in passages
        ],
    }


def print_fit(found: "Fit") -> None:
    """Print how good the topics are, and the first of them."""
    model = found.model
    _say(
        f"{len(model.labels):,} topics by {model.name} in {found.fitted_on:,} chunks; "
        f"{found.written:,} weighed. Model {model.fingerprint}, temperature {model.temperature:g}."
    )
    _say(_quality_in_words(model))
    rows = [
        (str(number), label, ", ".join(terms[:SHOWN_TERMS]))
        for number, (label, terms) in enumerate(zip(model.labels, model.terms, strict=True))
    ]
    _print_table(("#", "Topic", "Terms"), rows[:SHOWN_TOPICS])
    _say(f"All of them, with their chunks: milepost topics show -C {model.collection}")


def print_model(model: TopicModel, counts: Sequence[TopicCount], coverage: tuple[int, int]) -> None:
    """Print the topics in one table."""
    rows = [
        (
            str(count.number),
            model.labels[count.number],
            f"{count.chunks:,}",
            f"{count.documents:,}",
            ", ".join(model.terms[count.number][:SHOWN_TERMS]),
        )
        for count in counts
    ]
    _print_table(("#", "Topic", "Chunks", "Documents", "Terms"), rows)
    _say(
        f"{len(model.labels):,} topics by {model.name}, fitted {model.fitted_at[:10]}; "
        f"model {model.fingerprint}, temperature {model.temperature:g}."
    )
    _say(_quality_in_words(model))
    chunks, current = coverage
    if current < chunks:
        _say(
            f"{chunks - current:,} of {chunks:,} chunks have no weights by these topics: "
            f"milepost topics update -C {model.collection}"
        )


def print_topic(
    model: TopicModel, count: TopicCount, passages: Sequence[tuple[Passage, float]]
) -> None:
    """Print one topic with examples."""
    from app.cli.ingest_report import counted
    from app.cli.output import where_it_is

    chunks, documents = counted(count.chunks, "chunk"), counted(count.documents, "document")
    scopes = ", ".join(f"{name} ({n:,})" for name, n in count.scopes)
    _say(f"Topic {count.number}: {model.labels[count.number]}")
    _say(f"Terms: {', '.join(model.terms[count.number]) or 'none'}")
    _say(f"{chunks} of {documents}. Scopes: {scopes}")
    for passage, weight in passages:
        text = " ".join(passage.text.split())
        shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} …"
        _say(f"\n{weight:.2f}  {where_it_is(passage)}\n{shown}")


def _model_as_dict(model: TopicModel) -> dict[str, object]:
    summary: dict[str, Any] = json.loads(model.summary)
    return {
        "collection": model.collection,
        "model": model.name,
        "source": summary.get("source") or None,
        "fingerprint": model.fingerprint,
        "embedder": model.embedder,
        "k": len(model.labels),
        "temperature": model.temperature,
        "seed": summary.get("seed"),
        "fitted_at": model.fitted_at,
        "quality": summary.get("quality"),
    }


def _count_as_dict(model: TopicModel, count: TopicCount) -> dict[str, object]:
    return {
        "number": count.number,
        "label": model.labels[count.number],
        "terms": list(model.terms[count.number]),
        "chunks": count.chunks,
        "documents": count.documents,
        "scopes": [{"name": name, "chunks": chunks} for name, chunks in count.scopes],
    }


def _quality_in_words(model: TopicModel) -> str:
    quality: dict[str, float | None] = json.loads(model.summary).get("quality") or {}
    coherence, diversity, spread = (
        "-" if (value := quality.get(name)) is None else f"{value:.3f}"
        for name in ("coherence", "diversity", "topics_per_chunk")
    )
    return (
        f"Coherence (NPMI) {coherence}, diversity {diversity}; "
        f"a chunk spreads over {spread} topics."
    )


def _print_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from app.cli.output import console

    table = Table(box=None, pad_edge=False)
    for name in names:
        number = name in ("#", "Chunks", "Documents")
        table.add_column(
            name, justify="right" if number else "left", no_wrap=number, overflow="fold"
        )
    for row in rows:
        table.add_row(*map(escape, row))
    console().print(table)


def _say(line: str) -> None:
    from app.cli.output import console

    console().print(line, markup=False, highlight=False, soft_wrap=True)
