import pytest

from graph.errors import UnreadableFile
from ingestion.markdown import parse_markdown
from ingestion.parsed import ParsedDocument


def md(source: str) -> ParsedDocument:
    return parse_markdown(source.encode())


def headings(source: str) -> list[tuple[int, str]]:
    return [(h.level, h.title) for h in md(source).headings]


def test_both_kinds_of_headings_are_found_where_they_are() -> None:
    parsed = md("One\n===\n\ntext\n\n## Two ##\n\nmore\n")

    assert [(h.level, parsed.text[h.start : h.end]) for h in parsed.headings] == [
        (1, "One"),
        (2, "Two"),
    ]


def test_a_comment_in_source_code_is_no_heading() -> None:
    parsed = md("# Real\n\n```sh\n# not a heading\n```\n\n~~~\n# nor this\n~~~\n")

    assert len(parsed.headings) == 1
    assert "# not a heading" in parsed.text


def test_html_headings_and_headings_with_anchors_count() -> None:
    assert headings('<h2 id="a"><a name="a"></a>A</h2>\n\n<a name="b"></a>\n\n## B {#b}\n') == [
        (2, "A"),
        (2, "B"),
    ]


def test_text_before_the_first_heading_is_kept() -> None:
    assert md("Preamble.\n\n# One\n\ntext").text.startswith("Preamble.\n\nOne")


def test_front_matter_is_metadata() -> None:
    parsed = md("---\ntitle: The Rule\ndate: 2024-05-08\ntags: [a, b]\n---\n\nText.")

    assert (parsed.title, parsed.text) == ("The Rule", "Text.")
    assert parsed.metadata["date"] == "2024-05-08"
    assert parsed.metadata["tags"] == "a, b"


def test_broken_front_matter_is_a_warning_and_what_can_be_read_is_used() -> None:
    parsed = md("---\ntitle: A: B: C\ndate: [2024\n---\nText.")

    assert parsed.text == "Text."
    assert parsed.title == "A: B: C"
    assert "YAML" in parsed.warnings[0]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert "First." in md("---\n\nFirst.\n\n---\n\nSecond.").text


def test_a_link_keeps_its_text_and_loses_its_target() -> None:
    assert md("See [the rule](https://example.gov/x?y=1) now.").text == "See the rule now."


def test_tables_stay_rows() -> None:
    assert md("| Kind | Fee |\n|---|---|\n| A | 5 |\n").text == "Kind | Fee\nA | 5"


@pytest.mark.parametrize(
    "leftover",
    [
        "{:.no_toc}",
        '{: target="_blank"}',
        '{% include "x.html" %}',
        "{% if a %}{% endif %}",
        "{{ site.baseurl }}",
        '{{< ref "a.md" >}}',
        "{{% /note %}}",
        "<!-- a\ncomment -->",
        '<a name="x"></a>',
    ],
)
def test_marks_of_site_generators_are_no_text(leftover: str) -> None:
    assert md(f"Before.\n\n{leftover}\n\nAfter.").text == "Before.\n\nAfter."


def test_text_that_a_template_tag_carries_is_kept() -> None:
    alert = '{% include alert.html heading="Note" content="Renew *early*." %}'
    figure = '{{< img src="a.png" alt="A card" caption="The \\"new\\" card." >}}'

    assert md(alert).text == "Note\n\nRenew early."
    assert md(figure).text == 'A card\n\nThe "new" card.'


def test_a_page_variable_is_filled_in_from_the_front_matter() -> None:
    assert md("---\nversion: 1.2\n---\nVersion {{ page.version }}.").text == "Version 1.2."


def test_braces_in_source_code_stay() -> None:
    assert "{{ value }}" in md("```\n{{ value }}\n```\n").text


def test_markdown_inside_an_html_element_is_read() -> None:
    parsed = md('<div class="note" markdown="1">\n## Heading\n\ntext\n</div>\n')

    assert [h.title for h in parsed.headings] == ["Heading"]


def test_an_escaped_number_is_text() -> None:
    assert md("2\\. strange").text == "2. strange"


def test_only_front_matter_is_refused() -> None:
    with pytest.raises(UnreadableFile) as raised:
        md("---\ntitle: Redirect\n---\n\n{% include redirect.html %}\n")

    assert raised.value.status == "no_text"


def test_a_table_whose_rule_has_another_number_of_columns_is_a_table() -> None:
    assert md("|FAL|Requirement|\n|:--:|----|----|\n|1|Signed.|\n").text == (
        "FAL | Requirement\n1 | Signed."
    )


def test_html_that_is_indented_is_no_source_code() -> None:
    table = "<table>\n  <tr>\n    <td>A</td>\n\n    <td>B</td>\n  </tr>\n</table>\n"

    assert md(table).text == "A | B"


def test_links_inside_html_keep_their_text_only() -> None:
    assert md("<p>See [Section 7](x.html#7) **now**.</p>").text == "See Section 7 now."


@pytest.mark.parametrize(
    "target", ['{{< ref "a.md" >}}', '{{< ref "a.md" >}} "A title"', "{{ site.baseurl }}/a/b"]
)
def test_a_link_to_what_a_template_fills_in_keeps_its_text(target: str) -> None:
    assert md(f"See [the rule]({target}) now.").text == "See the rule now."


def test_a_picture_inside_a_link_is_told_by_its_description() -> None:
    assert md('[{{< img src="a.png" alt="A card" >}}](https://x.gov/)').text == "A card"


def test_deep_nesting_loses_nothing() -> None:
    deep = "".join(f"{'  ' * level}- item {level}\n" for level in range(60))

    assert "item 59" in md(deep).text


def test_numbered_lines_are_headings_where_none_is_marked() -> None:
    body = "\n\nThe Contractor shall do the work as shown in the plans and be paid for it.\n\n"
    titles = ["SECTION 203 - EXCAVATION", "203.1 Description", "203.2 Materials"]
    parsed = parse_markdown("".join(title + body for title in titles).encode())

    assert [h.number for h in parsed.headings] == ["203", "203.1", "203.2"]
    assert {h.provenance for h in parsed.headings} == {"numbering"}


def test_numbered_headings_without_a_mark_are_found_right_above_their_text() -> None:
    body = "The Contractor shall do the work as shown in the plans and be paid for it in full.\n"
    parsed = md(
        f"SECTION 203 - EXCAVATION\n\n203-1 Description\n{body * 3}\n203-2 Materials\n{body * 3}\n"
        f"SECTION 401 - ASPHALT\n\n401-1 Description\n{body * 3}\n401-2 Placement\n{body * 3}"
    )

    assert [(h.level, h.number) for h in parsed.headings] == [
        (1, "203"), (2, "203-1"), (2, "203-2"), (1, "401"), (2, "401-1"), (2, "401-2"),
    ]  # fmt: skip
