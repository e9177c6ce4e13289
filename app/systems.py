"""Every retrieval system by name, with its collaborators bound; nothing is loaded until it is used.

`guided` is the default. The others are there to be compared with: those of the dilution paper as
the paper has them, and rerankers over the candidates of `hybrid`.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from app.settings import Settings
from graph.errors import ConfigurationError
from graph.ports import Embedder, Router, Store
from router import guided, retrieve, systems
from router.bm25 import Bm25
from router.comparison import InMemory, PairScorer, TextIndex, reranked
from router.facts import Facts
from router.rerank import SUFFIX, NotingStore, Scorer, load_scorer, reranked_by
from router.retrieve import Routed, System
from router.route import UNSURE, Complete, by_model, by_patterns, first_sure, vote

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from router.sparse import SparseModel


SCORER_SECONDS = 60.0
"""After so long, a scorer or topics that were made meanwhile are used."""


class Systems(Mapping[str, System]):
    """The systems by name, the default first.

    Each has a second name with "+topics" behind it, which the trained scorer stands behind; those
    are not listed.
    """

    def __init__(self, plain: Mapping[str, System], reranked: Mapping[str, System]) -> None:
        self._plain = plain
        self._reranked = reranked

    def __getitem__(self, name: str) -> System:
        return (self._reranked if name.endswith(SUFFIX) else self._plain)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)


def build_systems(settings: Settings, store: Store, embedder: Embedder) -> Systems:
    """Return the systems, with nothing read or loaded yet."""
    noting = NotingStore(store)
    again = _build(settings, cast("Store", noting), embedder)  # passes on what it does not note
    scorer_of = _Scorers(settings, store, embedder)
    reranked = [reranked_by(one, noting, embedder, scorer_of) for one in again.values()]
    plain = _build(settings, store, embedder)
    return Systems(plain, {system.name: system for system in reranked})


def scorer_file(settings: Settings, collection: str) -> Path:
    """Return where the trained scorer of a collection is kept."""
    return settings.data_dir / "scorers" / f"{quote(collection, safe='')}.safetensors"


class _Scorers:
    """Loads the scorer of a collection when it is first needed, and anew after a while."""

    def __init__(self, settings: Settings, store: Store, embedder: Embedder) -> None:
        self._settings, self._store, self._embedder = settings, store, embedder
        self._known: dict[str, tuple[float, Scorer]] = {}

    def __call__(self, collection: str) -> Scorer:
        from ingestion.topic_models import load_topics

        until, scorer = self._known.get(collection, (0.0, None))
        if scorer is None or time.monotonic() > until:
            mark = self._embedder.fingerprint
            topics = load_topics(self._store, collection, mark)
            scorer = load_scorer(scorer_file(self._settings, collection), mark, topics)
            self._known[collection] = (time.monotonic() + SCORER_SECONDS, scorer)
        return scorer


def _build(settings: Settings, store: Store, embedder: Embedder) -> dict[str, System]:
    facts = Facts(store, embedder.fingerprint)
    embed = partial(retrieve.embed_only, embedder=embedder)
    understand = partial(guided.understood, embedder=embedder, holdings=facts.holdings)
    regex = partial(by_patterns, patterns=facts.patterns)
    model = partial(by_model, complete=completer(settings), holdings=facts.holdings)

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
    name: str,
    settings: Settings,
    *,
    temperature: float | None = None,
    answer_tokens: int | None = None,
) -> "BaseChatModel | None":
    """Load the chat model of that name, or None for "extractive".

    Args:
        name: As in `agents.chat.load_chat_model`.
        settings: Where its server is, and how long a call may take.
        temperature: None means that of answers.
        answer_tokens: Most that it writes at a time; None means as much as an answer may have.

    Raises:
        ConfigurationError: The provider is unknown, not installed, or refuses the settings.
    """
    from agents.chat import EXTRACTIVE, TEMPERATURE, load_chat_model
    from agents.context import Limits

    if name == EXTRACTIVE:
        return None
    key = settings.model_api_key
    return load_chat_model(
        name,
        limits=Limits(answer_tokens=answer_tokens) if answer_tokens else Limits(),
        temperature=TEMPERATURE if temperature is None else temperature,
        timeout_seconds=settings.model_seconds,
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


def completer(settings: Settings, *, answer_tokens: int = 64) -> Complete:
    """Return what sends a prompt to the chat model that is set, loaded when it is first needed."""

    @cache
    def load() -> "BaseChatModel | None":
        from agents.chat import ROUTING_TEMPERATURE

        return chat_model(
            settings.model,
            settings,
            temperature=ROUTING_TEMPERATURE,
            answer_tokens=answer_tokens,
        )

    def complete(prompt: str) -> str:
        from langchain_core.messages import HumanMessage

        from agents import chat
        from agents.context import Limits

        model = load()
        if model is None:
            raise ConfigurationError(
                "This needs a chat model, and none is set. Set MILEPOST_MODEL, such as "
                "openai:gpt-5-mini, or use another --system or --teacher."
            )
        limits = Limits(answer_tokens=answer_tokens)
        return chat.complete(model, [HumanMessage(prompt)], limits).text

    return complete
