"""Ask the caller's business rules about a typed value.

A rule is a function of the value, sync or async. It returns None where it is content, else one violation or several.
A rule that raises, or returns anything else, is a fault of the rule and not a verdict on the value: it is reported as
the code ``rule_error``, asking the model again cannot help, and nothing is committed.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, cast

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.gate.layers import Failure, Layer
from commitgate.json_value import JsonValue

T = TypeVar("T")

RULE_ERROR = "rule_error"
"""Code of a rule that broke."""


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """Say why a rule refuses a value.

    Attributes:
        code: short stable name, for programs.
        message: what was wanted, in words; it may reach logs, so leave the value itself out of it.
        pointer: JSON pointer into the value, ``""`` for its root.
        data: facts for programs; left out of ``repr``.
        retryable: asking the model again may help.
    """

    code: str
    message: str
    pointer: str = ""
    data: JsonValue = field(default=None, repr=False)
    retryable: bool = True


RuleResult: TypeAlias = RuleViolation | Iterable[RuleViolation] | None
Rule: TypeAlias = Callable[[T], "RuleResult | Awaitable[RuleResult]"]
"""A business rule over values of one type."""


async def judge_rules(rules: Sequence[Rule[T]], value: T) -> tuple[Failure, ...]:
    """Run all rules, in order, and return all that they found."""
    return tuple([failure for rule in rules for failure in await _judge(rule, value)])


async def _judge(rule: Rule[T], value: T) -> list[Failure]:
    try:
        result = rule(value)
        if inspect.isawaitable(result):
            result = await result
        found = _violations(result)
        if found is None:
            returned = type(result).__name__
            return [_broken(rule, f"returned {returned}, but must return None, a RuleViolation or several of them")]
        return [_failure(violation) for violation in found]
    except BaseException as error:
        # A rule is the caller's code and may raise anything, as one does that awaits an own task which was cancelled.
        is_stray = is_cancellation(error) and not must_go_on(error)
        if not isinstance(error, Exception) and not is_stray:
            raise
        return [_broken(rule, f"raised {type(error).__name__}", error)]


def _violations(result: object) -> list[RuleViolation] | None:
    """Return what a rule found; None where it returned something that no rule may."""
    if result is None:
        return []
    if isinstance(result, RuleViolation):
        return [result]
    if not isinstance(result, Iterable):
        return None
    found: list[object] = list(cast("Iterable[object]", result))
    return cast("list[RuleViolation]", found) if all(isinstance(entry, RuleViolation) for entry in found) else None


def _failure(violation: RuleViolation) -> Failure:
    return Failure(
        layer=Layer.RULES,
        code=violation.code,
        pointer=violation.pointer,
        message=violation.message,
        data=violation.data,
        retryable=violation.retryable,
    )


def _broken(rule: Callable[..., object], what: str, cause: BaseException | None = None) -> Failure:
    name = getattr(rule, "__qualname__", type(rule).__qualname__)
    message = f"the rule {name} {what}; correct the rule"
    return Failure(layer=Layer.RULES, code=RULE_ERROR, pointer="", message=message, retryable=False, cause=cause)


__all__ = ["RULE_ERROR", "Rule", "RuleResult", "RuleViolation", "judge_rules"]
