"""Ask the checks of one call about a value that an earlier call chose."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from commitgate.contract import Contract
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.judge import Judge
from commitgate.outcome import Invalid
from commitgate.run.facts import Facts
from commitgate.worker_thread import run_in_thread

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrutiny(Generic[T]):
    """Hold whom to ask, and for whom.

    Args:
        contract: what the value satisfies.
        checks: the contract's and the call's.
        principal: who asks.
        facts: where the layers' records are noted.
    """

    contract: Contract[T]
    checks: Checks[T]
    principal: object = field(repr=False)
    facts: Facts

    def context(self, *, is_replay: bool = False) -> CheckContext:
        """Return what checks are told beside the value."""
        return CheckContext(principal=self.principal, is_replay=is_replay, contract_name=self.contract.name)

    async def authorize(self, value: T, *, is_replay: bool) -> Invalid | None:
        """Ask whether the principal may have a value, and nothing else; return why not."""
        if not self.checks.authorize:
            return None
        judge = await self._judge()
        denied = await judge.authorize(value, self.checks, self.context(is_replay=is_replay))
        return None if denied is None else self.facts.fill(denied)

    async def reconsider(self, value: T) -> Invalid | None:
        """Ask all checks but whether a person must look, who has looked; return why not."""
        judge = await self._judge()
        denied = await judge.reconsider(value, self.checks, self.context())
        return None if denied is None else self.facts.fill(denied)

    async def _judge(self) -> Judge[T]:
        judge = await run_in_thread(
            lambda: Judge(self.contract, clock=time.perf_counter, must_keep=True, run_blocking=run_in_thread)
        )
        self.facts.layers = judge.records
        return judge


__all__ = ["Scrutiny"]
