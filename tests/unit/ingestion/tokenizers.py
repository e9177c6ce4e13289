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
class GreedyTokenizer:
    """Pieces of up to four characters counted from the start of the text.

    Like pieces of some models they shift with where a text begins, so that counts of a part are
    not those of the whole.
    """

    max_tokens: int = 50

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [(i, min(i + 4, len(text))) for i in range(0, len(text), 4)]
