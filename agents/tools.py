"""Runs the tools of one run: numbers what they find, and keeps to the budget.

A passage gets its number when it is first shown, and keeps it: `[Source n]` means the same to every
round, to the answer and to the check. What the caller may see comes from the context; no argument
of a tool can widen it. What a model does wrong is told to it; that the graph is lost is not.
"""

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock

from pydantic import ValidationError

from agents.budget import Budget
from agents.context import Context
from agents.passages import cut, describe, estimate_tokens, show
from agents.tool import Found, Tool, quoted, what_is_wrong
from agents.tool_editions import comparison_tool, section_tool
from agents.tool_search import ScopeTool, search_tools
from graph.errors import UsageError
from graph.model import Hit

FAILED = "The call failed."
NOTHING = "Nothing was found. Use other words, or another tool."
REPEATED = "This call was made before: its result stands above. Ask for something else, or answer."
REFUSED = "No further call is possible. Answer from what was found."
LEFT_OUT = "More was found than there is room for. Ask for less at a time."
LEAST_ROOM = 200
"""Tokens; with less, a further result is not worth asking for."""


class Toolbox:
    """The tools of one run. Calls may come from several threads; they run one after the other."""

    def __init__(
        self,
        context: Context,
        scopes: Sequence[ScopeTool],
        *,
        room: int,
        hits: Sequence[Hit] = (),
        budget: Budget = Budget(),  # noqa: B008 (frozen)
    ) -> None:
        """Set them up.

        Args:
            context: Of the run.
            scopes: Those that get a tool of their own.
            room: Tokens that are left in the model's context for results.
            hits: What was found before, by number.
            budget: What was spent before.
        """
        self.hits = list(hits)
        """What was shown: `[Source n]` is `hits[n - 1]`."""
        self.budget = budget
        self.room = room
        self._context = context
        self._numbers = {hit.passage.chunk_id: n for n, hit in enumerate(hits, start=1)}
        self._lock = Lock()
        tools = [
            *search_tools(context, scopes),
            section_tool(context, self.hits),
            comparison_tool(context),
        ]
        self.tools: dict[str, Tool] = {tool.name: tool for tool in tools}

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Return what the model is told of a call.

        Raises:
            StoreError: The graph cannot be read.
            ModelError: The question cannot be embedded.
        """
        with self._lock:
            limits = self._context.limits
            self.budget, verdict = self.budget.called(name, arguments, limits)
            if verdict == "repeated":
                text = REPEATED
            elif verdict == "refused" or self.room < LEAST_ROOM:
                text = REFUSED
            else:
                text = self._run(name, arguments)
            self.room -= estimate_tokens(text)
            if self.room < LEAST_ROOM:
                self.budget = self.budget.filled()
            return text

    def wrong(self, name: str, problem: str) -> str:
        """Return what the model is told of a call that cannot even be read; it counts as one."""
        with self._lock:
            self.budget, _ = self.budget.called(name, {"": problem}, self._context.limits)
            return failed(problem)

    def _run(self, name: str, arguments: Mapping[str, object]) -> str:
        tool = self.tools.get(name)
        if tool is None:
            return failed(f"There is no tool {name!r}. The tools are {', '.join(self.tools)}.")
        try:
            given = tool.arguments.model_validate(arguments)
        except ValidationError as error:
            takes = ", ".join(tool.arguments.model_fields)
            return failed(f"{what_is_wrong(error)}. {name} takes {takes}.")
        try:
            return self._show(tool.find(given))
        except UsageError as error:
            return failed(str(error))

    def _show(self, parts: Iterable[Found]) -> str:
        """Number what is new and show it, in half of the room that is left."""
        room = self.room // 2
        blocks: list[str] = []
        for part in parts:
            for block, hit in self._blocks(part):
                if estimate_tokens(block) > room and not blocks:
                    block = cut(block, room)
                if estimate_tokens(block) > room:
                    return "\n\n".join([*blocks, LEFT_OUT])
                room -= estimate_tokens(block)
                blocks.append(block)
                if hit is not None:
                    self._number(hit)
        return "\n\n".join(blocks) or NOTHING

    def _blocks(self, part: Found) -> Iterable[tuple[str, Hit | None]]:
        """Yield what is to be shown, each new passage with its hit; it is numbered when shown."""
        if part.about:
            yield part.about, None
        for hit in part.hits:
            known = self._numbers.get(hit.passage.chunk_id)
            if known is None:
                yield show(len(self.hits) + 1, hit.passage), hit
            else:
                yield f"[Source {known}] {describe(hit.passage)} (shown above)", None

    def _number(self, hit: Hit) -> None:
        self.hits.append(hit)
        self._numbers[hit.passage.chunk_id] = len(self.hits)


def failed(problem: str) -> str:
    """Return what a model is told of a call that failed.

    The names of series and documents in it are quoted as data.
    """
    return f"{FAILED}\n{quoted(problem)}"
