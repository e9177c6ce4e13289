"""Bytes to text: byte order mark, UTF-16 without one, UTF-8, the declaration, then a judge."""

import codecs
from dataclasses import dataclass

from graph.errors import UnreadableFile

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Browsers read these as windows-1252, and pages are written for browsers (WHATWG Encoding, 4.2).
_NEVER_IN_TEXT = [*range(9), *range(14, 27), *range(28, 32)]
_LATIN_1 = {"iso8859-1", "latin-1", "ascii"}


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with the encoding that gave it."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Decode bytes, trusting them more than what is declared about them.

    Args:
        data: The file's bytes.
        declared: Encoding named in the file, such as by an HTML meta element; it may lie.

    Raises:
        UnreadableFile: The bytes are no text ("unsupported").
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _with_replacements(data, encoding)
    if encoding := _unmarked_utf16(data):
        return _with_replacements(data, encoding)
    if _is_binary(data):
        raise UnreadableFile(
            "unsupported", "not text: mostly control bytes; convert the file first"
        )
    # Bytes of another encoding are hardly ever valid UTF-8, so it is tried before the declaration.
    for encoding in ("utf-8", _known(declared)):
        if encoding and (text := _strictly(data, encoding)) is not None:
            return Decoded(text, encoding)
    return _judged(data, declared)


def _judged(data: bytes, declared: str | None) -> Decoded:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:1_000_000]).best()
    encoding = best.encoding if best is not None else "cp1252"
    decoded = _with_replacements(data, encoding)
    if declared is None:
        return decoded
    lie = f"declared as {declared}, which its bytes are not; read as {decoded.encoding}"
    return Decoded(decoded.text, decoded.encoding, (lie, *decoded.warnings))


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):  # LookupError: a codec that is not for text, such as hex
        return None


def _with_replacements(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, errors="replace")
    lost = text.count("\ufffd")
    if not lost:
        return Decoded(text, encoding)
    return Decoded(text, encoding, (f"{lost} characters could not be decoded as {encoding}",))


def _known(declared: str | None) -> str | None:
    try:
        name = codecs.lookup(declared or "").name
    except LookupError:
        return None
    return "cp1252" if name in _LATIN_1 else name


def _unmarked_utf16(data: bytes) -> str | None:
    """Tell UTF-16 by its zero bytes: in Latin text every second one, always on the same side."""
    sample = data[:2048]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    enough = len(sample) * 0.2
    if odd > enough and even < odd / 10:
        return "utf-16-le"
    if even > enough and odd < even / 10:
        return "utf-16-be"
    return None


def _is_binary(data: bytes) -> bool:
    sample = data[:8192]
    return sum(sample.count(byte) for byte in _NEVER_IN_TEXT) > len(sample) * 0.02
