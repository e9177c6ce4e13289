"""The folder of a crawl: files that `ingest` reads, and a manifest that says where each is from."""

import codecs
import hashlib
import json
import mimetypes
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast
from urllib.parse import unquote, urlsplit

from graph.errors import UnreadableFile, UsageError
from ingestion.media import DOCX, HTML, MARKDOWN, PDF, TEXT, XML, media_type
from ingestion.walk import MANIFEST_NAME

PageStatus = Literal["new", "changed", "unchanged", "gone", "failed", "skipped", "redirect"]

_SUFFIXES = {
    PDF: ".pdf", DOCX: ".docx", HTML: ".html", XML: ".xml", MARKDOWN: ".md", TEXT: ".txt",
}  # fmt: skip
_OWN_ENCODING = (PDF, DOCX, XML)
"""Kinds whose bytes say how they are to be read, whatever a server says."""
_PLAIN_TYPES = ("", TEXT, MARKDOWN, "text/x-markdown", "application/octet-stream")
_HTML_TYPES = (HTML, "application/xhtml+xml")
_LONGEST_NAME = 80
_DEEPEST = 6
_UNSAFE = re.compile(r"[^\w.-]+|\.{2,}")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")


@dataclass(frozen=True, slots=True)
class Page:
    """One address, as the last crawl that came to it found it."""

    url: str
    status: PageStatus
    file: str | None = None
    """Relative to the folder; None where nothing is kept."""
    reason: str = ""
    """Why it failed or was skipped, or where it redirects to."""
    code: str = ""
    """HTTP status, or a short word such as "timeout"."""
    title: str = ""
    fetched_at: str = ""
    """When it was last asked for; ISO 8601, UTC."""
    depth: int = 0
    """Links from the start."""
    etag: str = ""
    last_modified: str = ""
    sha256: str = ""
    """Of what was fetched, before its encoding was changed."""


def load_manifest(folder: Path) -> dict[str, Page]:
    """Return what earlier crawls into the folder found, by address; empty for a new folder.

    Raises:
        UsageError: There is a manifest that cannot be read, or there are files without one.
    """
    file = folder / MANIFEST_NAME
    try:
        stored = cast("dict[str, Any]", json.loads(file.read_text("utf-8")))
        known = {field.name for field in fields(Page)}
        pages = [Page(**{k: v for k, v in p.items() if k in known}) for p in stored["pages"]]
    except FileNotFoundError:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(
                f"{folder} holds other things than a crawl: give a new or an empty folder."
            ) from None
        return {}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{file} is no manifest of a crawl ({error}): take another folder, or remove the file."
        ) from error
    return {page.url: page for page in pages if _is_inside(page.file)}


def save_manifest(folder: Path, start: str, pages: Mapping[str, Page]) -> None:
    """Write the manifest, in one step: a crawl that is killed leaves the old or the new one."""
    ordered = [asdict(pages[url]) for url in sorted(pages)]
    text = json.dumps({"start": start, "pages": ordered}, indent=1, ensure_ascii=False) + "\n"
    write_file(folder, MANIFEST_NAME, text.encode())


def write_file(folder: Path, name: str, data: bytes) -> None:
    """Write a file in one step, with the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".crawl-", delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    os.replace(file.name, path)  # noqa: PTH105 - the same


def kept_type(body: bytes, url: str, content_type: str) -> str:
    """Return the media type of what was fetched, by its bytes rather than by what the server says.

    Raises:
        UnreadableFile: It is nothing that `ingest` reads.
    """
    kind = media_type(body, PurePosixPath(urlsplit(url).path).name)
    said, _ = _content_type(content_type)
    if kind in (TEXT, MARKDOWN) and said in _HTML_TYPES:
        return HTML  # a piece of it, which its bytes alone do not show
    if kind in (TEXT, MARKDOWN) and said not in _PLAIN_TYPES:
        raise UnreadableFile("unsupported", f"{said}, which is not read")
    return kind


def kept_bytes(body: bytes, kind: str, content_type: str) -> bytes:
    """Return what is written to the file.

    A text keeps the encoding that the server names for it only in the answer's headers, which a
    file has not; such a text is written as UTF-8 with a mark.
    """
    _, charset = _content_type(content_type)
    marked = body.startswith((codecs.BOM_UTF8, b"\xff\xfe", b"\xfe\xff"))
    if kind in _OWN_ENCODING or not charset or marked:
        return body
    try:
        if codecs.lookup(charset).name in ("utf-8", "ascii"):
            return body
        return codecs.BOM_UTF8 + body.decode(charset).encode()
    except (LookupError, UnicodeError):
        return body  # the server is wrong, so the reader may judge


def file_name(url: str, kind: str) -> str:
    """Return the file for an address, relative to the folder: always the same, never outside.

    A digest of the address is added wherever names could clash: by a query, by capitals on file
    systems that know none, and where characters had to be replaced.
    """
    parts = urlsplit(url)
    raw = [unquote(part) for part in parts.path.split("/")[1:]]
    suffix = _SUFFIXES.get(kind) or mimetypes.guess_extension(kind) or ".bin"
    *folders, last = raw or [""]
    stem = last[: -len(suffix)] if last.lower().endswith(suffix) else last
    safe = [_safe(part, folder=True) for part in folders][:_DEEPEST]
    name = _safe(stem, folder=False) or "index"
    plain = [*safe, name + suffix] == raw and not parts.query and parts.path.isascii()
    if not plain:
        name += "-" + hashlib.blake2b(url.encode(), digest_size=6).hexdigest()
    return "/".join([*filter(None, safe), name + suffix])


def _safe(part: str, *, folder: bool) -> str:
    cleaned = _UNSAFE.sub("-", part).lower().strip("-.")
    if folder:
        cleaned = cleaned.replace(".", "-")  # no folder has the name of a file
    cleaned = cleaned.encode()[:_LONGEST_NAME].decode(errors="ignore")
    return f"_{cleaned}" if _DEVICES.match(cleaned) else cleaned


def _content_type(header: str) -> tuple[str, str]:
    message = Message()
    message["content-type"] = " ".join(header.split())
    return (message.get_content_type() if header else ""), str(message.get_param("charset") or "")


def _is_inside(file: str | None) -> bool:
    """Return whether a manifest's file is in its folder: a manifest may come from elsewhere."""
    if file is None:
        return True
    path = PurePosixPath(file)
    return not path.is_absolute() and ".." not in path.parts
