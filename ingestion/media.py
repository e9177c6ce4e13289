"""Tells a file's media type from its bytes; its name only decides what bytes cannot tell."""

import re
from io import BytesIO
from pathlib import Path, PurePath
from zipfile import BadZipFile, ZipFile, is_zipfile

from graph.errors import UnreadableFile

PDF, HTML = "application/pdf", "text/html"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XML = "application/xml"
MARKDOWN, TEXT = "text/markdown", "text/plain"

_MARKDOWN_SUFFIXES = {".md", ".markdown", ".mdown", ".mkd"}
_HTML_SUFFIXES = {".html", ".htm", ".xhtml"}
_BINARY_SUFFIXES = {".pdf", ".docx", ".doc", ".xlsx", ".xls", ".pptx", ".ppt", ".odt", ".rtf"}
_ZIPPED_SUFFIXES = {".docx", ".xlsx", ".pptx", ".odt"}
_OTHERS = (
    (b"PK\x03\x04", "a zip archive, a spreadsheet or slides"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"II*\0", "an image"),
    (b"MM\0*", "an image"),
    (b"%!PS", "a PostScript file"),
    (b"\x1f\x8b", "a compressed file"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ", "a compressed file"),
    (b"7z\xbc\xaf", "a compressed file"),
    (b"MZ", "a program"),
    (b"\x7fELF", "a program"),
)
_HEAD = 4096
"""Bytes in which markup must begin."""
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_HTML_START = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_DAMAGED_ZIP = "a damaged zip archive or document; fetch the file again"
_NOT_AS_NAMED = "named {}, but its content is {}; fetch the file again"
_XML_START = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*<\?xml\s")


def media_type(data: bytes, name: str) -> str:
    """Return the media type of a file.

    Raises:
        UnreadableFile: It is empty ("empty"), of a kind that is not read ("unsupported"), or not
            what its name says ("broken").
    """
    suffix = PurePath(name).suffix.lower()
    if not data:
        raise UnreadableFile("empty", "the file is empty (0 bytes)")
    # Readers accept a few bytes of rubbish before the header (PDF 32000-1, annex H.3.4.1).
    if b"%PDF-" in data[:1024]:
        return PDF
    _refuse_damaged_or_locked(data, suffix)
    if data.startswith(b"PK\x03\x04") and _is_word(data):
        return DOCX
    for magic, kind in _OTHERS:
        if data.startswith(magic):
            raise UnreadableFile(
                "unsupported", f"{kind}, which is not read yet; convert it to PDF, HTML or text"
            )
    head = data[:_HEAD].replace(b"\0", b"")  # UTF-16 too
    if _HTML_START.search(head) or suffix in _HTML_SUFFIXES:
        return HTML
    if _XML_START.match(head) or (suffix == ".xml" and head.lstrip()[:1] == b"<"):
        return XML
    if suffix in _BINARY_SUFFIXES:
        raise UnreadableFile("broken", _NOT_AS_NAMED.format(suffix, "not of that kind"))
    return MARKDOWN if suffix in _MARKDOWN_SUFFIXES else TEXT


def contradicts_name(path: Path) -> bool:
    """Tell whether the beginning of a file is of another kind than its name says."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"PK\x03\x04"):  # whose directory stands at the end
            return path.suffix.lower() not in _ZIPPED_SUFFIXES
        media_type(head, path.name)
    except (UnreadableFile, OSError):
        return True
    return False


def _is_word(data: bytes) -> bool:
    """Tell a Word document from other archives by its parts, whatever its name."""
    try:
        with ZipFile(BytesIO(data)) as archive:
            names = archive.namelist()
    except (BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise UnreadableFile("broken", f"{_DAMAGED_ZIP} ({error})") from error
    return any(name.lower().lstrip("/").startswith("word/") for name in names)


def _refuse_damaged_or_locked(data: bytes, suffix: str) -> None:
    if data.startswith(b"PK\x03\x04") and not is_zipfile(BytesIO(data)):
        is_other = suffix in _BINARY_SUFFIXES - _ZIPPED_SUFFIXES
        problem = _NOT_AS_NAMED.format(suffix, "a damaged zip archive")
        raise UnreadableFile("broken", problem if is_other else _DAMAGED_ZIP)
    if data.startswith(b"\xd0\xcf\x11\xe0") and _ENCRYPTED_OFFICE in data:
        raise UnreadableFile("encrypted", "the document needs a password; save a copy without one")
