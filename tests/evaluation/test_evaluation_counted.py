"""Effects and tools that are counted do the same, under the same name, and every run of them is seen."""

from functools import partial
from typing import Any

import pytest

from commitgate import EffectContext, EffectKind, TransactionContext, by_key, tool, transactional
from commitgate.effect import Effect
from commitgate.errors import MisuseError
from commitgate.evaluation.counted import Runs, counted_effect, counted_tool, may_run_again

CONTEXT = EffectContext(key="k", fence=1, attempt=1, deadline=None)
pytestmark = pytest.mark.anyio


def pay(value: int, context: EffectContext) -> str:
    return f"{value} {context.key}"


async def pay_later(value: int, context: EffectContext) -> str:
    return f"{value} {context.key}"


class Paying:
    effect_version = "2"

    def __call__(self, value: int, context: EffectContext) -> str:
        return f"{value} {context.key}"


@transactional
def book(value: int, context: TransactionContext) -> str:
    return f"{value} {context.key}"


@by_key
def send(value: int, context: EffectContext) -> str:
    return f"{value} {context.key}"


def named() -> Any:
    made = partial(pay)
    setattr(made, "effect_name", "pay/part")  # noqa: B010 - a partial has no such attribute of its own
    return made


@pytest.mark.parametrize(
    "function", [pay, pay_later, Paying(), book, send, named()], ids=lambda each: type(each).__name__
)
async def test_counted_effect_is_the_same_effect(function: Any) -> None:
    runs = Runs()
    one, other = Effect[Any, Any].of(function), Effect[Any, Any].of(counted_effect(function, runs))
    for name in ("name", "version", "kind", "reconcile", "only_reads"):
        assert getattr(one, name) == getattr(other, name)
    assert (one.load(one.dump("x")), other.load(other.dump("x"))) == ("x", "x")
    assert await other.run(3, CONTEXT) == "3 k"
    assert await other.run(4, CONTEXT) == "4 k"
    assert runs.names == [one.name, one.name]


async def test_run_that_raises_is_a_run() -> None:
    def broken(_value: Any, _context: EffectContext) -> None:
        raise ConnectionError

    runs = Runs()
    with pytest.raises(ConnectionError):
        await Effect[Any, Any].of(counted_effect(broken, runs)).run(1, CONTEXT)
    assert runs.count == 1


def test_what_is_no_effect_is_refused() -> None:
    with pytest.raises(MisuseError):
        counted_effect(lambda value, context: None, Runs())


def test_only_what_runs_under_its_key_may_run_again() -> None:
    effects: list[Any] = [pay, send, book]
    assert [may_run_again(each) for each in effects] == [False, True, False]
    assert Effect[Any, Any].of(send).kind is EffectKind.BY_KEY


async def test_tool_is_counted_unless_it_only_reads() -> None:
    @tool(effect="once", version="3")
    def move(amount: int) -> int:
        """Move money."""
        return amount

    @tool(effect="read")
    def look(amount: int) -> int:
        return amount

    runs = Runs()
    moved, looked = counted_tool(move, runs, None), counted_tool(look, runs, None)
    assert (moved.name, moved.version, moved.kind, moved.description) == ("move", "3", "once", "Move money.")
    assert moved.contract.full_digest == move.contract.full_digest
    for each in (moved, looked):
        arguments = each.contract.type_adapter
        assert arguments is not None
        assert await each.effect_of_call().run(arguments.validate_python({"amount": 2}), CONTEXT) == 2
    assert runs.names == ["tool:move"]
