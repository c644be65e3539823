"""Business rules: all run, none is swallowed, and a broken one is told from a refusing one."""

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from commitgate.gate.rules import Rule, RuleViolation, judge_rules

pytestmark = pytest.mark.anyio


def content(value: int) -> None:
    return None


def refusing(value: int) -> RuleViolation:
    return RuleViolation("limit", "too much", "/amount", data={"limit": 5}, retryable=False)


async def refusing_later(value: int) -> list[RuleViolation]:
    await anyio.lowlevel.checkpoint()
    return [RuleViolation("a", "first"), RuleViolation("b", "second")]


def yielding(value: int) -> Iterator[RuleViolation]:
    yield RuleViolation("c", "third")
    yield RuleViolation("d", "fourth")


async def test_content_rules_find_nothing() -> None:
    assert await judge_rules([content, content], 1) == ()
    assert await judge_rules([], 1) == ()


async def test_all_rules_run_and_all_failures_are_kept_in_order() -> None:
    failures = await judge_rules([refusing, content, refusing_later, yielding], 1)
    assert [failure.code for failure in failures] == ["limit", "a", "b", "c", "d"]
    first = failures[0]
    assert (first.pointer, first.message, first.data, first.retryable) == ("/amount", "too much", {"limit": 5}, False)


def breaking(value: int) -> None:
    raise ZeroDivisionError("canary")


async def breaking_later(value: int) -> None:
    raise TimeoutError("canary")


def breaking_midway(value: int) -> Iterator[RuleViolation]:
    yield RuleViolation("a", "first")
    raise KeyError("canary")


@pytest.mark.parametrize(
    "rule",
    [
        breaking,
        breaking_later,
        breaking_midway,
        lambda value: False,
        lambda value: "no",
        lambda value: ["no"],
        lambda: 1,
    ],
)
async def test_broken_rule_is_a_failure_of_the_rule(rule: Rule[int]) -> None:
    failures = await judge_rules([rule, refusing], 1)
    assert [failure.code for failure in failures] == ["rule_error", "limit"]
    assert not failures[0].retryable
    assert "canary" not in repr(failures[0])


async def test_cancellation_passes_through_a_rule() -> None:
    async def endless(value: int) -> None:
        await anyio.sleep_forever()

    with anyio.move_on_after(0) as scope:
        await judge_rules([endless], 1)
    assert scope.cancelled_caught


@pytest.mark.parametrize("returned", [True, "text", 3, [1]])
async def test_rule_that_returns_what_no_rule_may_is_told_so(returned: Any) -> None:
    (failure,) = await judge_rules([lambda value: returned], 1)
    assert failure.code == "rule_error"
    assert f"returned {type(returned).__name__}, but must return None" in failure.message
    assert failure.cause is None


async def test_exception_of_a_broken_rule_hangs_on_its_failure() -> None:
    def broken(value: object) -> None:
        raise KeyError("canary")

    (failure,) = await judge_rules([broken], 1)
    assert isinstance(failure.cause, KeyError)
    assert "canary" not in repr(failure)
    assert "canary" not in failure.message
