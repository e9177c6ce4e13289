"""Questions about one edition among many: made from the sections of documents with editions.

Editions of a policy repeat each other almost word for word, so a search over everything finds the
right section in the wrong edition: dilution at its worst. `federal_identity` has no questions of
its own. Here each question asks what a numbered section of a named edition says, in one of the ways
that people name editions; the gold is the section's text in that edition.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eval.collection import EvaluationSet, Gold, Question, SourceDocument
from graph.errors import UnreadableFile
from ingestion.read import Reader
from ingestion.sections import build_sections

NAME = "editions"
SOURCE = "federal_identity"
PER_DOCUMENT = 12
"""Questions for each edition."""
LEAST_EDITIONS = 3
"""A section asked for stands, under the same title, in at least so many editions."""
LEAST_TEXT = 200
"""Characters that the section has."""
SEED = 42

FORMS = (
    "What does version {edition} of the {series} say about {title}?",
    "{series} {edition}: {title}",
    "Which requirements for {title} are in the {series} v{edition}?",
    "What was said about {title} in version {edition} of the {short} policy?",
)
"""The last one names the series only in part, as people do."""
_COMMON = {"X.509", "Certificate", "Policy"}


@dataclass(frozen=True, slots=True)
class _Part:
    """A section of an edition."""

    document: SourceDocument
    title: str
    text: str


def load_editions(source: EvaluationSet, cache_folder: Path) -> EvaluationSet:
    """Return the documents of `federal_identity` with questions about their editions.

    The questions are made once, the same on every machine, and kept in the cache folder.

    Raises:
        UsageError: A file of the set is missing.
    """
    path = cache_folder / f"{NAME}-{PER_DOCUMENT}-{SEED}.jsonl"
    if not path.is_file():
        questions = make_questions(list(_sections(source.documents)))
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        lines = (question.model_dump_json(by_alias=True) for question in questions)
        partial.write_text("\n".join(lines) + "\n")
        partial.replace(path)
    with path.open() as file:
        questions = [Question.model_validate(json.loads(line)) for line in file]
    return replace(source, name=NAME, questions=tuple(questions))


def make_questions(parts: Sequence[_Part]) -> list[Question]:
    """Draw sections that several editions have, and ask for each of them in one of the forms."""
    documents: dict[str, set[str]] = defaultdict(set)
    by_document: dict[str, list[_Part]] = defaultdict(list)
    for part in parts:
        documents[part.title.lower()].add(part.document.id)
        by_document[part.document.id].append(part)
    questions: list[Question] = []
    for id in sorted(by_document):
        generator = random.Random(f"{SEED}/{id}")
        shared = {
            part.title.lower(): part
            for part in by_document[id]
            if len(documents[part.title.lower()]) >= LEAST_EDITIONS
        }
        drawn = generator.sample(sorted(shared), min(PER_DOCUMENT, len(shared)))
        questions += [
            _question(shared[title], FORMS[n % len(FORMS)], n) for n, title in enumerate(drawn)
        ]
    return questions


def _question(part: _Part, form: str, n: int) -> Question:
    series = part.document.series or ""
    text = form.format(
        edition=(part.document.edition or "").removeprefix("v"),
        series=series,
        short=" ".join(word for word in series.split() if word.strip(",.") not in _COMMON),
        title=part.title,
    )
    gold = Gold(doc=part.document.id, text=part.text)  # pyright: ignore[reportCallIssue]
    return Question(id=f"{part.document.id}#{n}", question=text, gold=(gold,), set=SOURCE)


def _sections(documents: Sequence[SourceDocument]) -> Iterator[_Part]:
    with Reader() as reader:
        for document in documents:
            if document.path is None or document.edition in (None, "current"):
                continue
            try:
                parsed = reader.read(document.path)
            except UnreadableFile:
                continue  # loading the set reports it; nothing can be asked of it
            for span in build_sections(parsed, document.id, document.id):
                text = parsed.text[span.body_start : span.end].strip()
                if span.section.number and span.section.title and len(text) >= LEAST_TEXT:
                    yield _Part(document, span.section.title, text)
