from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.model import Chunk
from graph.ports import Tokenizer
from ingestion.chunk import ChunkSizes, chunk_document, embedded_text, heading_line
from ingestion.parsed import Heading, ParsedDocument
from ingestion.sections import build_sections
from tests.unit.ingestion.tokenizers import (
    ByteTokenizer,
    CharacterTokenizer,
    FickleTokenizer,
    WordTokenizer,
)

SENTENCES = " ".join(f"Sentence number {i} says something of its own." for i in range(40))


def parsed(
    text: str, headings: list[Heading] | None = None, pages: tuple[int, ...] = ()
) -> ParsedDocument:
    return ParsedDocument(text, pages, tuple(headings or []), None, {}, "text/plain", "test")


def chunk(
    document: ParsedDocument, tokenizer: Tokenizer, sizes: ChunkSizes | None = None
) -> tuple[Chunk, ...]:
    sections = build_sections(document, "document", "Title")
    return chunk_document(document, sections, "Title", tokenizer, sizes or ChunkSizes())


def sectioned(parts: list[tuple[str, str]]) -> ParsedDocument:
    """Join headings and bodies to one document."""
    text, headings = "", list[Heading]()
    for title, body in parts:
        headings.append(Heading(len(text), len(text) + len(title), 1, None, title, "markup"))
        text += f"{title}\n\n{body}\n\n"
    return parsed(text, headings)


def test_a_short_section_is_one_chunk_with_its_path_as_heading() -> None:
    (only,) = chunk(sectioned([("Scope", "This applies to all.")]), WordTokenizer())

    assert (only.heading, only.text) == ("Title > Scope", "This applies to all.")


def test_chunks_stay_inside_their_section() -> None:
    chunks = chunk(sectioned([("One", "First."), ("Two", "Second.")]), WordTokenizer())

    assert [c.text for c in chunks] == ["First.", "Second."]
    assert chunks[0].section_id != chunks[1].section_id


def test_a_section_without_text_of_its_own_still_can_be_found() -> None:
    chunks = chunk(sectioned([("[Reserved]", ""), ("Two", "Second.")]), WordTokenizer())

    assert chunks[0].text == "[Reserved]"


def test_heading_and_text_together_fit_the_encoder() -> None:
    tokenizer = WordTokenizer(max_tokens=20)

    for c in chunk(sectioned([("A Long Heading Of Many Words", SENTENCES)]), tokenizer):
        assert len(tokenizer.token_offsets(embedded_text(c.heading, c.text))) <= 20


def test_the_key_sentence_at_the_very_end_is_in_a_chunk() -> None:
    chunks = chunk(parsed(SENTENCES + " The key is 42."), WordTokenizer(max_tokens=30))

    assert chunks[-1].text.endswith("The key is 42.")


def test_paragraphs_are_better_breaks_than_lines_and_lines_than_sentences() -> None:
    text = "One two. Three four.\nFive six. Seven eight.\n\nNine ten. Eleven twelve.\nThirteen."
    sizes = ChunkSizes(heading_share=0, overlap_tokens=0)

    assert [c.text for c in chunk(parsed(text), WordTokenizer(max_tokens=14), sizes)] == [
        "One two. Three four.\nFive six. Seven eight.",
        "Nine ten. Eleven twelve.\nThirteen.",
    ]


def test_no_tiny_rest_is_left_over() -> None:
    text = " ".join(["word"] * 33)
    sizes = ChunkSizes(heading_share=0, overlap_tokens=0)

    counts = [len(c.text.split()) for c in chunk(parsed(text), WordTokenizer(max_tokens=16), sizes)]

    assert min(counts) >= 8


def test_a_sentence_is_repeated_where_a_paragraph_is_cut() -> None:
    first, second, *_ = chunk(parsed(SENTENCES), WordTokenizer(max_tokens=40))

    last_sentence = first.text[first.text.rindex("Sentence") :]
    assert second.text.startswith(last_sentence)


def test_nothing_is_repeated_between_paragraphs() -> None:
    text = "\n\n".join(f"Paragraph {i} has these few words only." for i in range(10))
    chunks = chunk(parsed(text), WordTokenizer(max_tokens=50))

    assert len(chunks) > 1
    assert all(a.end < b.start for a, b in pairwise(chunks))


def test_a_word_of_5000_characters_is_cut_and_nothing_of_it_lost() -> None:
    text = "x" * 10 + " " + "a" * 5000
    chunks = chunk(parsed(text), CharacterTokenizer(max_tokens=64))

    assert "".join(c.text for c in chunks) == text.replace(" ", "")


def test_a_word_that_counts_as_one_piece_is_cut_by_characters() -> None:
    chunks = chunk(parsed("a" * 5000), WordTokenizer(max_tokens=50))

    assert max(len(c.text) for c in chunks) <= 50 * 12
    assert "".join(c.text for c in chunks) == "a" * 5000


def test_a_text_of_any_length_is_cut_without_loss_or_doubles() -> None:
    text = "One sentence of it. " * 30_000
    sizes = ChunkSizes(overlap_tokens=0)
    chunks = chunk(parsed(text), WordTokenizer(max_tokens=200), sizes)

    assert " ".join(c.text for c in chunks) == text.strip()


def test_an_overlap_of_more_than_half_does_not_stall() -> None:
    sizes = ChunkSizes(overlap_tokens=80)
    chunks = chunk(parsed("short line\n" * 200), WordTokenizer(max_tokens=100), sizes)

    starts = [c.start for c in chunks]
    assert starts == sorted(set(starts))


def test_what_leaves_no_room_for_anything_new_is_not_repeated() -> None:
    text = "a b c d e f " + "x" * 595 + " end"  # 600 characters fit: 50 pieces of 12
    chunks = chunk(parsed(text), WordTokenizer(max_tokens=50), ChunkSizes(heading_share=0))

    assert [c.text for c in chunks] == ["a b c d e f", "x" * 595 + " end"]


@pytest.mark.parametrize("size", range(1, 41))
def test_no_cut_falls_into_a_character_made_of_several(size: int) -> None:
    text = "\U0001f44d\U0001f3fd a" * 40
    chunks = chunk(parsed(text), CharacterTokenizer(max_tokens=max(2, size)))

    assert not [c for c in chunks if c.text.startswith("\U0001f3fd")]


def test_repeated_lines_have_positions_of_their_own() -> None:
    text = "\n\n".join(["The same line."] * 10)
    chunks = chunk(parsed(text), WordTokenizer(max_tokens=5), ChunkSizes(heading_share=0))

    assert [c.start for c in chunks] == [i * 16 for i in range(10)]


def test_ids_stay_when_another_section_changes() -> None:
    before = chunk(sectioned([("One", "First."), ("Two", SENTENCES)]), WordTokenizer())
    after = chunk(sectioned([("One", "First, changed."), ("Two", SENTENCES)]), WordTokenizer())

    assert [c.id for c in before[1:]] == [c.id for c in after[1:]]
    assert before[0].id != after[0].id


def test_equal_chunks_of_one_document_have_different_ids() -> None:
    chunks = chunk(sectioned([("One", "Same."), ("One", "Same.")]), WordTokenizer())

    assert len({c.id for c in chunks}) == 2


def test_pages_are_those_of_the_text() -> None:
    text = "First page.\n\nSecond page.\n\nThird page."
    document = parsed(text, pages=(0, 13, 27))
    chunks = chunk(document, WordTokenizer(max_tokens=6), ChunkSizes(heading_share=0))

    assert [(c.page_start, c.page_end) for c in chunks] == [(1, 2), (3, 3)]


def test_a_long_heading_loses_the_title_first_then_the_outer_sections() -> None:
    tokenizer = WordTokenizer(max_tokens=20)

    line = heading_line("A Title Of Five Words", ["Part One", "Section Two"], tokenizer, 0.5)
    shorter = heading_line("A Title Of Five Words", ["Part One", "Section Two"], tokenizer, 0.2)

    assert (line, shorter) == ("Part One > Section Two", "Section Two")


def test_a_heading_that_had_to_be_cut_is_in_the_text_too() -> None:
    title = "A Heading Of Far Too Many Words For This Small Encoder"
    (first, *_) = chunk(sectioned([(title, "Text.")]), WordTokenizer(max_tokens=20))

    assert first.text.startswith(title)


DOCUMENTS = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1).filter(
            str.strip
        ),
        st.text(st.characters(codec="utf-8") | st.sampled_from(" \n\n..aB"), max_size=120),
    ),
    min_size=1,
    max_size=4,
)
TOKENIZERS = st.sampled_from([WordTokenizer, CharacterTokenizer, ByteTokenizer, FickleTokenizer])


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS, TOKENIZERS, st.integers(1, 40), st.integers(0, 40))
def test_nothing_is_lost_and_everything_fits(
    parts: list[tuple[str, str]], kind: type[Tokenizer], size: int, overlap: int
) -> None:
    document = sectioned(parts)
    tokenizer = kind()
    tokenizer.max_tokens = size
    chunks = chunk(document, tokenizer, ChunkSizes(overlap_tokens=overlap))

    covered = Counter[int]()
    for heading in document.headings:
        covered.update(range(heading.start, heading.end))
    for c in chunks:
        assert c.text == document.text[c.start : c.end] == c.text.strip() != ""
        fits = len(tokenizer.token_offsets(embedded_text(c.heading, c.text))) <= size
        assert fits or len(c.text) == 1
        covered.update(range(c.start, c.end))
    lost = [i for i, c in enumerate(document.text) if not c.isspace() and not covered[i]]
    assert lost == []
    assert len({c.id for c in chunks}) == len(chunks)
    assert all(a.start < b.start for a, b in pairwise(chunks))
