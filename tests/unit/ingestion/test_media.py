import zipfile
from io import BytesIO

import pytest

from graph.errors import UnreadableFile
from ingestion.media import HTML, MARKDOWN, PDF, TEXT, media_type


def archive(part: str = "word/document.xml") -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr(part, "<x/>")
    return data.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"%PDF-1.7\n", "report.txt", PDF),
        (b"rubbish\n%PDF-1.4\n", "report.pdf", PDF),
        (b"<!DOCTYPE html><p>x", "page.txt", HTML),
        (b"\xef\xbb\xbf\n<HTML lang=en>", "page", HTML),
        ("<html>x".encode("utf-16"), "page", HTML),
        (b"<p>part of a page", "page.html", HTML),
        (b'<?xml version="1.0"?><html xmlns="x">', "page.xhtml", HTML),
        (b"# Title", "readme.MD", MARKDOWN),
        (b"# Title", "readme.txt", TEXT),
    ],
)
def test_bytes_decide_before_the_name(data: bytes, name: str, kind: str) -> None:
    assert media_type(data, name) == kind


@pytest.mark.parametrize(
    ("data", "name", "status"),
    [
        (b"", "a.pdf", "empty"),
        (b"not a PDF", "a.pdf", "broken"),
        (b"PK\x03\x04cut off", "a.docx", "broken"),
        (archive("xl/workbook.xml"), "a.docx", "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"x" * 500, "a.doc", "unsupported"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "a.docx",
            "encrypted",
        ),
        (b"\x89PNG\r\n\x1a\n", "a.md", "unsupported"),
        (b"PK\x03\x04cut off", "a.xml", "broken"),
    ],
)
def test_what_cannot_be_read_has_a_status_of_its_own(data: bytes, name: str, status: str) -> None:
    with pytest.raises(UnreadableFile) as raised:
        media_type(data, name)

    assert raised.value.status == status


def test_an_archive_that_is_named_as_a_pdf_is_said_to_be_none() -> None:
    with pytest.raises(UnreadableFile, match=r"named \.pdf, but .* damaged zip archive"):
        media_type(b"PK\x03\x04cut off", "a.pdf")
