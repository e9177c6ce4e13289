"""The teacher of MCompassRAG: a chat model that writes questions and judges candidates.

Section 3.3: of each chunk drawn, base questions and expanded ones; then the candidates that a
search finds for a base question, its hard negatives, are judged with the expanded one. What is done
is appended to a file, chunk by chunk, so that a run that is stopped goes on where it was.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graph.errors import ModelError, UsageError
from graph.model import Chunk, Filter, SearchRequest
from graph.ports import Embedder, Store
from router import prompts_teacher
from router.training_data import Labelled, Progress, read_labelled

Complete = Callable[[str], str]
"""Sends a prompt to a chat model and returns what it says."""

CHUNKS = 2_000
"""The paper's; a tenth of it is a beginning."""
QUERIES = 10
"""Questions of each chunk."""
JUDGED = 5
"""Candidates of each question that are judged."""

_ASKED_FOR = ("base", "expanded")
_CHARACTERS_PER_TOKEN = 4
_QUESTION_TOKENS = 60
"""What a question and its expansion take in the reply."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked."""

    chunks: int = CHUNKS
    queries: int = QUERIES
    judged: int = JUDGED
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """What the teacher will take, before it begins; an estimate."""

    calls: int
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class Tools:
    """What the teacher works with."""

    complete: Complete
    store: Store
    embedder: Embedder


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chunk to make questions of, with the text before and after it."""

    chunk: Chunk
    previous: str
    next: str


def draw(store: Store, collection: str, plan: Plan, done: frozenset[str]) -> list[Drawn]:
    """Draw chunks, the same ones for the same seed; those that are done are left out.

    Raises:
        UsageError: The collection is empty.
    """
    found: list[Drawn] = []
    for batch in store.chunks(collection, with_vectors=False):
        chunks = batch.chunks
        for place, chunk in enumerate(chunks):
            around = [
                chunks[at].text
                if 0 <= at < len(chunks) and chunks[at].document_id == chunk.document_id
                else ""
                for at in (place - 1, place + 1)
            ]
            found.append(Drawn(chunk, *around))
    if not found:
        raise UsageError(f"Collection {collection!r} is empty. Ingest documents into it first.")
    found.sort(key=lambda one: one.chunk.id)
    drawn = random.Random(plan.seed).sample(found, min(plan.chunks, len(found)))
    return [one for one in drawn if one.chunk.id not in done]


def estimate(drawn: Sequence[Drawn], plan: Plan) -> Cost:
    """Estimate what is left to ask."""
    lengths = [len(_queries_prompt(one, plan)) for one in drawn]
    judgements = len(drawn) * plan.queries * plan.judged
    mean = sum(len(one.chunk.text) for one in drawn) / max(len(drawn), 1)
    judgement = len(prompts_teacher.JUDGEMENT) + mean + _QUESTION_TOKENS * _CHARACTERS_PER_TOKEN
    return Cost(
        calls=len(drawn) + judgements,
        prompt_tokens=int((sum(lengths) + judgements * judgement) / _CHARACTERS_PER_TOKEN),
        reply_tokens=len(drawn) * plan.queries * _QUESTION_TOKENS + judgements,
    )


def done_chunks(path: Path) -> frozenset[str]:
    """Return the chunks whose questions are in the file."""
    if not path.is_file():
        return frozenset()
    return frozenset(id for one in read_labelled(path) for id in one.grades)


def teach(
    drawn: Sequence[Drawn],
    plan: Plan,
    path: Path,
    where: Filter,
    tools: Tools,
    progress: Progress = lambda done, total: None,
) -> list[Labelled]:
    """Ask the model about each chunk, append what it says, and return all that is in the file.

    A chunk of which the model makes no question that can be read is passed over.

    Raises:
        ModelError: The chat model failed, or made nothing of any chunk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    made = 0
    with path.open("a", encoding="utf-8") as file:
        for done, one in enumerate(drawn, start=1):
            asked = _read_queries(tools.complete(_queries_prompt(one, plan)))[: plan.queries]
            labelled = [_judge(one.chunk, pair, plan, where, tools) for pair in asked]
            file.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in labelled)
            file.flush()
            made += len(labelled)
            progress(done, len(drawn))
    if drawn and not made:
        raise ModelError(
            f"The chat model made no question of any of {len(drawn)} passages that could be read. "
            "Use a larger one with MILEPOST_MODEL, or another --teacher."
        )
    return read_labelled(path)


def _judge(
    chunk: Chunk, pair: tuple[str, str], plan: Plan, where: Filter, tools: Tools
) -> Labelled:
    base, expanded = pair
    request = SearchRequest(where, plan.judged + 1, tools.embedder.embed_query(base), text=base)
    found = sorted(tools.store.search(request), key=lambda one: -(one.cosine or 0.0))
    others = [one.passage for one in found if one.passage.chunk_id != chunk.id][: plan.judged]
    prompts = {
        passage.chunk_id: prompts_teacher.JUDGEMENT.format(question=expanded, passage=passage.text)
        for passage in others
    }
    verdicts = {id: _read_verdict(tools.complete(prompt)) for id, prompt in prompts.items()}
    judged = {id: verdict for id, verdict in verdicts.items() if verdict is not None}
    return Labelled(base, chunk.document_id, "llm", {chunk.id: 1}, expanded, judged)


def _queries_prompt(one: Drawn, plan: Plan) -> str:
    nothing = "(none)"
    return prompts_teacher.QUERIES.format(
        count=plan.queries,
        previous=one.previous or nothing,
        target=one.chunk.text,
        next=one.next or nothing,
    )


def _read_queries(reply: str) -> list[tuple[str, str]]:
    """Return base and expanded questions; none where the reply holds no JSON array of them."""
    start, end = reply.find("["), reply.rfind("]")
    try:
        entries: list[dict[str, Any]] = json.loads(reply[start : end + 1])
        pairs = [[str(entry.get(name) or "").strip() for name in _ASKED_FOR] for entry in entries]
    except (ValueError, AttributeError):  # no JSON, or no objects
        return []
    found: list[tuple[str, str]] = []
    for base, expanded in pairs:
        if any(character.isalnum() for character in base):
            found.append((base, expanded or base))
    return found


def _read_verdict(reply: str) -> float | None:
    """Return 0 or 1, the first that the reply names; None where it names neither."""
    return next((float(character) for character in reply if character in "01"), None)
