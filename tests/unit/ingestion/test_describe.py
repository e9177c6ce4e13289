"""What a document is, settled from scope map, text, properties and file name."""

import re
from pathlib import PurePosixPath
from typing import get_args

from graph.model import SCOPE_SET
from ingestion.describe import Description, describe
from ingestion.parsed import ParsedDocument
from ingestion.scope_map import GivenMetadata, ScopeMap
from ingestion.trust import CONFIDENCE, Field, Found, in_words, most_trusted


def described(
    path: str = "manuals/bridge-manual-2021.pdf",
    text: str = "Text.",
    metadata: dict[str, str] | None = None,
    given: GivenMetadata = GivenMetadata(),  # noqa: B008 (frozen)
    scope_set: str | None = None,
) -> Description:
    media_type = "text/markdown" if path.endswith(".md") else "application/pdf"
    pages = () if media_type == "text/markdown" else (0,)
    title = (metadata or {}).get("title")
    parsed = ParsedDocument(text, pages, (), title, metadata or {}, media_type, "test")
    file = PurePosixPath(path)
    filled = ScopeMap().find(file) if given.scope is None else given
    given_here = GivenMetadata(
        given.scope or filled.scope, given.series, None, given.edition, given.year, given.date,
        given.title,
    )  # fmt: skip
    return describe(parsed, file, given_here, given, scope_set=scope_set, latest_year=2027)


def test_each_field_names_its_source_and_how_far_that_is_trusted() -> None:
    report = described("manuals/bridge-manual-2021.pdf", "Bridges\nPublication Date: May 6, 2021\n")

    assert report.sources == (
        "title: file name (0.30)",
        "series: file name, year (0.70)",
        "edition: file name, year (0.70)",
        "year: first page, labelled (0.90)",
        "date: first page, labelled (0.90)",
        "scope: folder (0.80)",
    )
    assert (report.series, report.edition) == ("manuals/bridge manual", "2021")


def test_the_scope_map_overrides_every_other_source() -> None:
    given = GivenMetadata("rules", "Common", None, "7", 1999, "1999-02-03", "The title")
    metadata = {
        "title": "X", "series": "Y", "edition": "1", "date": "2020-01-01", "scope": "Z",
    }  # fmt: skip
    page = described("a/b-v2.0-2021.md", metadata=metadata, given=given)

    values = (page.title, page.series, page.edition, page.year, page.date, page.scope)
    assert values == ("The title", "Common", "7", 1999, "1999-02-03", "rules")
    assert all(source.endswith(": scope map (1.00)") for source in page.sources)


def test_front_matter_gives_series_and_scope() -> None:
    metadata = {"title": "T", "series": "Common Policy", "version": "1.2", "scope": "policies"}
    page = described("web/page.md", metadata=metadata)

    assert (page.series, page.edition, page.scope) == ("Common Policy", "1.2", "policies")


def test_articles_in_a_series_are_no_editions_of_it() -> None:
    page = described("web/page.md", metadata={"title": "T", "series": "Content corner"})

    assert page.series is None


def test_a_scope_map_can_say_that_a_file_is_no_edition() -> None:
    assert described(given=GivenMetadata(series="none")).series is None


def test_a_scope_that_was_set_counts_and_says_so() -> None:
    report = described(scope_set="bridges")

    assert report.scope == "bridges"
    assert SCOPE_SET in report.sources


def test_a_file_outside_of_folders_has_a_scope_of_little_confidence() -> None:
    assert "scope: no folder (0.20)" in described("page.md").sources


def test_a_draft_comes_before_the_edition_that_it_drafts() -> None:
    assert described("tls-policy-v1-0-draft.pdf").edition == "1.0 draft"
    assert described("tls-policy-v1-0-final.pdf").edition == "1.0"


def test_the_most_trusted_source_counts_and_of_equals_the_first() -> None:
    found = [Found("a", "properties"), Found("b", "first page"), Found("c", "first page")]

    assert most_trusted("edition", found) == Found("b", "first page")
    assert most_trusted("title", found) == Found("a", "properties")
    assert most_trusted("title", []) is None


def test_the_table_of_trust_has_known_fields_and_confidences_from_0_to_1() -> None:
    for source, fields in CONFIDENCE.items():
        assert set(fields) <= set(get_args(Field)), source
        assert all(0 < confidence <= 1 for confidence in fields.values())
        assert all(re.fullmatch(r"\w+: [\w ,]+ \(\d\.\d\d\)", in_words(f, source)) for f in fields)
