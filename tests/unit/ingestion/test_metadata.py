from ingestion.metadata import DocumentMetadata, find_metadata
from ingestion.parsed import ParsedDocument

COVER = """The attached document has been archived.

Archived Document

Title: X.509 Certificate Policy for the
Common Policy Framework Version 2.7
Publication Date: February 2, 2024
Archive Date: May 8, 2024
"""


def found(
    text: str = "",
    name: str = "file.pdf",
    title: str | None = None,
    printed: str | None = None,
    metadata: dict[str, str] | None = None,
    media_type: str = "application/pdf",
) -> DocumentMetadata:
    pages = (0,) if media_type == "application/pdf" else ()
    parsed = ParsedDocument(
        text, pages, (), title, metadata or {}, media_type, "test", printed_title=printed
    )
    return find_metadata(parsed, name, latest_year=2027)


def test_title_edition_and_date_of_a_cover_are_found_with_their_sources() -> None:
    policy = found(COVER, "fpki-x509-cert-policy-common-27.pdf")

    assert policy.title == "X.509 Certificate Policy for the Common Policy Framework Version 2.7"
    assert (policy.edition, policy.date, policy.year) == ("2.7", "2024-02-02", 2024)
    assert policy.sources["date"] == "first page, labelled"
    assert policy.sources["edition"] == "first page"


def test_a_title_page_without_labels_gives_version_and_date() -> None:
    policy = found(
        "Common Policy\nVersion 2.7\nOctober 10, 2024\n", printed="Common Policy Version 2.7"
    )

    assert policy.title == "Common Policy"
    assert (policy.edition, policy.date) == ("2.7", "2024-10-10")


def test_the_name_tells_the_year_before_the_title_page_and_the_properties() -> None:
    report = found(
        "Report\nMay 5, 2015\n", "2014 report.pdf", metadata={"creationdate": "D:20200101"}
    )

    assert (report.year, report.sources["year"]) == (2014, "file name")


def test_the_title_page_tells_it_before_the_properties() -> None:
    report = found("Report\nMay 5, 2015\n", metadata={"creationdate": "D:20200101120000"})

    assert (report.date, report.year) == ("2015-05-05", 2015)


def test_the_properties_tell_the_year_only() -> None:
    report = found("Report\n", metadata={"creationdate": "D:20200101120000"})

    assert (report.year, report.date, report.sources["year"]) == (2020, None, "properties")


def test_nothing_known_is_nothing_given() -> None:
    nothing = found("Text of it.", "specs.pdf")

    assert (nothing.year, nothing.date, nothing.edition) == (None, None, None)
    assert nothing.title == "specs"


def test_a_date_in_running_text_is_not_the_documents() -> None:
    text = (
        "The taxpayer filed the return on March 3, 2003, and asked for a refund of what was paid."
    )

    assert found(text).year is None


def test_a_fiscal_year_is_marked_as_such() -> None:
    assert found(name="FY24 budget.pdf").sources["year"] == "file name, fiscal"


def test_other_years_of_the_name_are_reported() -> None:
    supplement = found(name="2019 Supplement to 2018 Standard Specs.pdf")

    assert (supplement.year, supplement.other_years) == (2019, (2018,))


def test_front_matter_is_trusted_first() -> None:
    page = found(
        "Text.",
        "2014-page.md",
        title="The Page",
        metadata={"date": "2024-05-08 10:00:00 -0400", "version": "1.2"},
        media_type="text/markdown",
    )

    assert (page.title, page.date, page.edition) == ("The Page", "2024-05-08", "1.2")
    assert set(page.sources.values()) == {"front matter"}


def test_titles_that_programs_leave_behind_are_not_used() -> None:
    for left_behind in ("Microsoft Word - Draft.docx", "untitled", "specs_v2.pdf", "Specs2"):
        assert found(title=left_behind, printed="Standard Specifications").title == (
            "Standard Specifications"
        )


def test_a_version_in_the_name_counts_where_the_document_has_none() -> None:
    assert found(name="tls-policy-v0-4.pdf").edition == "0.4"


def test_a_long_title_is_cut_at_a_word() -> None:
    title = found(title="A title of very many words " * 20).title

    assert len(title) <= 204
    assert title.endswith(" ...")


def test_the_title_of_the_superseding_document_is_not_taken() -> None:
    cover = "Archived Document\nTitle:\nPublication Date: April 17, 2023\n"
    cover += "Superseding Document\nTitle: Policy Version 2.5\nPublication Date: July 6, 2023\n"

    assert found(cover, printed="Policy Version 2.4").title == "Policy Version 2.4"
    assert found(cover).date == "2023-04-17"


def test_marks_in_a_title_are_no_text() -> None:
    assert found(title="Update:<br>New Profiles", media_type="text/markdown").title == (
        "Update: New Profiles"
    )


def test_a_run_of_figures_behind_v_is_no_version() -> None:
    assert found(name="15_cpct_v201_update.md", media_type="text/markdown").edition is None
