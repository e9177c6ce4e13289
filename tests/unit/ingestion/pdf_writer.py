"""Writes small PDF files for tests: lines of text at given places, bookmarks, pictures."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Put:
    """One line of text."""

    text: str
    x: float
    y: float
    """Baseline, in points from the lower edge."""
    size: float = 11
    bold: bool = False


@dataclass(frozen=True)
class Page:
    lines: list[Put] = field(default_factory=list)
    picture: bool = False


def flowing(paragraphs: list[str], top: float = 700, left: float = 72) -> list[Put]:
    """Place each string on a line of its own, single-spaced; "" leaves a gap."""
    lines: list[Put] = []
    for text in paragraphs:
        if text:
            lines.append(Put(text, left, top))
        top -= 13
    return lines


def write_pdf(pages: list[Page], bookmarks: list[tuple[str, int]] | None = None) -> bytes:
    """Return a PDF file of US Letter pages.

    Args:
        pages: What stands on them.
        bookmarks: Title and 0-indexed page, all on one level.
    """
    objects: list[bytes] = [b""] * 5
    objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>"
    objects[4] = (
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray "
        b"/BitsPerComponent 8 /Length 1 >>\nstream\n\x80\nendstream"
    )
    kids: list[int] = []
    for page in pages:
        content = _content(page)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources "
            b"<< /Font << /F 3 0 R /B 4 0 R >> /XObject << /I 5 0 R >> >> >>" % len(objects)
        )
        kids.append(len(objects))
    references = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (references, len(kids))
    outline = _outline(objects, bookmarks or [], kids)
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R %s >>" % outline
    return _file(objects)


def _content(page: Page) -> bytes:
    parts = [b"q 400 0 0 400 100 200 cm /I Do Q" if page.picture else b""]
    for line in page.lines:
        text = line.text.encode("cp1252").replace(b"\\", b"\\\\")
        text = text.replace(b"(", b"\\(").replace(b")", b"\\)")
        font = b"B" if line.bold else b"F"
        place = b"%.1f %.1f" % (line.x, line.y)
        parts.append(b"BT /%s %.1f Tf %s Td (%s) Tj ET" % (font, line.size, place, text))
    return b"\n".join(parts)


def _outline(objects: list[bytes], bookmarks: list[tuple[str, int]], kids: list[int]) -> bytes:
    if not bookmarks:
        return b""
    root = len(objects) + 1
    first = root + 1
    last = root + len(bookmarks)
    objects.append(b"<< /Type /Outlines /First %d 0 R /Last %d 0 R >>" % (first, last))
    for i, (title, page) in enumerate(bookmarks):
        links = b"/Next %d 0 R" % (first + i + 1) if first + i < last else b""
        objects.append(
            b"<< /Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit] %s >>"
            % (title.encode("cp1252"), root, kids[page], links)
        )
    return b"/Outlines %d 0 R" % root


def _file(objects: list[bytes]) -> bytes:
    out = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return out + head + table + trailer % (len(objects) + 1, len(out))
