"""The JSON shapes of results; programs depend on them."""

from graph.model import Hit, Ranking


def ranking_as_dict(ranking: Ranking) -> dict[str, object]:
    """Return what `search --json` prints."""
    return {
        "query": ranking.query.text,
        "system": ranking.system,
        "route": [
            {"scope": route.scope, "probability": round(route.probability, 4)}
            for route in ranking.route
        ],
        "timings_ms": dict(ranking.timings_ms),
        "hits": [_hit_as_dict(rank, hit) for rank, hit in enumerate(ranking.hits, start=1)],
    }


def _hit_as_dict(rank: int, hit: Hit) -> dict[str, object]:
    passage = hit.passage
    return {
        "rank": rank,
        "chunk_id": passage.chunk_id,
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
        "score": hit.score,
        "lists": {
            name: {"rank": entry.rank, "score": entry.score} for name, entry in hit.lists.items()
        },
        "text": passage.text,
    }


def pages(first: int | None, last: int | None) -> list[int]:
    """Return first and last page, or an empty list for formats without pages."""
    return [] if first is None else [first, last if last is not None else first]
