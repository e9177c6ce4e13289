"""Character repair, the same for document text and for questions, so that both can meet.

Broken font maps and word processors leave characters that nobody can type: half surrogates, NUL,
ligatures, look-alike hyphens, no-break spaces. They are repaired once, here, and nothing else is
changed: accents, quotation marks, dashes and case stay as they are.
"""

import re

_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
    0x017F: "s",  # long s: what some PDF engines make of U+FB05
}
_HYPHENS = dict.fromkeys([0x2010, 0x2011], "-")
_SPACES = dict.fromkeys([0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")
_LINE_ENDS = dict.fromkeys([0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x85, 0x2028, 0x2029], "\n")
# Soft hyphen, zero-width space, word joiner, byte order marks: marks for typesetting, not text.
_INVISIBLE = dict.fromkeys([0x00AD, 0x200B, 0x2060, 0xFEFF, 0xFFFE, 0xFFFF])
_CONTROLS = dict.fromkeys([c for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in (0x09, 0x0A)])

_REPAIRS: dict[int, str | None] = (
    _CONTROLS | _INVISIBLE | _LINE_ENDS | _SPACES | _HYPHENS | _LIGATURES
)
_NEEDS_REPAIR = re.compile(f"[{''.join(map(re.escape, map(chr, _REPAIRS)))}]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def fold(text: str) -> str:
    r"""Return the text without characters that cannot be stored, typed or found.

    Surrogates that form a pair are joined, lone ones dropped. Of the control characters only tab
    and newline survive; "\r\n" and every other line end become "\n". Folding folded text changes
    nothing.

    The length may change: fold before positions are taken, never after.
    """
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    if _NEEDS_REPAIR.search(text):
        text = text.replace("\r\n", "\n").translate(_REPAIRS)
    return text
