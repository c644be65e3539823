"""Hold what a caller asks of a value beyond its schema and type: rules, content, evidence, approval, authorization."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from commitgate.argument import check_kind, check_takes, wrong_kind
from commitgate.gate.check_context import CheckContext
from commitgate.gate.rules import Rule, RuleResult

if TYPE_CHECKING:
    from commitgate.contract import Contract

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])

ContentCheck: TypeAlias = Rule[T]
"""A check of the texts in a value."""

Evidence: TypeAlias = Callable[[T, CheckContext], "RuleResult | Awaitable[RuleResult]"]
"""A check of a value against an authority: does the record exist, may this caller see it?"""

Authorize: TypeAlias = Callable[[T, CheckContext], "bool | RuleResult | Awaitable[bool | RuleResult]"]
"""Says whether the principal may have this done: None or True allow, False or violations deny."""

Approve: TypeAlias = Callable[[T, CheckContext], "bool | str | Awaitable[bool | str | None] | None"]
"""Says whether a person must look first: None or False for no, True or the reason for yes."""

_OF_VALUE = ("value",)
_OF_BOTH = ("value", "context")


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Checks(Generic[T]):
    """Hold the checks of one call, those of its contract first.

    Attributes:
        rules: business rules over the value; all must be content.
        content: checks of its texts, beside the one that is built in; all must be content.
        evidence: checks against an authority; all must be content.
        authorize: those who must all allow it.
        approve: those of whom any may ask for a person.
    """

    rules: tuple[Rule[T], ...] = field(default=(), repr=False)
    content: tuple[ContentCheck[T], ...] = field(default=(), repr=False)
    evidence: tuple[Evidence[T], ...] = field(default=(), repr=False)
    authorize: tuple[Authorize[T], ...] = field(default=(), repr=False)
    approve: tuple[Approve[T], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, takes in (
            ("rules", _OF_VALUE),
            ("content", _OF_VALUE),
            ("evidence", _OF_BOTH),
            ("authorize", _OF_BOTH),
            ("approve", _OF_BOTH),
        ):
            object.__setattr__(self, name, _functions(name, getattr(self, name), takes))

    @staticmethod
    def of(
        *,
        rules: Sequence[Rule[T]] | None = None,
        content: Sequence[ContentCheck[T]] | None = None,
        evidence: Sequence[Evidence[T]] | None = None,
        authorize: Authorize[T] | None = None,
        approve: Approve[T] | None = None,
    ) -> Checks[T]:
        """Return what a call or a contract is given.

        Raises:
            MisuseError: one is no function, or takes other arguments.
        """
        return Checks[T](
            rules=cast("tuple[Rule[T], ...]", () if rules is None else rules),
            content=cast("tuple[ContentCheck[T], ...]", () if content is None else content),
            evidence=cast("tuple[Evidence[T], ...]", () if evidence is None else evidence),
            authorize=_one("authorize", authorize),
            approve=_one("approve", approve),
        )

    @staticmethod
    def of_contract(contract: Contract[T]) -> Checks[T]:
        """Return a contract's own checks."""
        return Checks(
            rules=contract.rules,
            content=contract.content,
            evidence=contract.evidence,
            authorize=contract.authorize,
            approve=contract.approve,
        )

    def joined(self, other: Checks[T]) -> Checks[T]:
        """Return these checks and then the others: all must be content, all must allow, any may ask for a person."""
        return Checks(
            rules=(*self.rules, *other.rules),
            content=(*self.content, *other.content),
            evidence=(*self.evidence, *other.evidence),
            authorize=(*self.authorize, *other.authorize),
            approve=(*self.approve, *other.approve),
        )


def _one(name: str, function: F | None) -> tuple[F, ...]:
    if function is None:
        return ()
    if not callable(function):
        raise wrong_kind(name, "a function of the value and its context", function)
    check_takes(function, _OF_BOTH, name)
    return (function,)


def _functions(name: str, given: object, takes: tuple[str, ...]) -> tuple[Callable[..., object], ...]:
    """Check that each can be called with what it will be called with.

    Raises:
        MisuseError: one cannot.
    """
    check_kind(name, given, Sequence, "a list of functions")
    functions = tuple(cast("Sequence[object]", given))
    for index, function in enumerate(functions):
        if not callable(function):
            wanted = "a function of the value" if takes == _OF_VALUE else "a function of the value and its context"
            raise wrong_kind(f"{name}[{index}]", wanted, function)
        check_takes(function, takes, f"{name}[{index}]")
    return cast("tuple[Callable[..., object], ...]", functions)


__all__ = ["Approve", "Authorize", "Checks", "ContentCheck", "Evidence"]
