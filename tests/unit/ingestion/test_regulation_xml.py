import pytest

from graph.errors import UnreadableFile
from ingestion.metadata import find_metadata
from ingestion.parse import parse
from ingestion.regulation_xml import citation, parse_regulation
from ingestion.sections import build_sections

REGULATION = """<?xml version="1.0"?>
<regulation xmlns="eregs"><fdsys><date>2016-10-12</date><title>FUND TRANSFERS</title></fdsys>
<preamble><agency>Bureau</agency><regLetter>E</regLetter><cfr><title>12</title>
<section>1005</section></cfr><documentNumber>2016-24506</documentNumber>
<effectiveDate>2016-11-14</effectiveDate></preamble>
<part label="1005"><tableOfContents><tocSecEntry><sectionSubject>Errors in the list
</sectionSubject></tocSecEntry></tableOfContents><content>
<subpart subpartLetter="A" label="1005-Subpart-A"><title>General</title><content>
<section label="1005-11" sectionNum="11"><subject>§ 1005.11 Resolving errors.</subject>
<paragraph label="1005-11-a" marker="(a)"><content>Short.</content></paragraph>
<paragraph label="1005-11-c" marker="(c)"><title type="keyterm">Time limits.</title><content/>
<paragraph label="1005-11-c-1" marker="(1)"><content>Ten <ref target="x">business
days</ref>.</content></paragraph>
<paragraph label="1005-11-c-2" marker="(2)"><content>Forty-five days.</content></paragraph>
</paragraph></section></content></subpart>
<appendix appendixLetter="A" label="1005-A"><appendixTitle>Appendix A to Part 1005—Forms
</appendixTitle><appendixSection label="1005-A-1"><subject>A-1—Clauses</subject>
<paragraph label="1005-A-1-p1" marker=""><content>Clause.<table><header><columnHeaderRow>
<column>Code</column></columnHeaderRow></header><row><cell>7</cell></row></table></content>
</paragraph></appendixSection></appendix>
<interpretations label="1005-Interp"><title>Supplement I</title>
<interpSection label="1005-2-Interp"><title>Section 1005.2 Definitions</title>
<interpParagraph label="1005-2-a-Interp" marker="Interp"><title>2(a) Access Device</title><content/>
<interpParagraph label="1005-2-a-Interp-1" marker="1."><title>Examples.</title>
<content>Cards.</content></interpParagraph></interpParagraph></interpSection></interpretations>
</content></part><analysis><analysisSection target="1005-1" notice="2012-1728" date="2013-10-28">
<title>Section 1005.1</title><analysisParagraph>Amended.<footnote ref="3">See there.</footnote>
Again.</analysisParagraph></analysisSection></analysis></regulation>"""


@pytest.mark.parametrize(
    ("label", "cited"),
    [
        ("1005-11-c-2-i", "1005.11(c)(2)(i)"),
        ("1005-Subpart-B", "Subpart B"),
        ("1005-A", "Appendix A"),
        ("1005-A-2-a", "A-2(a)"),
        ("1005-2-a-Interp-1-ii", "Comment 2(a)-1.ii"),
        ("1005-A-Interp-3", "Comment A-3"),
        ("1005-C-h3-p3", None),
        ("1005", None),
    ],
)
def test_labels_become_citations(label: str, cited: str | None) -> None:
    assert citation(label) == cited


def test_a_regulation_has_its_parts_as_sections() -> None:
    headings = parse_regulation(REGULATION.encode()).headings

    assert [(h.level, h.number, h.title) for h in headings] == [
        (1, "Part 1005", "Fund Transfers"),
        (2, "Subpart A", "General"),
        (3, "1005.11", "Resolving errors."),
        (4, "1005.11(a)", ""),
        (4, "1005.11(c)", "Time limits."),
        (2, "Appendix A", "to Part 1005—Forms"),
        (3, "A-1", "Clauses"),
        (2, None, "Supplement I"),
        (3, "Comment 2", "Definitions"),
        (4, "Comment 2(a)", "Access Device"),
        (2, None, "Section-by-section analysis"),
        (3, None, "Analysis of Section 1005.1 (2012-1728, 2013-10-28)"),
    ]


def test_text_is_complete_in_order_and_without_the_contents_list() -> None:
    parsed = parse_regulation(REGULATION.encode())

    assert "  (1) Ten business days.\n  (2) Forty-five days." in parsed.text
    assert "1. Examples. Cards." in parsed.text
    assert "Amended. [3] Again.\n[3] See there." in parsed.text
    assert "Errors in the list" not in parsed.text
    (table,) = parsed.tables
    assert parsed.text[table.start : table.end] == "Code\n7"
    assert table.header_end - table.start == len("Code")


def test_a_paragraph_behind_a_section_is_a_section_of_its_own() -> None:
    long = "x " * 300
    paragraphs = [f'<paragraph label="1-2-{m}" marker="({m})"><content>' for m in "abc"]
    texts = [long, "Short one.", "Last."]
    body = "".join(
        f"{p}{text}</content></paragraph>" for p, text in zip(paragraphs, texts, strict=True)
    )
    xml = (
        f'<regulation><part label="1"><section label="1-2"><subject>§ 1.2 Terms</subject>{body}'
        "</section></part></regulation>"
    )
    parsed = parse_regulation(xml.encode())
    spans = build_sections(parsed, "d", "t")

    assert [s.section.number for s in spans][-3:] == ["1.2(a)", "1.2(b)", "1.2(c)"]
    assert parsed.text[spans[-2].body_start : spans[-2].end].strip() == "Short one."


def test_the_effective_date_and_the_number_of_the_rule_tell_versions_apart() -> None:
    parsed = parse_regulation(REGULATION.encode())
    found = find_metadata(parsed, "2016-24506.xml", latest_year=2030)

    assert found.title == "12 CFR 1005 Fund Transfers (Regulation E)"
    assert found.edition == "2016-24506, effective 2016-11-14"
    assert (found.date, found.year) == ("2016-11-14", 2016)
    assert parsed.metadata["series"] == "12 CFR 1005"


def test_other_xml_is_read_as_the_text_of_its_elements() -> None:
    xml = b"<?xml version='1.0'?><rss><title>News</title><item>One <b>bold</b> word.</item></rss>"
    parsed = parse(xml, "feed")

    assert parsed.text == "News\n\nOne bold word."
    assert parsed.title == "News"


@pytest.mark.parametrize(
    ("xml", "status"),
    [
        (b"<?xml version='1.0'?><data a='1'/>", "no_text"),
        (b"<?xml version='1.0'?><data><a></data>", "broken"),
        (b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "boom">]><a>&x;</a>', "unsupported"),
        (
            b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
            "unsupported",
        ),
        (b"<?xml version='1.0'?>" + b"<a>" * 5000 + b"x" + b"</a>" * 5000, "broken"),
    ],
)
def test_xml_without_text_or_with_tricks_is_refused(xml: bytes, status: str) -> None:
    with pytest.raises(UnreadableFile) as raised:
        parse(xml, "a.xml")

    assert raised.value.status == status


def test_xml_that_lies_about_its_encoding_is_read_with_a_warning() -> None:
    text = "Le propriétaire a été prévenu à l'été; où va-t-il? Là-bas, près du café. " * 3
    parsed = parse(f'<?xml version="1.0" encoding="utf-8"?><a>{text}</a>'.encode("cp1252"), "a.xml")

    assert "propriétaire" in parsed.text
    assert "declared as utf-8" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("xml", "problem"),
    [
        ("<a>\n<b>Text.\n</a>", "line 3 is damaged or cut off; fetch the file again or mend it"),
        ("<a>\n<b>Te", "line 2 is damaged or cut off"),
        ("<a>" * 300, "nested too deeply"),
    ],
)
def test_xml_that_is_not_well_formed_says_where_and_what_to_do_once(xml: str, problem: str) -> None:
    with pytest.raises(UnreadableFile) as raised:
        parse_regulation(xml.encode())

    assert problem in str(raised.value)
    assert str(raised.value).count("line ") == 1
    assert "XML_" not in str(raised.value)
    assert "<string>" not in str(raised.value)
