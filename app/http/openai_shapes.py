"""The part of OpenAI's API that a chat client needs, with our own fields beside it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.http.shapes import ChecksShape, Name, Narrowing, SourceShape


class TextPart(BaseModel):
    """A part of a message's content; parts that are no text are not read."""

    model_config = ConfigDict(extra="ignore")

    type: str
    text: Annotated[str, Field(max_length=1_000_000)] = ""


class Message(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[str, Field(max_length=1_000_000)] | list[TextPart] | None = None

    @property
    def text(self) -> str:
        """The content's text."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content if part.type == "text")


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class ChatNarrowing(Narrowing):
    """What may be answered from, sent as `extra_body={"milepost": {…}}`."""

    all_editions: bool = False


class ChatRequest(BaseModel):
    """The last user message is the question.

    How the chat model is sampled is the server's setting, so fields such as temperature are
    accepted and not used.
    """

    model_config = ConfigDict(extra="ignore")

    model: Annotated[Name, Field(examples=["milepost"])]
    messages: Annotated[
        list[Message],
        Field(
            min_length=1,
            max_length=1000,
            json_schema_extra={"contains": {"properties": {"role": {"const": "user"}}}},
        ),
    ]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Annotated[int | None, Field(ge=1, le=1, description="One answer only.")] = None
    milepost: ChatNarrowing = ChatNarrowing()


class ChatUsage(BaseModel):
    """Tokens, estimated from the length of the text where no chat model counted them."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ReplyMessage(BaseModel):
    """The answer, its citations written [Source n]."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    """The one answer."""

    index: int = 0
    message: ReplyMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class ChatReply(BaseModel):
    """An answer that is not streamed."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: ChatUsage
    citations: Annotated[
        list[SourceShape], Field(description="The sources that the answer cites; n is its number.")
    ]
    checks: ChecksShape


class Model(BaseModel):
    """A retrieval system or a machine, as OpenAI's clients choose it."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["milepost"] = "milepost"


class ModelList(BaseModel):
    """All retrieval systems, and the machines that can answer; "milepost" is what is set."""

    object: Literal["list"] = "list"
    data: list[Model]


def chunk(
    id: str, created: int, model: str, delta: dict[str, Any], finish_reason: str | None = None
) -> dict[str, Any]:
    """Return a piece of a streamed answer."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {
        "id": id,
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": [choice],
    }
