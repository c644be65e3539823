"""Run one call of a turn: its arguments through their contract, then its effect, under a key of its own."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, TypeVar

import anyio

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.effect import Effect, EffectContext
from commitgate.errors import EffectRejected, MisuseError
from commitgate.gate.exact_json import encode
from commitgate.gate.strict_parse import PARSER_NESTING, Parsed, strict_parse
from commitgate.outcome import (
    Cancelled,
    Committed,
    EffectFailed,
    Failed,
    InDoubt,
    Invalid,
    NeedsApproval,
    Outcome,
    Receipt,
    TimedOut,
)
from commitgate.retry.keys import OperationKey
from commitgate.run.order import InProgress, Order, order_of_given
from commitgate.timeouts import Timeouts
from commitgate.tools.call_result import CallResult, is_told
from commitgate.tools.keys import call_key
from commitgate.tools.refusal_record import RefusalRecord, refusal_contract, refusal_json
from commitgate.tools.steps import Steps
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn import ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel

    from commitgate.contract import Contract

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
        self, contract: Contract[T], given: bytes, key: OperationKey | None, *, effect: Effect[T, object] | None
    ) -> Order[T, object] | None:
        """Return the order of a step that judges JSON which is given; None where the time is over.

        Args:
            contract: what it must satisfy.
            given: the JSON.
            key: the step's operation key.
            effect: what it sets off.
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
        return replace(order, key=key, input_digest=_digest(given))

    async def refuse(self, steps: Steps, record: RefusalRecord, refused: Invalid) -> Failed:
        """Keep on record that something was refused; return the refusal, or what kept it from being recorded."""
        order = self.order(refusal_contract(), refusal_json(refused.failures), record.own_key, effect=None)
        if order is None:
            return self.timed_out()
        kept = self.whole(await steps.run(order))
        return refused if isinstance(kept, Committed) else kept


class Calling:
    """Run the calls of one run, one at a time.

    Args:
        tools: what may be called.
        steps: runs the steps.
        settings: what they have in common.
    """

    def __init__(self, tools: ToolSet, steps: Steps, settings: Settings) -> None:
        self._tools = tools
        self._steps = steps
        self._settings = settings

    async def run(self, call: ToolCall, *, looks_back: bool) -> CallResult:
        """Run one call to its end, or find out how it ended before.

        Args:
            call: a call of a whole turn.
            looks_back: the turn was stored before this run, so the call may have been refused by then.

        Raises:
            MisuseError: its tool is none of the run's.
            LedgerError: its key conflicts, is in progress, or the ledger cannot be used.
        """
        if call.name not in self._tools:
            raise MisuseError("the call is of a tool that is none of tools; give the tools of the turn")
        tool = self._tools[call.name]
        if self._settings.key is None:
            return CallResult(call=call, outcome=await self._read_only(tool, call))
        key = call_key(self._settings.key, call.turn, call.ordinal)
        return CallResult(call=call, outcome=await self._keyed(tool, call, key, looks_back=looks_back))

    async def _keyed(
        self, tool: AnyTool, call: ToolCall, key: OperationKey, *, looks_back: bool
    ) -> Outcome[object, object]:
        record = RefusalRecord(key)
        if looks_back:
            refused = await record.read(self._steps.shared.ledger())
            if refused is not None:
                return refused
        order = self._settings.order(tool.contract, call.arguments_json, key, effect=tool.effect_of_call())
        if order is None:
            return self._settings.timed_out()
        outcome = self._settings.whole(await self._steps.run(order))
        if isinstance(outcome, NeedsApproval):
            # Whoever allows it later has the time of a call, and not what was left to this run.
            self._steps.shared.waiting.keep(key, replace(order, timeouts=self._settings.timeouts))
        if isinstance(outcome, Invalid) and is_told(outcome):
            return await self._settings.refuse(self._steps, record, outcome)
        return outcome

    async def _read_only(self, tool: AnyTool, call: ToolCall) -> Outcome[object, object]:
        order = self._settings.order(tool.contract, call.arguments_json, None, effect=None)
        if order is None:
            return self._settings.timed_out()
        outcome = self._settings.whole(await self._steps.run(order))
        if not isinstance(outcome, Committed):
            return outcome
        with anyio.move_on_at(self._settings.ends_at):
            looked_up = await self._steps.wait_for(_looked_up(tool.effect_of_call(), outcome, self._settings))
            return Cancelled(receipt=outcome.receipt) if looked_up is None else looked_up
        return self._settings.timed_out()


async def _looked_up(
    effect: Effect[BaseModel, object], judged: Committed[BaseModel, object], settings: Settings
) -> Outcome[object, object]:
    """Run a tool that only reads, without any record."""
    left_s = settings.ends_at - anyio.current_time()
    deadline = None if left_s == inf else time.time() + left_s
    context = EffectContext(key=secrets.token_hex(32), fence=1, attempt=1, deadline=deadline)
    try:
        returned = await effect.run(judged.value, context)
    except EffectRejected as rejection:
        return EffectFailed(reason=str(rejection), cause=rejection.__cause__, receipt=judged.receipt)
    except BaseException as error:
        # A cancellation that nobody asked for came out of a task of the tool's own.
        if not is_cancellation(error) or must_go_on(error):
            raise
        return EffectFailed(reason=f"it failed: {type(error).__qualname__}", cause=error, receipt=judged.receipt)
    try:
        result = effect.load(effect.dump(returned))
    except ValueError as error:
        return InDoubt(reason=f"the tool ran, but {error}", cause=error, receipt=judged.receipt)
    return Committed(value=judged.value, result=result, text=judged.text, receipt=judged.receipt)


def _digest(given: bytes) -> str:
    """Return the digest of JSON, the same however it is spelled."""
    parsed = strict_parse(given, nesting=PARSER_NESTING)
    return sha256(encode(parsed.value) if isinstance(parsed, Parsed) else given).hexdigest()


__all__ = ["LEAST_WAIT_S", "Calling", "Settings"]
