"""Take a text through the judge, with checks of a test's own."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from commitgate.contract import Contract
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.layers import Layer
from commitgate.outcome import Invalid, NeedsApproval

X = TypeVar("X")

LAYERS = {"rules": Layer.RULES, "content": Layer.CONTENT, "evidence": Layer.EVIDENCE, "authorize": Layer.AUTHORIZE}


class Clock:
    """Tell a time that goes on by one second a look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


class Blocking:
    """Run what may block, and count it."""

    def __init__(self) -> None:
        self.runs = 0

    async def __call__(self, function: Callable[[], X], /) -> X:
        self.runs += 1
        return function()


def judge_of(schema: Any = int, *, run_blocking: Any = None) -> Judge[Any]:
    options = {} if run_blocking is None else {"run_blocking": run_blocking}
    return Judge(Contract.of(schema), clock=Clock(), **options)


def checks_of(**checks: Any) -> Checks[Any]:
    """Return checks; each argument is one function or a list of them."""
    return Checks(**{name: tuple(each) if isinstance(each, list) else (each,) for name, each in checks.items()})


def deliberate(
    text: str = "1", schema: Any = int, /, *, principal: object = None, run_blocking: Any = None, **checks: Any
) -> Awaitable[Invalid | NeedsApproval | None]:
    """Choose the value of a text and deliberate on it."""
    judge = judge_of(schema, run_blocking=run_blocking)
    chosen = judge.choose(text.encode())
    assert isinstance(chosen, Chosen)
    return judge.deliberate(chosen.value, checks_of(**checks), CheckContext(principal=principal))


def codes(ending: Invalid | NeedsApproval | None) -> list[str]:
    assert isinstance(ending, Invalid)
    return [failure.code for failure in ending.failures]
