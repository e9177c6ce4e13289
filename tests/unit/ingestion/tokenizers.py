"""Small working tokenizers for tests."""

import re
from dataclasses import dataclass


@dataclass
class WordTokenizer:
    """One piece for each word and each sign."""

    max_tokens: int = 50

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


@dataclass
class CharacterTokenizer:
    """One piece for each character that is not white space; depends on nothing around it."""

    max_tokens: int = 50

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [(i, i + 1) for i, c in enumerate(text) if not c.isspace()]


@dataclass
class ByteTokenizer:
    """One piece for each byte of UTF-8: several share the offsets of one character."""

    max_tokens: int = 50

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [
            (i, i + 1)
            for i, c in enumerate(text)
            if not c.isspace()
            for _ in c.encode("utf-8", "surrogatepass")
        ]


@dataclass
class FickleTokenizer:
    """Pieces of two characters, or of one if the text is of odd length.

    The pieces of some models depend on all of the text, so that a part has other ones than it has
    in the whole.
    """

    max_tokens: int = 50

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        size = 1 if len(text) % 2 else 2
        return [(i, min(i + size, len(text))) for i in range(0, len(text), size)]
