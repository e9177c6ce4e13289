"""What machines with several agents share: numbered passages, spending, and fenced replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

from pydantic import TypeAdapter

from agents.answer import ABSTENTION
from agents.budget import Budget
from agents.chat import complete
from agents.context import Context, Limits, Run
from agents.extractive import extract
from agents.nodes import Update
from agents.passages import LINE_MARK, cut, estimate_tokens
from agents.state import BUDGET, RANKING, Draft, Json, State
from agents.structured import ask_json
from agents.synthesis import synthesize
from graph.errors import UsageError
from graph.model import Filter, Hit, Query, Ranking

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

T = TypeVar("T")

HITS = TypeAdapter(tuple[Hit, ...])
LEAST_ROOM = 100
"""Tokens; with less, evidence is not worth asking about."""
OVERHEAD = 500
"""Tokens for the message format, and for asking once more for what was malformed."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an agent is told."""

    system: str
    """Its instructions."""
    question: str
    """A template, with `{evidence}` for what it reads and a name for each other field."""


def extended(known: list[T], added: list[T] | None) -> list[T]:
    """Add what a node notes; None forgets it all, as a thread's next question begins anew."""
    return [] if added is None else [*known, *added]


def appended(known: list[Json], found: list[Json] | None) -> list[Json]:
    """Append the hits that are new: a passage keeps its number over the whole run.

    None forgets them all, as `extended`.
    """
    if found is None:
        return []
    ids = {_chunk_id(hit) for hit in known}
    new = {_chunk_id(hit): hit for hit in found if _chunk_id(hit) not in ids}
    return [*known, *new.values()]


class Several(State):
    """The state of a machine with several agents."""

    hits: Annotated[list[Json], appended]
    """Every passage found, `graph.model.Hit`: the first one is `[Source 1]`, and so on."""


class Spending:
    """The budget of a run while one of its nodes works."""

    def __init__(self, state: State, runtime: Run, *, anew: bool = False) -> None:
        """Take up the budget.

        Args:
            state: With what was spent so far.
            runtime: With the limits, and what is spent on.
            anew: Whether a run begins; a thread still has the state of the question before.
        """
        self.context: Context = runtime.context
        self.budget = BUDGET.validate_python({} if anew else state["budget"])
        before = state.get("timings_ms", {})
        self._before = dict.fromkeys(before, 0.0) if anew else before
        self._started = perf_counter()

    def halts(self, *, searching: bool = False, rounds: int | None = None) -> bool:
        """Tell whether a limit is reached; ask only before what is then left out.

        The limit is noted as what ended the run: from then on it only answers.

        Args:
            searching: Whether a search is to follow, and not only a call of the model: what the
                last search that is allowed has found may still be read.
            rounds: That may be taken; None where no round is to follow.
        """
        spent = self._up_to_now()
        if not searching:
            spent = replace(spent, calls=(), repeats=0)
        reached = spent.over(self.context.limits, spent.rounds + 1 if rounds is None else rounds)
        self.budget = replace(self.budget, ended=self.budget.ended or reached)
        return self.budget.ended is not None

    @property
    def seconds_left(self) -> float:
        """Seconds that the run may still take."""
        return self.context.limits.run_seconds - self._up_to_now().seconds

    def search(self, text: str, where: Filter, k: int, *, tool: str) -> Sequence[Hit]:
        """Find passages, and count the search as a tool call; a repeated one finds nothing new."""
        arguments = {"question": text, "scopes": list(where.scopes), "k": k}
        self.budget, verdict = self.budget.called(tool, arguments, self.context.limits)
        return self.context.system(Query(text, where), k).hits if verdict == "new" else ()

    def ask(self, prompt: Prompt, evidence: Sequence[str], **fields: str) -> str:
        """Ask the chat model for text.

        Args:
            prompt: What it is asked.
            evidence: What it is to read, block by block; long ones are cut to their share of what
                the model has room for.
            fields: Whatever else the prompt names; never cut.

        Raises:
            UsageError: The question leaves no room for evidence.
            ModelError: The model failed.
        """
        messages = self._messages(prompt, evidence, fields)
        completion = complete(self._chat(), messages, self._limits())
        self.budget = self.budget.asked(completion.tokens)
        return completion.text.strip()

    def ask_json(
        self, prompt: Prompt, shape: TypeAdapter[T], evidence: Sequence[str], **fields: str
    ) -> T | None:
        """Ask the chat model for JSON, as `ask`; None where its reply is malformed twice."""
        messages = self._messages(prompt, evidence, fields)
        reply = ask_json(self._chat(), messages, shape, self._limits())
        self.budget = self.budget.asked(reply.tokens, calls=reply.llm_calls)
        return reply.value

    def next_round(self) -> None:
        """Count a round."""
        self.budget = self.budget.next_round()

    def update(self, stage: str, **values: object) -> Update:
        """Return a node's values, with what the run has spent and taken so far."""
        milliseconds = (perf_counter() - self._started) * 1000
        return {
            **values,
            "budget": BUDGET.dump_python(self._up_to_now(), mode="json"),
            "timings_ms": {
                **self._before,
                stage: round(self._before.get(stage, 0.0) + milliseconds, 3),
            },
        }

    def _up_to_now(self) -> Budget:
        return self.budget.took(perf_counter() - self._started)

    def _chat(self) -> BaseChatModel:
        assert self.context.chat is not None  # what asks has looked
        return self.context.chat

    def _messages(
        self, prompt: Prompt, evidence: Sequence[str], fields: Mapping[str, str]
    ) -> list[BaseMessage]:
        from langchain_core.messages import HumanMessage, SystemMessage  # heavy

        limits = self.context.limits
        bare = prompt.system + prompt.question.format(evidence="", **fields)
        room = limits.context_tokens - limits.answer_tokens - OVERHEAD - estimate_tokens(bare)
        if evidence and room < LEAST_ROOM:
            raise UsageError(
                f"The question is too long for the chat model, which reads {limits.context_tokens} "
                "tokens with its answer: shorten it, or use --machine soft_scoped."
            )
        share = room // max(len(evidence), 1)
        blocks = [b if estimate_tokens(b) <= share else cut(b, share) for b in evidence]
        question = prompt.question.format(evidence="\n\n".join(blocks) or "None.", **fields)
        return [SystemMessage(prompt.system), HumanMessage(question)]

    def _limits(self) -> Limits:
        limits = self.context.limits
        left = max(self.seconds_left, 0.0)
        return replace(limits, total_seconds=min(limits.total_seconds, left))


def numbers_of(known: Sequence[Json], found: Sequence[Hit]) -> dict[int, Hit]:
    """Return the found hits by the numbers that `appended` gives them, in the order found."""
    hits = appended(list(known), dump_hits(found))
    number = {_chunk_id(hit): n for n, hit in enumerate(hits, start=1)}
    return {number[hit.passage.chunk_id]: hit for hit in found}


def dump_hits(hits: Sequence[Hit]) -> list[Json]:
    """Return the JSON form of hits."""
    return HITS.dump_python(tuple(hits), mode="json")


def within(where: Filter, scope: str) -> Filter:
    """Narrow a filter to one scope; an empty name stands for everything."""
    return replace(where, scopes=(scope,)) if scope else where


def abstains(answer: str) -> bool:
    """Tell whether an answer says that the documents do not say."""
    return answer.strip().lower().startswith(ABSTENTION.lower().rstrip("."))


def fence(text: str) -> str:
    """Return an earlier reply as data: what it quotes must not become an instruction."""
    return "\n".join(LINE_MARK + line for line in text.splitlines() if line.strip())


def conclude(
    state: Several,
    spending: Spending,
    text: str | None,
    *,
    reasons: tuple[str, ...],
) -> Update:
    """Return the draft and the ranking that `agents.nodes.check` reads.

    Args:
        state: With all passages found.
        spending: Of the node.
        text: The answer, citing passages by number; None where the passages are yet to be
            answered from: as in `agents.soft_scoped`, in one call, or quoted.
        reasons: What the run looked for, in plain words.

    Raises:
        ModelError: The chat model or the embedder failed.
    """
    context = spending.context
    hits = HITS.validate_python(state["hits"])
    if text is not None:
        draft = Draft(text=text, extractive=False, shown=len(hits), llm_calls=0, tokens=0)
    elif context.chat is None:
        draft = extract(state["question"], hits, context.embedder)
    else:
        draft = synthesize(state["question"], hits, context.chat, context.limits)
    draft["llm_calls"] += spending.budget.llm_calls
    draft["tokens"] += spending.budget.tokens
    draft["stopped"] = spending.budget.ended
    query = Query(state["question"], context.filter)
    ranking = Ranking(query, context.system.name, hits, reasons=reasons)
    return spending.update("answer", draft=draft, ranking=RANKING.dump_python(ranking, mode="json"))


def _chunk_id(hit: Mapping[str, object]) -> str:
    return cast("Mapping[str, str]", hit["passage"])["chunk_id"]
