"""What a run may spend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.budget import Budget, call_text
from agents.context import Limits
from agents.state import BUDGET

LIMITS = Limits(tool_calls=2, repeats=2, run_tokens=100, run_seconds=10, context_tokens=500)


def test_a_new_budget_has_everything_left() -> None:
    assert Budget().over(LIMITS, 5) is None


@pytest.mark.parametrize(
    ("spent", "limit"),
    [
        (Budget(rounds=5), "5 rounds"),
        (Budget(calls=("a", "b")), "2 tool calls"),
        (Budget(repeats=2), "2 repeated tool calls"),
        (Budget(tokens=100), "100 tokens"),
        (Budget(seconds=10.0), "10 seconds"),
        (Budget(full=True), "500 tokens of the model's context"),
    ],
)
def test_each_limit_is_named_when_it_is_reached(spent: Budget, limit: str) -> None:
    assert spent.over(LIMITS, 5) == limit
    assert spent.checked(LIMITS, 5).ended == limit


@pytest.mark.parametrize(
    "spent",
    [
        Budget(rounds=4),
        Budget(calls=("a",)),
        Budget(repeats=1),
        Budget(tokens=99),
        Budget(seconds=9.9),
    ],
)
def test_nothing_ends_before_its_limit(spent: Budget) -> None:
    assert spent.over(LIMITS, 5) is None


def test_costs_add_up() -> None:
    spent = Budget().next_round().asked(30).took(1.5).next_round().asked(12, calls=2).took(0.5)

    assert (spent.rounds, spent.llm_calls, spent.tokens, spent.seconds) == (2, 3, 42, 2.0)


def test_the_same_call_counts_as_repeated_whatever_its_form() -> None:
    budget, first = Budget().called("search", {"query": "Audit logs", "scope": None}, LIMITS)
    budget, second = budget.called("Search", {"query": " audit  LOGS"}, LIMITS)

    assert (first, second) == ("new", "repeated")
    assert len(budget.calls) == 1
    assert budget.repeats == 1


def test_a_call_beyond_the_limit_is_refused() -> None:
    budget = Budget()
    verdicts: list[str] = []
    for query in "abc":
        budget, verdict = budget.called("search", {"query": query}, LIMITS)
        verdicts.append(verdict)

    assert verdicts == ["new", "new", "refused"]
    assert budget.refused == 1


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.text(), st.dictionaries(st.text(), Json))
def test_any_call_can_be_counted(tool: str, arguments: dict[str, object]) -> None:
    budget, verdict = Budget().called(tool, arguments, LIMITS)
    _, again = budget.called(tool, arguments, LIMITS)

    assert (verdict, again) == ("new", "repeated")
    assert call_text(tool, dict(reversed(arguments.items()))) == budget.calls[0]


def test_a_budget_survives_the_state() -> None:
    spent = Budget(2, 3, 40, 1.25, ("search {}",), 1, 0, full=True, ended="5 rounds")

    assert BUDGET.validate_python(BUDGET.dump_python(spent, mode="json")) == spent
