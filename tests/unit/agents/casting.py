"""A small collection in memory, and a chat model that plays several agents by script."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage

from agents.context import Context
from router import retrieve, systems
from router.retrieve import System
from tests.fakes import HashingEmbedder, MemoryStore
from tests.graphs import make_document

LOGS = "Audit logs shall be kept by each certification authority for three years."
BODY = "The Policy Authority approves certificate profiles."
HEAD = "The Policy Authority is headed by the Deputy Secretary."
NEWS = "The agency publishes newsletters every month."
QUESTION = "Who heads the body that approves certificate profiles?"


class Agents(SimpleChatModel):
    """Plays each agent by how its instructions begin; the last reply of a script is repeated."""

    script: dict[str, list[str]]
    asked: list[tuple[str, str]]
    """Beginning of the instructions, and what was asked."""

    @property
    def _llm_type(self) -> str:
        return "agents"

    def _call(self, messages: list[BaseMessage], *args: object, **kwargs: object) -> str:
        agent = next(name for name in self.script if messages[0].text.startswith(name))
        self.asked.append((agent, messages[-1].text))
        replies = self.script[agent]
        return replies.pop(0) if len(replies) > 1 else replies[0]

    def calls(self, agent: str) -> list[str]:
        """What one agent was asked."""
        return [question for name, question in self.asked if name == agent]


def store(*more: str) -> MemoryStore:
    """Documents in three scopes; further passages come into the scope "policy"."""
    made = MemoryStore()
    made.write(
        [
            make_document("policy", LOGS, BODY, *more, scope="policy"),
            make_document("charter", HEAD, scope="charter"),
            make_document("news", NEWS, scope="news"),
        ]
    )
    made.finish("default")
    return made


def context(found: MemoryStore, chat: Agents | None = None, **properties: object) -> Context:
    """A context whose system is vector search over everything."""
    embedder = HashingEmbedder()
    system = System(
        "monolithic",
        partial(retrieve.embed_only, embedder=embedder),
        partial(systems.monolithic, store=found),
    )
    made = Context(system, embedder, chat, store=found)
    return replace(made, **properties)  # type: ignore[arg-type]


def number_of(text: str, sources: Sequence[object]) -> int:
    """The number of the source with that text."""
    return next(s.n for s in sources if s.passage.text == text)  # type: ignore[attr-defined]
