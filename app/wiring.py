"""The one place that names concrete classes, opens what must be opened, and closes it."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from agents.question import names_edition
from app.settings import Settings
from app.systems import build_systems, chat_model
from graph.errors import StoreUnavailable, UsageError
from graph.model import Filter, Query, Ranking
from graph.patience import Patience
from graph.ports import Embedder
from graph.server.options import ServerOptions
from graph.store import EmbedderInfo, GraphStore
from router.retrieve import System
from router.understand import understand

if TYPE_CHECKING:
    from agents.answer import Answered
    from agents.context import Limits
    from graph.server.options import Connection


@dataclass(frozen=True, slots=True)
class App:
    """Everything that a command or a server works with."""

    settings: Settings
    store: GraphStore
    embedder: Embedder
    systems: Mapping[str, System]
    migrated: tuple[str, ...] = ()
    """Migrations applied while opening."""

    @property
    def limits(self) -> "Limits":
        """What an answer may cost, with the context of the chat model that is set."""
        from agents.context import Limits

        seconds = self.settings.model_seconds
        return Limits(
            context_tokens=self.settings.model_context,
            total_seconds=2 * seconds,
            run_seconds=3 * seconds,
        )

    def system(self, name: str | None) -> System:
        """Return a retrieval system by name; None means the one that is set.

        Raises:
            UsageError: There is no such system.
        """
        name = name or self.settings.system
        if name not in self.systems:
            raise UsageError(
                f"There is no system {name!r}. The systems are {', '.join(self.systems)}."
            )
        return self.systems[name]

    def search(self, query: Query, *, system: str | None = None, k: int = 10) -> Ranking:
        """Return the passages that a system finds.

        Raises:
            UsageError: System or scope unknown, question empty or too long.
        """
        found = self.system(system)
        self._check_scopes(query)
        ranking = found(query, k)
        self._check_found(ranking)
        return ranking

    def ask(
        self,
        query: Query,
        *,
        machine: str | None = None,
        system: str | None = None,
        model: str | None = None,
        k: int = 10,
    ) -> "Answered":
        """Return a checked answer, with the passages that it came from.

        Args:
            query: The question, and what it may be answered from.
            machine: Name of a state machine of `agents.machines`; None means the one that is set.
            system: Name of a retrieval system; None means the one that is set.
            model: "extractive" or a chat model; None means the one that is set.
            k: Passages to answer from.

        Raises:
            UsageError: Machine, system or scope unknown, question empty or too long.
            ConfigurationError: The chat model cannot be loaded, or the machine needs one.
            ModelError: The chat model failed.
        """
        from agents import machines
        from agents.answering import ask
        from agents.context import Context

        found = self.system(system)
        machine = machine or self.settings.machine
        machines.check_name(machine)
        self._check_scopes(query)
        chat = chat_model(model or self.settings.model, self.settings)
        machines.check_chat_model(machine, chat)
        context = Context(
            system=found,
            embedder=self.embedder,
            chat=chat,
            filter=query.filter,
            k=k,
            store=self.store,
            limits=self.limits,
        )
        answered = ask(machines.build(machine), query.text, context)
        self._check_found(answered.ranking)
        return answered

    def stand_alone(self, question: str, earlier: Sequence[str], model: str | None = None) -> str:
        """Rewrite a follow-up question so that it can be searched without those before it.

        Args:
            question: As typed.
            earlier: Questions before it, as they stood alone, oldest first.
            model: As for `ask`.

        Raises:
            ConfigurationError: The chat model cannot be loaded.
        """
        if not earlier:
            return question
        from agents.chat import ROUTING_TEMPERATURE
        from agents.follow_up import rewrite

        name = model or self.settings.model
        chat = chat_model(name, self.settings, temperature=ROUTING_TEMPERATURE)
        return rewrite(question, earlier, chat, self.limits)

    def currently(self, query: Query) -> Query:
        """Restrict a query to current editions, unless it or its question names others."""
        where = query.filter
        said = understand(query.text, self.store.holdings(where))
        named = (where.edition, where.year, where.as_of, said.edition, said.year, said.as_of)
        wished = [value for kind, value in said.wishes if kind in ("edition", "year")]
        if any(named) or len(wished) > 1 or names_edition(query.text):
            return query
        return replace(query, filter=replace(where, current_only=True))

    def _check_found(self, ranking: Ranking) -> None:
        """Tell a filter that no document passes from a question that no document answers."""
        where = ranking.query.filter
        if ranking.hits or self.store.list_scopes(where):
            return
        if not self.store.list_scopes(Filter(where.collection, where.audiences)):
            raise UsageError(
                f"Collection {where.collection!r} holds no document that you may see. Ingest some "
                "with `milepost ingest FOLDER`, or check --collection and --audience."
            )
        raise UsageError(
            f"No document in collection {where.collection!r} passes the filters given: check "
            "--scope, --series, --year and --as-of against `milepost documents list`."
        )

    def _check_scopes(self, query: Query) -> None:
        if not query.filter.scopes:
            return
        known = [s.name for s in self.store.list_scopes(replace(query.filter, scopes=()))]
        for scope in query.filter.scopes:
            if scope not in known:
                raise UsageError(
                    f"There is no scope {scope!r} in collection {query.filter.collection!r}. "
                    f"The scopes are {', '.join(known) or 'none, as it is empty'}."
                )


def server_options(settings: Settings) -> ServerOptions:
    """Return which Neo4j to use or to start."""
    password = settings.neo4j_password
    return ServerOptions(
        data_dir=settings.data_dir,
        cache_dir=settings.cache_dir,
        uri=settings.neo4j_uri,
        username=settings.neo4j_username,
        password=password.get_secret_value() if password else None,
        prefer=settings.server,
        bolt_port=settings.bolt_port,
        http_port=settings.http_port,
        image=settings.image,
        java_home=settings.java_home,
    )


def locate_server(settings: Settings) -> "Connection":
    """Return how the Neo4j that the settings name is reached.

    Raises:
        StoreUnavailable: None runs.
    """
    from graph.server import locate

    connection = locate.find(server_options(settings))
    if connection is None:
        raise StoreUnavailable("No Neo4j is running. Start it with `milepost db start`.")
    return connection


@contextmanager
def open_store(
    settings: Settings, *, retry_seconds: float = 30, patience: Patience | None = None
) -> Generator[GraphStore]:
    """Open the graph that the settings name, and close it at the end.

    Args:
        settings: From `app.settings.load`.
        retry_seconds: How long a lost connection is tried again.
        patience: For a server that goes away for longer.

    Raises:
        StoreUnavailable: No Neo4j answers; the message says how to start one.
        SchemaMismatch: The server is too old.
    """
    connection = locate_server(settings)
    auth = (connection.username, connection.password)
    with GraphStore(
        connection.uri,
        auth,
        database=settings.neo4j_database,
        retry_seconds=retry_seconds,
        patience=patience,
    ) as store:
        store.check_server()  # at once, where other calls go on trying for a while
        yield store


@contextmanager
def open_app(
    settings: Settings,
    *,
    migrate: bool = False,
    bulk: bool = False,
    notify: Callable[[str], None] | None = None,
    retry_seconds: float = 30,
    patience: Patience | None = None,
) -> Generator[App]:
    """Open graph and embedder, check that they fit, and close them at the end.

    Args:
        settings: From `app.settings.load`.
        migrate: Whether to bring the schema up to date first, as commands that write do.
        bulk: Whether many passages will be embedded, as by commands that ingest.
        notify: Told in one line what is being waited for; None prints it to standard error.
        retry_seconds: How long a lost connection is tried again.
        patience: For a server that goes away for longer.

    Raises:
        StoreUnavailable: No Neo4j answers.
        SchemaMismatch: The server or the schema is too old.
        EmbedderMismatch: The graph was made with another embedder.
    """
    from agents.memory import RememberingEmbedder
    from ingestion.embed import load_embedder

    with open_store(settings, retry_seconds=retry_seconds, patience=patience) as store:
        embedder = RememberingEmbedder(
            load_embedder(settings.embedder, settings.cache_dir, notify or _say, bulk=bulk)
        )
        info = EmbedderInfo(embedder.name, embedder.dimensions, embedder.fingerprint)
        migrated = store.migrate(info) if migrate else ()
        store.verify(info)
        yield App(settings, store, embedder, build_systems(settings, store, embedder), migrated)


def _say(message: str) -> None:
    typer.echo(message, err=True)
