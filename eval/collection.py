"""Evaluation sets: documents, questions, and where the answers stand.

A set is a folder with `documents.jsonl` and `queries.jsonl`, or such a folder packed as
`NAME.tar.xz`. Every line is checked when it is read, and a wrong one is named by file and line.

    documents.jsonl   {"id", "title"?, "scope"?, "series"?, "edition"?, "year"?, "date"?,
                       "text" or "path"}
    queries.jsonl     {"id", "question", "gold": [{"doc", "start"?, "end"?, "page"?, "text"?,
                       "grade"?}], "history"?, "scope"?, …}
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from graph.errors import UsageError

DOCUMENTS, QUERIES = "documents.jsonl", "queries.jsonl"

Part = Literal["dev", "test", "all"]
"""Halves of the questions: weights are chosen on "dev" and reported on "test"."""

_Text = Annotated[str, Field(min_length=1)]


class Gold(BaseModel):
    """A place that answers a question: a document, a page of it, or a stretch of its text."""

    # A misspelt position would turn a span into a whole document without a word.
    model_config = ConfigDict(frozen=True, extra="forbid")

    doc: _Text
    """Id of the document."""
    start: int | None = Field(None, ge=0)
    """Offset in the document's text as it is in the set, 0-indexed, inclusive."""
    end: int | None = Field(None, ge=1)
    """Exclusive."""
    page: int | None = Field(None, ge=1)
    """Physical page, 1-indexed."""
    text: str | None = None
    """The words at [start, end); finds the place in a document that is a file."""
    grade: int = Field(1, ge=1)
    """How relevant; what is not relevant at all is not listed."""

    @model_validator(mode="after")
    def _has_an_extent(self) -> Self:
        if (self.start is None) != (self.end is None):
            raise ValueError("start and end belong together")
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise ValueError(f"the span [{self.start}, {self.end}) is empty")
        return self


class Turn(BaseModel):
    """An earlier turn of the conversation."""

    model_config = ConfigDict(frozen=True)

    speaker: str
    text: str


class Question(BaseModel):
    """A question with its gold; without gold where the documents do not answer it."""

    model_config = ConfigDict(frozen=True)

    id: _Text
    text: str = Field(alias="question", min_length=1)
    gold: tuple[Gold, ...]
    history: tuple[Turn, ...] = ()
    set: str = ""
    """Name of the set that it comes from."""

    @property
    def key(self) -> str:
        """The id, unique over several sets."""
        return f"{self.set}/{self.id}"


class SourceDocument(BaseModel):
    """A document of a set, as text or as a file."""

    model_config = ConfigDict(frozen=True)

    id: _Text
    title: str | None = None
    scope: str = "default"
    series: str | None = None
    edition: str | None = None
    year: int | None = None
    date: str | None = None
    text: str | None = None
    path: Path | None = None
    """In the file, relative to the set's folder; here, absolute."""
    set: str = ""
    """Name of the set that it comes from."""

    @property
    def key(self) -> str:
        """The id, unique over several sets."""
        return f"{self.set}/{self.id}"

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.text is None) == (self.path is None):
            raise ValueError('a document has either "text" or "path"')
        return self


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Documents and the questions that are asked of them."""

    name: str
    documents: tuple[SourceDocument, ...]
    questions: tuple[Question, ...]


def read_set(folder: Path, name: str) -> EvaluationSet:
    """Read a set from its folder; `queries.jsonl` may be missing, as for a pool of distractors.

    Raises:
        UsageError: A file is missing, or a line is wrong; names file and line.
    """
    if not (folder / DOCUMENTS).is_file():
        raise UsageError(
            f"{folder} is no evaluation set: it has no {DOCUMENTS}. A set is a folder with "
            f"{DOCUMENTS} and {QUERIES}, one JSON object a line."
        )
    documents = {
        document.id: document.model_copy(update=_placed(document, folder, name, place))
        for place, document in _lines(folder / DOCUMENTS, SourceDocument)
    }
    questions: list[Question] = []
    if (folder / QUERIES).is_file():
        for place, question in _lines(folder / QUERIES, Question):
            for gold in question.gold:
                _check_gold(gold, documents, place)
            questions.append(question.model_copy(update={"set": name}))
    return EvaluationSet(name, tuple(documents.values()), tuple(questions))


def union(name: str, sets: Sequence[EvaluationSet]) -> EvaluationSet:
    """Join sets to one corpus; each scope is prefixed by the name of its set."""
    return EvaluationSet(
        name,
        tuple(
            document.model_copy(update={"scope": f"{one.name}/{document.scope}"})
            for one in sets
            for document in one.documents
        ),
        tuple(question for one in sets for question in one.questions),
    )


def half(key: str) -> Part:
    """Return the half that a question or a document belongs to, whatever set it is used in."""
    return "test" if hashlib.blake2b(key.encode()).digest()[0] % 2 else "dev"


def part_of(
    questions: Sequence[Question], part: Part, *, by_document: bool = False
) -> list[Question]:
    """Return one half of the questions, the same on every machine.

    Args:
        questions: All of them.
        part: "dev", "test", or "all" for both.
        by_document: Whether to divide the documents instead, so that nothing learned from one half
            knows a document of the other. A question whose gold lies in both halves is in neither.
    """
    if part == "all":
        return list(questions)
    if not by_document:
        return [question for question in questions if half(question.id) == part]
    return [
        question
        for question in questions
        if {half(gold.doc) for gold in question.gold} == {part}
        or (not question.gold and half(question.id) == part)
    ]


_Line = TypeVar("_Line", SourceDocument, Question)


def _lines(path: Path, model: type[_Line]) -> Iterator[tuple[str, _Line]]:
    """Yield each line with its place, such as "queries.jsonl, line 3"; blank lines are skipped."""
    seen: set[str] = set()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            place = f"{path}, line {number}"
            if not line.strip():
                continue
            try:
                value = model.model_validate_json(line)
            except ValidationError as error:
                raise UsageError(f"{place}: {_reason(error)}. Correct the line.") from error
            if value.id in seen:
                raise UsageError(f"{place}: the id {value.id!r} comes twice. Make ids unique.")
            seen.add(value.id)
            yield place, value


def _reason(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


def _placed(document: SourceDocument, folder: Path, name: str, place: str) -> dict[str, object]:
    if document.path is None:
        return {"set": name}
    path = (folder / document.path).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise UsageError(f"{place}: the path {document.path} leads out of the set's folder.")
    if not path.is_file():
        raise UsageError(f"{place}: there is no file {document.path}. Correct the path.")
    return {"set": name, "path": path}


def _check_gold(gold: Gold, documents: dict[str, SourceDocument], place: str) -> None:
    document = documents.get(gold.doc)
    if document is None:
        raise UsageError(f"{place}: gold names the document {gold.doc!r}, which is not in the set.")
    if gold.start is None or gold.end is None or document.text is None:
        return
    if gold.end > len(document.text):
        raise UsageError(
            f"{place}: the span [{gold.start}, {gold.end}) ends behind the {len(document.text):,} "
            f"characters of document {gold.doc!r}. Offsets are characters, not bytes."
        )
    if gold.text is not None and document.text[gold.start : gold.end] != gold.text:
        raise UsageError(
            f"{place}: document {gold.doc!r} reads otherwise at [{gold.start}, {gold.end}) than "
            "the gold's text. Offsets are characters from 0, the end exclusive."
        )
