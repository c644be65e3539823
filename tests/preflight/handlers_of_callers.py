"""Functions as callers write them, for the tests of what becomes of each ending. Some forget endings on purpose."""

from __future__ import annotations

from typing import Any, assert_never

import commitgate
from commitgate import (
    Cancelled,
    Client,
    Committed,
    CompileFailed,
    DeadEnd,
    Disconnected,
    EffectFailed,
    Ending,
    Filtered,
    InDoubt,
    Invalid,
    NeedsApproval,
    Outcome,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)
from commitgate.endings import ENDINGS, Handlers, handle
from commitgate.errors import CommitgateError, InDoubtError, RefusedError
from commitgate.outcome import Failed


def say(outcome: object) -> str:
    return str(outcome)


made: Any = Handlers
HANDLERS: Handlers[Any, Any, str] = made(**dict.fromkeys(ENDINGS, say))
NO_HANDLERS = 7


def whole(outcome: Outcome[int, None]) -> str:
    match outcome:
        case Committed(value=value):
            return str(value)
        case Refused(text=text):
            return text
        case Filtered() | Truncated() | Cancelled() | TimedOut():
            return "again"
        case Disconnected() | Unavailable():
            return "later"
        case commitgate.Unsupported() | CompileFailed() | DeadEnd() | Violated():
            return "never"
        case Invalid(failures=failures):
            return str(failures)
        case NeedsApproval() as waiting:
            return waiting.reason
        case EffectFailed():
            return "no"
        case InDoubt():
            return "look"
        case _:
            assert_never(outcome)


def lacking(outcome: Outcome[int, None]) -> str:
    match outcome:
        case Committed():
            return "done"
        case Filtered() | Truncated() | Cancelled() | TimedOut() | Refused():
            return "again"
        case Disconnected() | Unavailable() | Unsupported() | CompileFailed() | DeadEnd() | Violated():
            return "later"
        case Invalid() | NeedsApproval() | EffectFailed():
            return "no"
    return "what?"


def lacking_in_the_end(outcome: Outcome[int, None]) -> None:
    match outcome:
        case Committed() | Filtered() | Truncated() | Cancelled() | TimedOut() | Refused():
            say(outcome)
        case Disconnected() | Unavailable() | Unsupported() | CompileFailed() | DeadEnd() | Violated():
            say(outcome)
        case Invalid() | NeedsApproval() | EffectFailed():
            say(outcome)


def never_said(outcome: Outcome[int, None]) -> str:
    if isinstance(outcome, Failed):
        return "no"
    if isinstance(outcome, Committed) and outcome.value > 0:
        return "done"
    assert_never(outcome)  # pyright: ignore[reportArgumentType] - it is what the test is about


def swallowing(outcome: Outcome[int, None]) -> str:
    match outcome:
        case Committed():
            return "done"
        case Refused():
            return "no"
        case _:
            return "something else"


def silent(outcome: Outcome[int, None]) -> None:
    if isinstance(outcome, Committed):
        say(outcome.value)
    elif isinstance(outcome, Refused | Filtered):
        say(outcome)
    else:
        pass


def grouped(outcome: Outcome[int, None]) -> str:
    match outcome:
        case Committed():
            return "done"
        case Ending():
            return outcome.summary()


def falling_through(outcome: Outcome[int, None]) -> str:
    if isinstance(outcome, Committed):
        return "done"
    if not isinstance(outcome, InDoubt):
        return outcome.summary()
    return "look"


def narrowing_within(outcome: Outcome[int, None]) -> str:
    say(outcome.name)
    if isinstance(outcome, Committed):
        return "done"
    say(outcome.receipt)
    return handle(outcome, HANDLERS)


def with_guard(outcome: Outcome[int, None]) -> str:
    match outcome:
        case Committed():
            return "done"
        case Refused() if outcome.text:
            return "no"
        case Invalid(layer=commitgate.Layer.RULES):
            return "rules"
        case (
            Filtered() | Truncated() | Cancelled() | TimedOut() | Disconnected() | Unsupported() | CompileFailed()
        ) | (DeadEnd() | Violated() | NeedsApproval() | EffectFailed() | InDoubt() | Unavailable()):
            return "other"
    return ""


def unwrapping(outcome: Outcome[int, None]) -> int:
    return outcome.unwrap()


def catching(outcome: Outcome[int, None]) -> int:
    try:
        return outcome.unwrap()
    except RefusedError:
        return 0
    except InDoubtError:
        return 1


def catching_all(outcome: Outcome[int, None]) -> int:
    try:
        return outcome.unwrap()
    except RefusedError:
        return 0
    except CommitgateError:
        return 1


def by_word(outcome: Outcome[int, None]) -> str:
    if outcome.name == "committed":
        return "done"
    if outcome.name in ("refused", "filtered"):
        return "no"
    return "other"


def untyped(outcome):
    match outcome:
        case Committed():
            return 1
        case Refused() | Filtered() | Truncated() | Cancelled() | TimedOut() | Disconnected() | Unsupported():
            return 2
        case CompileFailed() | DeadEnd() | Violated() | Invalid() | NeedsApproval() | EffectFailed() | InDoubt():
            return 3
        case Unavailable():
            return 4


def narrow(outcome: Committed[int, None] | Refused | InDoubt) -> str:
    match outcome:
        case Committed():
            return "done"
        case Refused() | InDoubt():
            return "no"


async def calling(client: Client) -> str:
    async with client.stream_structured("local", int, prompt="a number") as run:
        outcome = await run.outcome()
        match outcome:
            case Committed():
                return "done"
            case Ending():
                raise RuntimeError(outcome.name)


def telling_nothing(outcome: Outcome[int, None]) -> str:
    return outcome.summary()


class Desk:
    def take(self, outcome: Outcome[int, None]) -> str:
        return handle(outcome, HANDLERS)

    def __call__(self, outcome: Outcome[int, None]) -> str:
        return swallowing(outcome) if isinstance(outcome, Committed) else "no"


DESK = Desk()
