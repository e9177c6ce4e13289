"""Counts what a run with several calls spends, so that every run ends, and ends in an answer.

A machine notes each call of a model and of a tool here, and asks `over` before the next one. Once
that names a limit, nothing more is looked for: the answer is made from what was found. A budget is
part of the state, so a run that is stopped and taken up again goes on counting; its seconds are
those of its steps, not those it waited in between.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from agents.context import Limits

Verdict = Literal["new", "repeated", "refused"]
"""Of a tool call: to be run; made before with these arguments; one more than the limits allow."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What has been spent."""

    rounds: int = 0
    """In which a model could call tools."""
    llm_calls: int = 0
    tokens: int = 0
    """Read and written."""
    seconds: float = 0.0
    """Wall-clock time of all steps."""
    calls: tuple[str, ...] = ()
    """Tool calls as they were made: name and arguments."""
    repeats: int = 0
    """Calls that were made before."""
    refused: int = 0
    """Calls that were one too many."""
    full: bool = False
    """Whether the model's context has no room for a further round."""
    ended: str | None = None
    """The limit that ends the search, in plain words; noted by `checked`."""

    def asked(self, tokens: int, *, calls: int = 1) -> "Budget":
        """Return the budget after a model was asked, which cost `tokens` in all."""
        return replace(self, llm_calls=self.llm_calls + calls, tokens=self.tokens + tokens)

    def next_round(self) -> "Budget":
        """Return the budget after a round has begun."""
        return replace(self, rounds=self.rounds + 1)

    def took(self, seconds: float) -> "Budget":
        """Return the budget after a step of that time."""
        return replace(self, seconds=self.seconds + seconds)

    def filled(self) -> "Budget":
        """Return the budget of a run whose model's context has no more room."""
        return replace(self, full=True)

    def called(
        self, tool: str, arguments: Mapping[str, object], limits: Limits
    ) -> tuple["Budget", Verdict]:
        """Return the budget after a call of a tool, and what is to be done with the call."""
        call = call_text(tool, arguments)
        if call in self.calls:
            return replace(self, repeats=self.repeats + 1), "repeated"
        if len(self.calls) >= limits.tool_calls:
            return replace(self, refused=self.refused + 1), "refused"
        return replace(self, calls=(*self.calls, call)), "new"

    def checked(self, limits: Limits, rounds: int) -> "Budget":
        """Return the budget with the limit that is reached, if one is; see `over`."""
        return replace(self, ended=self.over(limits, rounds))

    def over(self, limits: Limits, rounds: int) -> str | None:
        """Return which limit is reached, in plain words, or None while there is something left.

        Args:
            limits: Of the run.
            rounds: That this machine may take.
        """
        reached = (
            (self.rounds >= rounds, f"{rounds} rounds"),
            (len(self.calls) >= limits.tool_calls, f"{limits.tool_calls} tool calls"),
            (self.repeats >= limits.repeats, f"{limits.repeats} repeated tool calls"),
            (self.tokens >= limits.run_tokens, f"{limits.run_tokens:,} tokens"),
            (self.seconds >= limits.run_seconds, f"{limits.run_seconds:g} seconds"),
            (self.full, f"{limits.context_tokens:,} tokens of the model's context"),
        )
        return next((limit for is_reached, limit in reached if is_reached), None)


def call_text(tool: str, arguments: Mapping[str, object]) -> str:
    """Return a call in a form that is the same for the same call.

    Spaces, case and the order of arguments do not count, nor do arguments that are not given.
    """
    given = {
        name: " ".join(value.casefold().split()) if isinstance(value, str) else value
        for name, value in arguments.items()
        if value is not None
    }
    text = json.dumps(given, ensure_ascii=False, sort_keys=True, default=str)
    return f"{tool.strip().casefold()} {text}"
