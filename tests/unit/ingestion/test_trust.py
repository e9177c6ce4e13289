"""The table of trust is what the documentation shows."""

from pathlib import Path

from ingestion.trust import CONFIDENCE, UNSURE, confidence_of, in_words

PAGE = (Path(__file__).parents[3] / "docs" / "metadata.md").read_text("utf-8")


def test_the_documentation_has_the_same_table() -> None:
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| ")
    ]
    head = next(row for row in rows if row[0] == "source")
    shown = {
        row[0]: {field: float(cell) for field, cell in zip(head[1:], row[1:], strict=False) if cell}
        for row in rows
        if row[0] in CONFIDENCE
    }

    assert shown == CONFIDENCE
    assert f"Below {UNSURE:.2f} a value" in PAGE


def test_a_confidence_is_read_from_the_line_that_is_kept() -> None:
    lines = [in_words("year", "file name, fiscal"), in_words("title", "file name")]

    assert confidence_of("year", lines) == CONFIDENCE["file name, fiscal"]["year"]
    assert confidence_of("series", lines) == 0
