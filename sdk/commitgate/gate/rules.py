"""Say what a check of the caller's may answer, and what follows from it.

A check is a function, sync or async. It returns None where it is content, else one violation or several. One that
raises, or returns anything else, is at fault itself: no verdict on the value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, cast

from commitgate.argument import check_kind, check_pointer
from commitgate.gate.asking import Kind
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
        pointer: JSON pointer (RFC 6901) into the value, ``""`` for its root. It is handed on as it stands, and may name
            what is not there: a field that is missing.
        data: facts for programs; left out of ``repr``.
        retryable: asking the model again may help.

    Raises:
        MisuseError: one of them is of another type, or the pointer is no JSON pointer; in a rule this is a fault of the
            rule.
    """

    code: str
    message: str
    pointer: str = ""
    data: JsonValue = field(default=None, repr=False, hash=False)
    retryable: bool = True

    def __post_init__(self) -> None:
        for name, words in (("code", self.code), ("message", self.message)):
            check_kind(f"RuleViolation.{name}", words, str, "a str")
        check_pointer("RuleViolation.pointer", self.pointer)
        check_kind("RuleViolation.retryable", self.retryable, bool, "a bool")


RuleResult: TypeAlias = RuleViolation | Iterable[RuleViolation] | None
Rule: TypeAlias = Callable[[T], "RuleResult | Awaitable[RuleResult]"]
"""A business rule over values of one type."""

RETURNS = "None, a RuleViolation or several of them"

RULE = Kind(layer=Layer.RULES, word="rule", error_code=RULE_ERROR, returns=RETURNS)


def violations(result: object) -> tuple[RuleViolation, ...] | None:
    """Return what a check found; None where it returned something that no check may."""
    if result is None:
        return ()
    if isinstance(result, RuleViolation):
        return (result,)
    # Words and tables never hold violations: an empty one is a mistake, and no yes.
    if not isinstance(result, Iterable) or isinstance(result, str | bytes | bytearray | memoryview | Mapping):
        return None
    found = tuple(cast("Iterable[object]", result))
    return (
        cast("tuple[RuleViolation, ...]", found) if all(isinstance(entry, RuleViolation) for entry in found) else None
    )


def failure(violation: RuleViolation, layer: Layer, *, may_retry: bool = True) -> Failure:
    """Return a violation as a failure of a layer.

    Args:
        violation: it.
        layer: the layer in which it was found.
        may_retry: False where asking the model again cannot help, whatever the violation says.
    """
    return Failure(
        layer=layer,
        code=violation.code,
        pointer=violation.pointer,
        message=violation.message,
        data=violation.data,
        retryable=violation.retryable and may_retry,
    )


__all__ = ["RETURNS", "RULE", "RULE_ERROR", "Rule", "RuleResult", "RuleViolation", "failure", "violations"]
