import pytest

from ingestion.hyphens import MARK, Vocabulary


@pytest.mark.parametrize(
    ("elsewhere", "broken", "mended"),
    [
        ("a periodic table", f"peri{MARK}odic", "periodic"),
        ("cross-certified", f"cross{MARK}certified", "cross-certified"),
        ("", f"id-fpki{MARK}common{MARK}high", "id-fpki-common-high"),
        ("", f"458-20{MARK}102", "458-20-102"),
        ("", f"non{MARK}Federal", "non-Federal"),
    ],
)
def test_the_document_itself_is_asked(elsewhere: str, broken: str, mended: str) -> None:
    assert Vocabulary([elsewhere, broken]).mend(f"see {broken}, too") == f"see {mended}, too"


def test_where_nothing_is_known_the_documents_habit_decides() -> None:
    typeset = Vocabulary(["table of tables", f"ta{MARK}ble", f"ta{MARK}bles"])
    typed = Vocabulary(["well-known", f"well{MARK}known"])

    assert typeset.mend(f"adip{MARK}iscing") == "adipiscing"
    assert typed.mend(f"role{MARK}based") == "role-based"


def test_no_mark_is_left() -> None:
    odd = f"{MARK}{MARK} a{MARK} {MARK}b {MARK}"

    assert MARK not in Vocabulary([odd]).mend(odd)
