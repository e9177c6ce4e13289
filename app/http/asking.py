"""From a request to passages and answers, with steps that can be streamed and stopped."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, cast

from agents import machines
from agents.answer import Answered
from agents.context import Context
from agents.state import ANSWER, RANKING, Draft
from agents.threads import Turn, new_id, questions, turn_of
from app.http.backend import Backend
from app.http.errors import ClientGone, Refusal
from app.http.guard import Caller
from app.http.shapes import AskRequest, Narrowing, SearchRequest
from graph.errors import ModelError, UsageError
from graph.model import Filter, Query, Ranking
from router.retrieve import System

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk

NEW_THREAD = "new"
"""In place of a thread's id: begin one."""

DEFAULT_MODEL = "milepost"
"""A further name for the system that is set, for OpenAI's clients."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the draft: its citations are not checked yet, so the answer may differ."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, in its conversation."""

    thread: str | None
    asked: str
    """As typed."""
    question: str
    """Standing alone."""


Step = Asked | Ranking | Token | Answered
"""What an answer is made in: the question, where it is part of a conversation; all that was found
so far, each time that more is; pieces of the draft; once the checked answer."""


def search(backend: Backend, request: SearchRequest, caller: Caller) -> Ranking:
    """Find passages.

    Raises:
        Refusal: System, scope or collection unknown, or an audience that the key does not hold.
        StoreError: The graph cannot be searched.
    """
    query = Query(request.query, _filter(request, caller))
    system = find_system(backend, request.system)
    _check_scopes(backend, query.filter)
    ranking = system(query, request.k)
    _check_found(backend, ranking)
    backend.metrics.found(ranking.system, len(ranking.hits))
    backend.metrics.stages(ranking.timings_ms)
    return ranking


def ask(
    backend: Backend,
    request: AskRequest,
    caller: Caller,
    stop: Event,
    earlier: Sequence[str] = (),
) -> Generator[Step]:
    """Answer a question, step by step.

    Args:
        backend: What to work with.
        request: The question.
        caller: Whose rights count.
        stop: Set when nobody waits for the answer any more.
        earlier: Questions before this one, oldest first, where the request names no thread.

    Raises:
        ClientGone: `stop` was set.
        Refusal: As `search`; and machine unknown, or without the chat model that it needs.
        ModelError: The chat model failed.
        StoreError: The graph cannot be searched.
    """
    where = _filter(request, caller)
    system = find_system(backend, request.system)
    machine = find_machine(backend, request.machine)
    _check_scopes(backend, where)
    asked = _asked(backend, request, caller, where, earlier)
    if asked.thread is not None or asked.question != request.query:
        yield asked
    query = Query(asked.question, where)
    if not request.all_editions:
        query = backend.app.currently(query)
    context = Context(
        system=system,
        embedder=backend.app.embedder,
        chat=backend.chat,
        filter=query.filter,
        k=request.k,
        store=backend.app.store,
        limits=backend.app.limits,
    )
    try:
        with closing(_run(machine, asked.question, context, stop)) as steps:
            for step in steps:
                _count(backend, step)
                if isinstance(step, Answered) and asked.thread is not None:
                    backend.threads.add(caller.name, asked.thread, turn_of(request.query, step))
                yield step
                if stop.is_set():
                    raise ClientGone
    except ModelError as error:
        if stop.is_set():
            raise ClientGone from error
        raise


def _asked(
    backend: Backend,
    request: AskRequest,
    caller: Caller,
    where: Filter,
    earlier: Sequence[str],
) -> Asked:
    """Return the question so that it stands alone, and the thread that it belongs to.

    Raises:
        Refusal: The caller has no such thread.
    """
    thread = request.thread
    if thread == NEW_THREAD:
        return Asked(new_id(), request.query, request.query)
    if thread is not None:
        earlier = questions(find_turns(backend, caller, thread, where), where)
    return Asked(thread, request.query, backend.app.stand_alone(request.query, earlier))


def find_turns(backend: Backend, caller: Caller, thread: str, where: Filter) -> list[Turn]:
    """Return the turns of a thread that the caller may see.

    Raises:
        Refusal: The caller has no such thread.
    """
    try:
        return backend.threads.turns(caller.name, thread, where)
    except UsageError as error:
        raise Refusal(404, "unknown_thread", str(error)) from error


def _count(backend: Backend, step: Step) -> None:
    """Refuse a ranking that no document could be in; count what an answer was made from."""
    if isinstance(step, Ranking):
        _check_found(backend, step)
    elif isinstance(step, Answered):
        backend.metrics.found(step.ranking.system, len(step.ranking.hits))
        backend.metrics.stages(step.ranking.timings_ms)


def last(steps: Iterator[Step]) -> tuple[Answered, Asked | None]:
    """Return the checked answer, which is the last step, and the question in its conversation."""
    asked = None
    for step in steps:
        if isinstance(step, Asked):
            asked = step
        if isinstance(step, Answered):
            return step, asked
    raise AssertionError("a run ended without an answer")


def find_system(backend: Backend, name: str | None) -> System:
    """Return a retrieval system; None means the one that is set.

    Raises:
        Refusal: There is none of that name.
    """
    systems = backend.app.systems
    if name is None or name == DEFAULT_MODEL:
        return backend.app.system(None)
    if name not in systems:
        names = ", ".join((DEFAULT_MODEL, *systems))
        raise Refusal(404, "unknown_system", f"There is no system {name!r}. They are: {names}.")
    return systems[name]


def find_machine(backend: Backend, name: str | None) -> str:
    """Return the name of a machine that can answer here; None means the one that is set.

    Raises:
        Refusal: There is none of that name, or it needs a chat model and there is none.
    """
    name = name or backend.app.settings.machine
    if name not in machines.MACHINES:
        names = ", ".join(machines.MACHINES)
        raise Refusal(404, "unknown_machine", f"There is no machine {name!r}. They are: {names}.")
    if backend.chat is None and name not in machines.WITHOUT_CHAT_MODEL:
        raise Refusal(
            400,
            "needs_chat_model",
            f"The machine {name} works with a chat model, and this server has none. Use "
            f"{machines.DEFAULT}, or let its operator set MILEPOST_MODEL.",
        )
    return name


def visible(caller: Caller, collection: str, audiences: Sequence[str] | None = None) -> Filter:
    """Return a filter with the caller's audiences, or those of them that are asked for.

    Raises:
        Refusal: The key does not hold one that is asked for.
    """
    asked = tuple(audiences) if audiences is not None else caller.audiences
    if unheld := [name for name in asked if name not in caller.audiences]:
        held = ", ".join(caller.audiences)
        raise Refusal(
            403,
            "audience_not_held",
            f"This key does not hold the audience {unheld[0]!r}, only {held}.",
        )
    return Filter(collection=collection, audiences=asked)


def _filter(request: Narrowing, caller: Caller) -> Filter:
    return replace(
        visible(caller, request.collection, request.audiences),
        scopes=tuple(request.scopes),
        series=request.series,
        edition=request.edition,
        year=request.year,
        as_of=request.as_of,
        current_only=request.current,
    )


def _check_scopes(backend: Backend, where: Filter) -> None:
    if not where.scopes:
        return
    everything = Filter(where.collection, where.audiences)
    known = [scope.name for scope in backend.app.store.list_scopes(everything)]
    for scope in where.scopes:
        if scope not in known:
            names = ", ".join(known) or "none"
            raise Refusal(
                404,
                "unknown_scope",
                f"There is no scope {scope!r} in collection {where.collection!r}. "
                f"The scopes are: {names}.",
            )


def _check_found(backend: Backend, ranking: Ranking) -> None:
    """Tell a filter that no document passes from a question that no document answers."""
    where = ranking.query.filter
    store = backend.app.store
    if ranking.hits or store.list_scopes(where):
        return
    if not store.list_scopes(Filter(where.collection, where.audiences)):
        raise Refusal(
            404,
            "empty_collection",
            f"Collection {where.collection!r} holds no document that this key may see.",
        )
    raise Refusal(
        404,
        "nothing_passes",
        f"No document in collection {where.collection!r} passes the filters given. GET /documents "
        "lists the series, editions and years that there are.",
    )


def _run(machine: str, question: str, context: Context, stop: Event) -> Generator[Step]:
    """Run the machine, and turn what its nodes add into steps."""
    from app.http.stopping import StopsChatModel

    progress = _Progress()
    parts = machines.build(machine).stream(
        {"question": question},
        {"callbacks": [StopsChatModel(stop)]},
        context=context,
        stream_mode=["updates"] if context.chat is None else ["updates", "messages"],
    )
    with closing(cast("Generator[tuple[str, Any]]", parts)) as running:
        for mode, part in running:
            if stop.is_set():
                raise ClientGone
            if mode == "messages":
                yield from progress.written(part)
            else:
                for node, added in cast("Mapping[str, dict[str, Any]]", part).items():
                    yield from progress.added(node, added)
    yield from progress.ended()


class _Progress:
    """What a run has come to, and what has been told of it."""

    def __init__(self) -> None:
        self._state: dict[str, Any] = {}
        self._timings: dict[str, float] = {}
        self._told: int | None = None
        """Hits that were told; None before the first time."""
        self._streamed = False

    def written(self, part: tuple["AIMessageChunk", Mapping[str, object]]) -> Iterator[Step]:
        """Tell a piece of a message, if it belongs to the answer and not to another node."""
        message, metadata = part
        text = str(message.text) if metadata.get("langgraph_node") == "answer" else ""
        if text:
            yield from self._found()
            self._streamed = True
            yield Token(text)

    def added(self, node: str, added: Mapping[str, Any]) -> Iterator[Step]:
        """Tell what a node has added."""
        self._state |= added
        self._timings |= added.get("timings_ms", {})
        if node == "retrieve" or self._state.get("ranking", {}).get("hits"):
            yield from self._found()
        if "draft" in added:
            yield from self._found()
            if not self._streamed:
                draft: Draft = self._state["draft"]
                yield from map(Token, draft["text"].splitlines(keepends=True))

    def ended(self) -> Iterator[Step]:
        """Tell the checked answer."""
        yield from self._found()
        ranking = RANKING.validate_python(self._state["ranking"])
        answer = ANSWER.validate_python(self._state["answer"])
        yield Answered(replace(ranking, timings_ms=self._timings), answer)

    def _found(self) -> Iterator[Ranking]:
        """Tell what was found, if it was not told yet."""
        hits = len(self._state.get("ranking", {}).get("hits", ()))
        if hits != self._told and "ranking" in self._state:
            self._told = hits
            yield RANKING.validate_python(self._state["ranking"])
