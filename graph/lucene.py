"""The full-text query: a question typed by a person, disarmed and filtered for Lucene.

Neo4j parses the query parameter with Lucene's classic query parser, so a question mark, a slash or
a bare AND changes its meaning or breaks it. This is the one place that knows the syntax
(Lucene manual, "Query Parser Syntax").
"""

import hashlib
import re
from collections.abc import Sequence

from graph.fold import fold
from graph.model import OPEN_ENDED, Document, Filter

MAX_TERMS = 128
"""A question's distinct words beyond this are left out; Lucene's own limit is 1,024 clauses."""

# Words as Lucene's StandardTokenizer cuts them (UAX #29): "82.04.050" and "1,200" stay whole, as do
# "example.com" and "owner's"; a dash, a slash or a bracket parts.
_WORD = re.compile(r"\w+(?:(?:(?<=\d)[.,;'\u2019](?=\d)|(?<=[^\W\d_])[.'\u2019](?=[^\W\d_]))\w+)*")
_IDENTIFIER = re.compile(r"\w+(?:[-./:()]+\w+)+")
_QUOTED = re.compile(r'["“”«»]([^"“”«»]{2,200})["“”«»]')
_LETTERS_DIGITS = re.compile(r"([^\W\d_]{1,5})[-\s]?(\d{1,6})")


def key(kind: str, value: str | int) -> str:
    """Return a filter value as one token that no analyzer splits or stems.

    Args:
        kind: One letter for the property, so that equal values of two properties differ.
        value: The value; a digest stands for it, so any character is safe.
    """
    digest = hashlib.blake2b(str(value).encode(), digest_size=8).digest()
    return f"{kind}{int.from_bytes(digest, 'big')}"


def chunk_keys(document: Document) -> str:
    """Return the tokens by which a full-text search filters the document's chunks."""
    tokens = [
        key("c", document.collection),
        key("a", document.audience),
        key("s", document.scope),
    ]
    if document.series is not None:
        tokens.append(key("r", document.series))
    if document.edition is not None:
        tokens.append(key("e", document.edition))
    if document.year is not None:
        tokens.append(key("y", document.year))
    return " ".join(tokens)


def fulltext_query(question: str, where: Filter) -> str:
    """Return the Lucene query for a question under a filter, or "" if it holds no word.

    Filter clauses carry `^0`: they must match and add nothing to the BM25 score.
    """
    terms = _terms(fold(question))
    if not terms:
        return ""
    words = " ".join(terms)
    return f"+(text:({words}) heading:({words})^0.5){_filter_clauses(where)}"


def heading_query(addresses: Sequence[str], where: Filter) -> str:
    """Return the Lucene query for headings that hold one of these addresses, "" for none."""
    words = [_WORD.findall(fold(address).lower()) for address in addresses]
    phrases = [f'"{" ".join(found)}"' for found in words if found]
    if not phrases:
        return ""
    return f"+heading:({' '.join(phrases)}){_filter_clauses(where)}"


def _filter_clauses(where: Filter) -> str:
    groups: list[list[str]] = [
        [key("c", where.collection)],
        [key("a", audience) for audience in where.audiences],
        [key("s", scope) for scope in where.scopes],
        [key("r", where.series)] if where.series is not None else [],
        [key("e", where.edition)] if where.edition is not None else [],
        [key("y", where.year)] if where.year is not None else [],
    ]
    clauses = [f" +keys:({' '.join(tokens)})^0" for tokens in groups if tokens]
    if where.current_only:
        clauses.append(f" +valid_to:{OPEN_ENDED}^0")
    if where.as_of is not None:
        # Strings of eight digits: Lucene compares them as text, which is their order in time.
        last_day = f"{where.as_of:04d}1231"
        clauses.append(f" +valid_from:[00000000 TO {last_day}]^0")
        clauses.append(f" +valid_to:{{{last_day} TO 99999999]^0")
    return "".join(clauses)


def _terms(question: str) -> list[str]:
    """Return the question's words, then its phrases and identifiers as boosted phrases."""
    words = [_quoted(match.group().lower()) for match in _WORD.finditer(question)]
    phrases = [_phrase(match.group(1)) for match in _QUOTED.finditer(question)]
    phrases += [_phrase(match.group()) for match in _IDENTIFIER.finditer(question)]
    variants: list[str] = []
    for letters, digits in _LETTERS_DIGITS.findall(question):
        # "I-95", "I 95" and "I95" are one road: ask for the other spellings, too.
        variants += [f'"{letters} {digits}"'.lower(), f"{letters}{digits}".lower()]
    boosted = [f"{phrase}^2" for phrase in phrases if phrase]
    return list(dict.fromkeys([*words[:MAX_TERMS], *variants[:16], *boosted[:16]]))


def _quoted(word: str) -> str:
    """Return a word with anything but letters and digits in it as a phrase of one token."""
    return word if word.isalnum() else f'"{word}"'


def _phrase(text: str) -> str:
    words = [match.group().lower() for match in _WORD.finditer(text)]
    return f'"{" ".join(words)}"' if len(words) > 1 else ""
