"""Run the steps of one run of tools, one after the other, each a call of the client of its own, within one limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, TypeVar

import anyio

from commitgate.errors import MisuseError
from commitgate.gate.exact_json import encode
from commitgate.gate.strict_parse import PARSER_NESTING, Parsed, strict_parse
from commitgate.outcome import Cancelled, Outcome, Receipt, TimedOut
from commitgate.preview import Preview, Reset
from commitgate.retry.keys import OperationKey
from commitgate.run.order import InProgress, Order, order_of_given
from commitgate.run.shared import Shared
from commitgate.run.structured_run import StructuredRun
from commitgate.timeouts import Timeouts

if TYPE_CHECKING:
    from commitgate.contract import Contract
    from commitgate.effect import Effect

T = TypeVar("T")
R = TypeVar("R")


LEAST_WAIT_S = 0.001
"""Shortest limit that a step is given; what has less left does not begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Hold what all steps of a run have in common.

    Attributes:
        key: the run's operation key; None keeps no record.
        principal: who asks.
        timeouts: limits on the waits; the total is the whole run's.
        ends_at: time by the event loop's clock at which the run ends; infinite for never.
        in_progress: what to do where another call holds a key.
        approval_expires_s: seconds that a person may take to decide; None without a limit.
    """

    key: OperationKey | None = field(repr=False)
    principal: object = field(repr=False)
    timeouts: Timeouts
    ends_at: float
    in_progress: InProgress
    approval_expires_s: float | None

    def remaining(self) -> Timeouts | None:
        """Return the limits of a step that begins now; None where the time is over."""
        if self.ends_at == inf:
            return self.timeouts
        remaining_s = self.ends_at - anyio.current_time()
        return replace(self.timeouts, total_s=remaining_s) if remaining_s >= LEAST_WAIT_S else None

    def timed_out(self) -> TimedOut:
        """Return the ending of a run whose time is over."""
        return TimedOut(phase="total", limit_s=self.timeouts.total_s or 0.0, receipt=Receipt())

    def whole(self, outcome: Outcome[T, R]) -> Outcome[T, R]:
        """Return the ending of a step as one of the run: its total limit is the run's."""
        if isinstance(outcome, TimedOut) and outcome.phase == "total":
            return replace(outcome, limit_s=self.timeouts.total_s or 0.0)
        return outcome

    def order(
        self,
        contract: Contract[T],
        given: bytes,
        key: OperationKey | None,
        *,
        effect: Effect[T, object] | None,
        tool: str | None = None,
    ) -> Order[T, object] | None:
        """Return the order of a step that judges JSON which is given; None where the time is over.

        Args:
            contract: what it must satisfy.
            given: the JSON.
            key: the step's operation key.
            effect: what it sets off.
            tool: whose arguments it is; None of no tool.
        """
        timeouts = self.remaining()
        if timeouts is None:
            return None
        order = order_of_given(
            contract,
            given,
            effect,
            key=key or OperationKey(""),
            input_fingerprint="",
            principal=self.principal,
            timeouts=timeouts,
            in_progress=self.in_progress,
            approval_expires_s=self.approval_expires_s,
        )
        return replace(order, key=key, tool=tool, input_digest=digest_of_given(given))


class Steps:
    """Run one step at a time.

    Args:
        shared: what the calls of the client share.

    Attributes:
        is_cancelled: no further step is to begin.
    """

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.is_cancelled = False
        self._has_begun = False
        self._cancel_current: Callable[[], None] | None = None

    async def run(self, order: Order[T, R], *, show: Callable[[Preview | Reset], None] | None = None) -> Outcome[T, R]:
        """Run one step to its end.

        Args:
            order: what to do.
            show: takes previews; None where nobody looks.

        Returns:
            How it ended; ``Cancelled`` also where the client was closed after the first step.
        """
        if self._has_begun and self._is_closing():
            return Cancelled(receipt=Receipt())
        async with StructuredRun(order, self.shared, is_watched=show is not None) as run:
            self._has_begun = True
            self._cancel_current = run.cancel
            if self.is_cancelled:
                run.cancel()
            if show is not None:
                async for item in run:
                    show(item)
            return await run.outcome()

    async def wait_for(self, work: Awaitable[T]) -> T | None:
        """Wait for work that is no call of the client and may be torn; None where it was cancelled."""
        with anyio.CancelScope() as scope:
            self._cancel_current = scope.cancel
            if self.is_cancelled:
                scope.cancel()
            return await work
        return None

    def cancel(self) -> None:
        """End the step that runs, unless it commits, and begin no further one."""
        self.is_cancelled = True
        if self._cancel_current is not None:
            self._cancel_current()

    def _is_closing(self) -> bool:
        try:
            self.shared.active.check_open()
        except MisuseError:
            return True
        return False


def digest_of_given(given: bytes) -> str:
    """Return the digest of JSON, the same however it is spelled."""
    parsed = strict_parse(given, nesting=PARSER_NESTING)
    return sha256(encode(parsed.value) if isinstance(parsed, Parsed) else given).hexdigest()


__all__ = ["Settings", "Steps", "digest_of_given"]
