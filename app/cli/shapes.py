"""The JSON shapes of results; programs depend on them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from graph.model import Hit, Passage, Ranking

if TYPE_CHECKING:
    from agents.answer import Answered, Source


def ranking_as_dict(
    ranking: Ranking, around: Mapping[str, Sequence[Passage]] | None = None
) -> dict[str, object]:
    """Return what `search --json` prints.

    Args:
        ranking: What was found.
        around: By chunk id, the passages around it in reading order, itself among them.
    """
    return {
        "query": ranking.query.text,
        "system": ranking.system,
        "route": [
            {"scope": route.scope, "probability": round(route.probability, 4)}
            for route in ranking.route
        ],
        "understood": list(ranking.reasons),
        "timings_ms": dict(ranking.timings_ms),
        "hits": [
            _hit_as_dict(rank, hit, (around or {}).get(hit.passage.chunk_id))
            for rank, hit in enumerate(ranking.hits, start=1)
        ],
    }


def answered_as_dict(answered: "Answered") -> dict[str, object]:
    """Return what `ask --json` prints: the ranking's shape, and what was made of it.

    `sources` lists every passage that the answer was made from, so that `n` is always its rank;
    `cited` tells those that the answer cites.
    """
    answer = answered.answer
    return {
        **ranking_as_dict(answered.ranking),
        "answer": answer.text,
        "sources": [_source_as_dict(source) for source in answer.sources],
        "checks": {
            "supported": answer.supported,
            "extractive": answer.extractive,
            **asdict(answer.checks),
            "passages_left_out": answer.passages_left_out,
            "stopped": answer.stopped,
        },
        "usage": asdict(answer.usage),
    }


def _source_as_dict(source: "Source") -> dict[str, object]:
    passage = source.passage
    return {
        "n": source.n,
        "chunk_id": passage.chunk_id,
        **_place_as_dict(passage),
        "text": passage.text,
        "cited": source.cited,
    }


def _hit_as_dict(rank: int, hit: Hit, around: Sequence[Passage] | None) -> dict[str, object]:
    shape: dict[str, object] = {
        "rank": rank,
        "chunk_id": hit.passage.chunk_id,
        **_place_as_dict(hit.passage),
        "score": hit.score,
        "lists": {
            name: {"rank": entry.rank, "score": entry.score} for name, entry in hit.lists.items()
        },
        "text": hit.passage.text,
    }
    if around is not None:
        shape["around"] = [{"chunk_id": one.chunk_id, "text": one.text} for one in around]
    return shape


def _place_as_dict(passage: Passage) -> dict[str, object]:
    return {
        "document": {
            "id": passage.document_id,
            "title": passage.document,
            "uri": passage.uri,
            "scope": passage.scope,
            "series": passage.series,
            "edition": passage.edition,
            "year": passage.year,
            "is_current": passage.is_current,
        },
        "section": {
            "id": passage.section_id,
            "number": passage.section_number,
            "title": passage.section,
            "heading": passage.heading,
        },
        "pages": pages(passage.page_start, passage.page_end),
        "printed": passage.printed,
    }


def pages(first: int | None, last: int | None) -> list[int]:
    """Return first and last page, or an empty list for formats without pages."""
    return [] if first is None else [first, last if last is not None else first]
