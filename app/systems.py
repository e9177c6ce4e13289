"""Every retrieval system by name, with its collaborators bound; nothing is loaded until it is used.

`guided` is the default. The others are there to be compared with: those of the dilution paper as
the paper has them, and rerankers over the candidates of `hybrid`.
"""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.settings import Settings
from graph.errors import ConfigurationError
from graph.ports import Embedder, Router, Store
from router import guided, retrieve, systems
from router.bm25 import Bm25
from router.comparison import InMemory, PairScorer, TextIndex, reranked
from router.facts import Facts
from router.retrieve import Routed, System
from router.route import UNSURE, Complete, by_model, by_patterns, first_sure, vote

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from router.sparse import SparseModel


def build_systems(settings: Settings, store: Store, embedder: Embedder) -> dict[str, System]:
    """Return the systems by name, the default first."""
    facts = Facts(store, embedder.fingerprint)
    embed = partial(retrieve.embed_only, embedder=embedder)
    understand = partial(guided.understood, embedder=embedder, holdings=facts.holdings)
    regex = partial(by_patterns, patterns=facts.patterns)
    model = partial(by_model, complete=_completer(settings), holdings=facts.holdings)

    models = _Models(settings)

    def routed_by(router: Router) -> partial[Routed]:
        return partial(retrieve.embed_and_route, embedder=embedder, router=router)

    def committed(name: str, router: Router, sure: float = UNSURE) -> System:
        search = partial(systems.hard_scoped, store=store, name=name, sure=sure)
        return System(name, routed_by(router), search)

    voted = routed_by(partial(vote, store=store))
    built = (
        System("guided", understand, partial(guided.guided, store=store)),
        System("convex", embed, partial(systems.convex, store=store)),
        System("hybrid", embed, partial(systems.hybrid, store=store)),
        System("monolithic", embed, partial(systems.monolithic, store=store)),
        System("bm25", retrieve.as_it_is, partial(systems.bm25, store=store)),
        System("scope_prior", voted, partial(systems.scope_prior, store=store)),
        System("soft_scoped", routed_by(facts.centroid), partial(systems.soft_scoped, store=store)),
        committed("hard_scoped", partial(vote, store=store), 0.0),
        committed("regex_scoped", regex),
        committed("tfidf_routed", facts.tfidf),
        committed("probe_routed", facts.probe),
        committed("llm_routed", model),
        committed("hybrid_routed", partial(first_sure, routers=(regex, model))),
        System("oracle_scoped", embed, partial(systems.oracle_scoped, store=store)),
        System("rank_bm25", retrieve.as_it_is, InMemory("rank_bm25", store, Bm25)),
        System("splade", retrieve.as_it_is, InMemory("splade", store, models.sparse)),
        System(
            "late_interaction",
            embed,
            partial(reranked, store=store, name="late_interaction", scorer=models.late),
        ),
        System(
            "cross_encoder",
            embed,
            partial(reranked, store=store, name="cross_encoder", scorer=models.cross),
        ),
    )
    return {system.name: system for system in built}


def chat_model(
    name: str, settings: Settings, *, temperature: float | None = None
) -> "BaseChatModel | None":
    """Load the chat model of that name, or None for "extractive".

    Raises:
        ConfigurationError: The provider is unknown, not installed, or refuses the settings.
    """
    from agents.chat import EXTRACTIVE, TEMPERATURE, load_chat_model

    if name == EXTRACTIVE:
        return None
    key = settings.model_api_key
    return load_chat_model(
        name,
        temperature=TEMPERATURE if temperature is None else temperature,
        base_url=settings.model_url,
        api_key=key.get_secret_value() if key else None,
    )


class _Models:
    """Loads the models that read text, each once, when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.late = cache(self._late)
        self.cross = cache(self._cross)
        self._sparse = cache(self._load_sparse)

    def sparse(self, texts: Sequence[str]) -> TextIndex:
        return self._sparse().index(texts)

    def _late(self) -> PairScorer:
        from router.late_interaction import LateInteraction

        name = self._settings.late_interaction_model or self._settings.embedder
        return LateInteraction(self._folder(name)).scores

    def _cross(self) -> PairScorer:
        from router.cross_encoder import SETTING, CrossEncoderModel

        name = self._settings.cross_encoder_model
        return CrossEncoderModel(self._folder(_named(name, SETTING, "cross_encoder"))).scores

    def _load_sparse(self) -> "SparseModel":
        from router.sparse import SETTING, SparseModel

        return SparseModel(self._folder(_named(self._settings.sparse_model, SETTING, "splade")))

    def _folder(self, name: str) -> Path:
        from ingestion.model_files import find_model

        return find_model(name)


def _named(name: str | None, setting: str, system: str) -> str:
    if name is None:
        raise ConfigurationError(
            f"The system {system} needs a model, and none is set. Name one with {setting}: a "
            "folder, or a model of the Hugging Face hub."
        )
    return name


def _completer(settings: Settings) -> Complete:
    """Return what sends a routing prompt to the chat model that is set."""

    @cache
    def load() -> "BaseChatModel | None":
        from agents.chat import ROUTING_TEMPERATURE

        return chat_model(settings.model, settings, temperature=ROUTING_TEMPERATURE)

    def complete(prompt: str) -> str:
        from langchain_core.messages import HumanMessage

        from agents import chat
        from agents.context import Limits

        model = load()
        if model is None:
            raise ConfigurationError(
                "This system lets a chat model choose the scope, and none is set. Set "
                "MILEPOST_MODEL, such as openai:gpt-5-mini, or use another --system."
            )
        return chat.complete(model, [HumanMessage(prompt)], Limits(answer_tokens=64)).text

    return complete
