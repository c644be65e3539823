"""Run one call of a turn: its arguments through their contract, then its effect, under a key of its own."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import anyio

from commitgate.cancellation import is_cancellation, must_go_on
from commitgate.effect import Effect, EffectContext
from commitgate.errors import EffectRejected, MisuseError
from commitgate.outcome import Committed, EffectFailed, InDoubt, NeedsApproval, Outcome
from commitgate.retry.keys import OperationKey
from commitgate.tools.call_result import CallResult
from commitgate.tools.keys import call_key
from commitgate.tools.refusal_record import RefusalRecord
from commitgate.tools.steps import Settings, Steps
from commitgate.tools.tool_set import AnyTool, ToolSet
from commitgate.tools.turn import ToolCall

if TYPE_CHECKING:
    from pydantic import BaseModel


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

    async def run(self, call: ToolCall) -> CallResult:
        """Run one call to its end, or find out how it ended before.

        Args:
            call: a call of a whole turn.

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
        return CallResult(call=call, outcome=await self._keyed(tool, call, key))

    async def _keyed(self, tool: AnyTool, call: ToolCall, key: OperationKey) -> Outcome[object, object]:
        order = self._settings.order(
            tool.contract, call.arguments_json, key, effect=tool.effect_of_call(), tool=tool.name
        )
        if order is None:
            return self._settings.timed_out()
        record = RefusalRecord(key=key, given=call.arguments_json, steps=self._steps, settings=self._settings)
        outcome = self._settings.whole(await self._steps.run(replace(order, refusals=record)))
        if isinstance(outcome, NeedsApproval):
            # Whoever allows it later has the time of a call, and not what was left to this run.
            untold = replace(record, is_told=False)
            lasting = replace(order, timeouts=self._settings.timeouts, refusals=untold)
            self._steps.shared.waiting.keep(key, lasting)
        return outcome

    async def _read_only(self, tool: AnyTool, call: ToolCall) -> Outcome[object, object]:
        order = self._settings.order(tool.contract, call.arguments_json, None, effect=None, tool=tool.name)
        if order is None:
            return self._settings.timed_out()
        look_up = partial(_looked_up, tool.effect_of_call(), settings=self._settings)
        order = replace(order, look_up=look_up)
        return self._settings.whole(await self._steps.run(order))


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


__all__ = ["Calling"]
