"""What is sent and received as JSON, so that it is checked and described in /openapi.json.

Results have the shapes of `milepost search --json` and `milepost ask --json` (`app.cli.shapes`).
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from router.retrieve import MAX_QUESTION

MOST_HITS = 100
"""That one request may ask for."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Year = Annotated[int, Field(ge=1000, le=9999)]


class InCollection(BaseModel):
    """Where to look; a parameter that there is not is refused, for it might be meant to narrow."""

    model_config = ConfigDict(extra="forbid")

    collection: Annotated[Name, Field(description="They are kept apart.")] = "default"


class Narrowing(BaseModel):
    """What a question may be answered from; nothing here can widen what a key may see."""

    model_config = ConfigDict(extra="forbid")

    collection: Name = "default"
    scopes: Annotated[
        list[Name], Field(max_length=100, description="Only these scopes; empty means all.")
    ] = []
    series: Annotated[Name | None, Field(description="Only editions of this series.")] = None
    edition: Annotated[Name | None, Field(description="Only this edition.")] = None
    year: Annotated[Year | None, Field(description="Only documents of this year.")] = None
    as_of: Annotated[
        Year | None, Field(description="Only editions in force at the end of this year.")
    ] = None
    current: Annotated[bool, Field(description="Only the newest edition of each series.")] = False
    audiences: Annotated[
        list[Name] | None,
        Field(max_length=100, description="Only these of the audiences that the key holds."),
    ] = None
    k: Annotated[int, Field(ge=1, le=MOST_HITS, description="How many passages.")] = 10


class SearchRequest(Narrowing):
    """A question, and where to look."""

    query: Annotated[
        str,
        Field(
            max_length=MAX_QUESTION,
            examples=["who may ask for revocation"],
            json_schema_extra={"minLength": 1, "pattern": r"[\p{L}\p{N}]"},  # as `asks` has it
        ),
    ]
    system: Annotated[
        Name | None, Field(description="A retrieval system of /v1/models; unset, the default one.")
    ] = None

    @field_validator("query")
    @classmethod
    def _asks(cls, query: str) -> str:
        return asks(query)


class AskRequest(SearchRequest):
    """A question to be answered."""

    machine: Annotated[
        Name | None,
        Field(
            description="How the answer is made: soft_scoped, masdr, react or another machine of "
            "/v1/models; unset, the default one."
        ),
    ] = None
    all_editions: Annotated[
        bool,
        Field(
            description="Superseded editions, too. By default only current ones answer, unless "
            "edition, year, as_of or the question names one."
        ),
    ] = False
    thread: Annotated[
        str | None,
        Field(
            pattern=r"^[\w-]{1,64}$",
            description="Id of a conversation to go on with, or new to begin one: then the "
            "question may lean on those before it, and is kept with its answer.",
        ),
    ] = None
    stream: Annotated[
        bool, Field(description="Server-sent events; so does Accept: text/event-stream.")
    ] = False


def asks(question: str) -> str:
    """Return a question that holds a letter or digit.

    Raises:
        ValueError: It holds none.
    """
    if not any(character.isalnum() for character in question):
        raise ValueError("The question is empty. Ask one, in plain words.")
    return question


class RouteShape(BaseModel):
    """How likely a scope holds the answer."""

    scope: str
    probability: float


class DocumentPlace(BaseModel):
    """The document of a passage."""

    id: str
    title: str
    uri: str
    scope: str
    series: str | None
    edition: str | None
    year: int | None
    is_current: bool


class SectionPlace(BaseModel):
    """The section of a passage."""

    id: str
    number: str | None
    title: str
    heading: str


class PassageShape(BaseModel):
    """A passage and where it stands."""

    chunk_id: str
    document: DocumentPlace
    section: SectionPlace
    pages: Annotated[list[int], Field(description="First and last page; empty without pages.")]
    printed: Annotated[
        str | None,
        Field(description='What is printed on the pages in place of their count, such as "iii".'),
    ]
    text: str


class MachineShape(BaseModel):
    """A way to make an answer."""

    name: str
    description: str
    available: Annotated[bool, Field(description="False where it needs a chat model.")]
    is_default: bool


class MachinesResult(BaseModel):
    """The machines that there are."""

    machines: list[MachineShape]


class ListShape(BaseModel):
    """A passage's place in one of the lists that were fused."""

    rank: int
    score: float


class HitShape(PassageShape):
    """A passage that was found."""

    rank: int
    score: Annotated[float, Field(description="Comparable within one ranking only.")]
    lists: dict[str, ListShape]


class SourceShape(PassageShape):
    """A passage that an answer was made from."""

    n: Annotated[int, Field(description="Its number in [Source n].")]
    cited: bool


class SearchResult(BaseModel):
    """What was found, best first."""

    query: str
    system: str
    route: list[RouteShape]
    understood: list[str]
    timings_ms: dict[str, float]
    hits: list[HitShape]


class ChecksShape(BaseModel):
    """What was found when the answer's citations were held against its sources."""

    supported: bool
    extractive: bool
    claims: int
    uncited_claims: int
    removed_citations: int
    marked_claims: int
    unfounded_figures: list[str]
    passages_left_out: int
    stopped: Annotated[
        str | None,
        Field(description="The limit that ended the search for passages, such as 5 rounds."),
    ] = None


class UsageShape(BaseModel):
    """What the answer cost."""

    llm_calls: int
    tokens: int


class AskResult(SearchResult):
    """A checked answer with its sources, and what was found."""

    asked: Annotated[
        str | None, Field(description="The question as typed, where query is rewritten.")
    ] = None
    thread: Annotated[str | None, Field(description="Id of the conversation.")] = None

    answer: str
    sources: list[SourceShape]
    checks: ChecksShape
    usage: UsageShape


class ScopeShape(BaseModel):
    """A part of a collection."""

    name: str
    documents: int
    chunks: int


class ScopesResult(BaseModel):
    """The scopes that the key may see, by name."""

    collection: str
    scopes: list[ScopeShape]


class DocumentShape(BaseModel):
    """A document in the graph."""

    id: str
    uri: str
    title: str
    media_type: str
    pages: int | None
    ingested_at: str
    scope: str
    collection: str
    audience: str
    series: str | None
    edition: str | None
    year: int | None
    date: str | None
    is_current: bool
    copies: list[str]
    metadata_sources: list[str]
    chunks: int


class DocumentsResult(BaseModel):
    """Documents by scope, series and edition."""

    total: Annotated[int, Field(description="All that match, on this page or not.")]
    documents: list[DocumentShape]


class ThreadShape(BaseModel):
    """A conversation in a list."""

    id: str
    title: Annotated[str, Field(description="Its first question.")]
    turns: int
    updated_at: str


class ThreadsResult(BaseModel):
    """The caller's conversations, the one used last first."""

    threads: list[ThreadShape]


class TurnSource(BaseModel):
    """A passage that an answer cited; GET /sources/{chunk_id} shows it."""

    n: int
    chunk_id: str
    document: str
    section: str
    pages: list[int]


class TurnShape(BaseModel):
    """A question and its checked answer."""

    asked: str
    question: Annotated[str, Field(description="As it was searched: standing alone.")]
    answer: str
    supported: bool
    sources: list[TurnSource]
    collection: str
    at: str


class ThreadResult(BaseModel):
    """A conversation, as far as the caller may see it."""

    id: str
    turns: list[TurnShape]
