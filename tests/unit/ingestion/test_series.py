"""Which names make a series, with names of real documents; and which make none."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.series import Known, find_series


def series(
    path: str, edition: str | None = None, title: str = "", scope: str = "default"
) -> str | None:
    found = find_series(PurePosixPath(path), Known(title, edition, scope))
    return found.found.value if found else None


def source(path: str, edition: str | None = None, title: str = "") -> str | None:
    found = find_series(PurePosixPath(path), Known(title, edition, "default"))
    return found.found.source if found else None


@pytest.mark.parametrize(
    ("editions", "name"),
    [
        (
            {
                "fpki-x509-cert-policy-common-131.pdf": "1.31",
                "fpki-x509-cert-policy-common-20.pdf": "2.0",
                "fpki-x509-cert-policy-common.pdf": "2.8",
            },
            "fpki x509 cert policy common",
        ),
        (
            {
                "us-federal-public-trust-tls-cp-v0-1.pdf": None,
                "us-federal-public-trust-tls-cp-v1-0-draft.pdf": "1.0",
                "us-federal-public-trust-tls-cp-v1-0-final.pdf": "1.0",
                "us-federal-public-trust-tls-cp.pdf": "1.1",
            },
            "us federal public trust tls cp",
        ),
        (
            {
                "fpki-annual-review-requirements_v1.01_20210929.pdf": "1.01",
                "fpki-annual-review-requirements_v1.2_20240913.pdf": None,
                "fpki-annual-review-requirements.pdf": "2.0",
            },
            "fpki annual review requirements",
        ),
        (
            {"fpki-fpkima-cps-v51.pdf": "5.1", "fpki-fpkima-cps-v63.pdf": "6.3"},
            "fpki fpkima cps",
        ),
        (
            {"pacstest-process_20220824.pdf": "1.0.4", "pacstest-process.pdf": "1.0.5"},
            "pacstest process",
        ),
        (
            {
                "Annual Report 2021.pdf": None,
                "2022_annual_report_final.pdf": None,
                "annual-report-FY2023-24.pdf": None,
            },
            "annual report",
        ),
        (
            {
                "Standard Specifications 3rd edition.docx": None,
                "standard-specifications-rev-4.pdf": None,
                "Standard_Specifications_Version_5.pdf": None,
            },
            "standard specifications",
        ),
    ],
)
def test_names_that_differ_by_an_edition_only_are_one_series(
    editions: dict[str, str | None], name: str
) -> None:
    assert {series(file, edition) for file, edition in editions.items()} == {name}


@pytest.mark.parametrize(
    "file",
    [
        "fpki-fpkima-newsletter-53.pdf",
        "fpki-fpkima-newsletter-2301.pdf",
        "minutes-2021-03-04.pdf",
        "Board agenda 2022.pdf",
        "2015-01-09-personas-101.md",
        "2015-02-10-smartphone-growth-reaches-1-3-billion-in-2014.md",
        "emerging-trends-and-policy-symposium-agenda-09-19-2024.pdf",
        "freedom-of-information-act-memo-2009.md",
        "3004.pdf",
        "36WTD384.pdf",
        "82_04_050_HTML.html",
        "manual-volume-2.pdf",
        "bridge-manual-v2.pdf",
        "design-guide-part-27.pdf",
        "2019 Supplement to 2018 Standard Specs.pdf",
        "comparison of v1.2 and v1.3.pdf",
        "lessons-from-the-2021-federal-plain-language-report-card.md",
        "public law 2018.pdf",
        "inspection_20231208.pdf",
        "2021.pdf",
        "v1.2.pdf",
        "README.md",
    ],
)
def test_a_name_that_may_mean_something_else_makes_no_series(file: str) -> None:
    assert series(file) is None


def test_a_number_that_is_not_the_documents_version_is_part_of_the_name() -> None:
    assert series("fpki-pivi-profile-12.pdf", "1.0") == "fpki pivi profile 12"
    assert series("cert-part-27.pdf", "2.7") != series("cert-part-28.pdf", "2.8")


def test_a_v_and_a_figure_are_a_version_where_the_document_says_so() -> None:
    assert series("bridge-manual-v2.pdf", "2.0") == series("bridge-manual-v3.pdf", "3")


def test_documents_of_other_folders_or_scopes_are_no_editions_of_each_other() -> None:
    names = ["wydot/annual-report-2021.pdf", "cdot/annual-report-2022.pdf"]

    assert [series(name, scope=name.split("/")[0]) for name in names] == [
        "wydot/annual report",
        "cdot/annual report",
    ]
    assert series("annual-report-2021.pdf", scope="plans") == "plans/annual report"


def test_an_edition_that_was_archived_stays_in_its_series() -> None:
    assert series("policies/archive/tls-policy_v1.0.pdf") == series("policies/tls-policy_v1.1.pdf")


def test_a_title_tells_the_series_where_the_name_does_not() -> None:
    assert series("doc-123.pdf", title="Annual Report 2021") == "annual report"
    assert series("doc-124.pdf", title="Annual Report (2022)") == "annual report"
    assert series("a1.pdf", title="Bridge Design Manual, Version 2.1") == "bridge design manual"


def test_a_title_that_properties_may_have_kept_from_another_file_tells_nothing() -> None:
    known = Known("Annual Report 2021", None, "default", is_own_title=False)

    assert find_series(PurePosixPath("doc-123.pdf"), known) is None


def test_a_year_behind_the_number_of_a_ruling_makes_no_series() -> None:
    assert series("36WTD384.pdf", title="Det. No. 16-0117, 36 WTD 384 (2017)") is None


def test_a_post_with_its_day_in_the_name_has_no_series_by_its_title() -> None:
    assert series("2012-05-23-strategy.md", title="Digital Strategy 2012") is None


def test_the_source_says_how_far_the_series_is_certain() -> None:
    assert source("cert-policy-common-27.pdf", "2.7") == "file name and first page"
    assert source("cert-policy-common-v2.7.pdf") == "file name"
    assert source("cert-policy-common.pdf", "2.7") == "file name of an edition"
    assert source("annual-report-2021.pdf") == "file name, year"
    assert source("doc1.pdf", title="Annual Report 2021") == "title"


@pytest.mark.parametrize(
    ("file", "year"), [("annual-report-2021.pdf", 2021), ("Budget FY2023-24.pdf", 2024)]
)
def test_the_year_of_a_yearly_document_is_its_edition(file: str, year: int) -> None:
    found = find_series(PurePosixPath(file), Known("", None, "default"))

    assert found
    assert found.year == year


@given(st.text(max_size=60), st.one_of(st.none(), st.text(max_size=8)), st.text(max_size=60))
def test_no_name_is_too_wild(name: str, edition: str | None, title: str) -> None:
    series(f"{name.replace('/', '')}.pdf", edition, title)
