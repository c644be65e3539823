"""Take one call along its way: contract, claim, automaton, attempt, layers, commit.

Everything here runs in one task that the client owns, so the caller's task may be cancelled, natively or by a scope,
without tearing a commit.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint_if_cancelled

from commitgate.automaton import Automaton, compile
from commitgate.contract import Contract
from commitgate.errors import ContractError, KeyConflictError, LeaseLostError, UnsupportedError
from commitgate.gate.check_context import CheckContext
from commitgate.gate.checks import Checks
from commitgate.gate.judge import Chosen, Judge
from commitgate.outcome import (
    Cancelled,
    Committed,
    CompileFailed,
    EffectFailed,
    Failed,
    InDoubt,
    Outcome,
    Receipt,
    TimedOut,
    Unavailable,
    Unsupported,
)
from commitgate.preview import Preview, Reset
from commitgate.retry import RetryBudget
from commitgate.retry.keys import (
    OperationKey,
    effect_key,
    given_fingerprint,
    messages_fingerprint,
    operation_key_digest,
)
from commitgate.run.asking import Asking
from commitgate.run.facts import Facts
from commitgate.run.order import Order
from commitgate.run.receipt_json import dump_receipt
from commitgate.run.replay import read_receipt, read_value
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from commitgate.ledger import Fingerprint, Ledger
    from commitgate.ledger.operation import Operation, Replay, Verdict
    from commitgate.ledger.verdict import Doubt, Rejected

T = TypeVar("T")
R = TypeVar("R")


class Call(Generic[T, R]):
    """Run one order, once.

    Args:
        order: what to do.
        task_group: the client's, for the task that keeps the ledger's row.
        ledger: opens the client's ledger; used only with an operation key.
        budget: bounds the retries of all calls of the client.
        show: takes what is to be shown; None where nobody looks.
    """

    def __init__(
        self,
        order: Order[T, R],
        *,
        task_group: TaskGroup,
        ledger: Callable[[], Ledger],
        budget: RetryBudget,
        show: Callable[[Preview | Reset], None] | None,
    ) -> None:
        self._order = order
        self._task_group = task_group
        self._ledger = ledger
        self._budget = budget
        self._show = show
        self._facts = Facts()
        self._ends_at = inf

    def cancelled(self) -> Cancelled:
        """Return the ending of a call that was cancelled where it stands."""
        self._facts.value_digest = None
        cancelled = Cancelled(receipt=Receipt())
        self._facts.cut_off(cancelled)
        return self._facts.fill(cancelled)

    async def run(self) -> Outcome[T, R]:
        """Run the call to its end.

        Raises:
            MisuseError: the schema is none, or an optional part is missing.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        limit_s = self._order.timeouts.total_s
        self._ends_at = inf if limit_s is None else anyio.current_time() + limit_s
        try:
            contract = await run_in_thread(self._contract)
        except ContractError as error:
            return self._unbuildable(error)
        self._facts.contract = contract
        if self._order.key is not None:
            return await self._run_operation(contract, self._order.key)
        chosen = await self._choose_in_time(contract)
        return self._committed(chosen, None) if isinstance(chosen, Chosen) else chosen

    def _contract(self) -> Contract[T]:
        return Contract.of(cast("type[T]", self._order.schema), numbers=self._order.numbers)

    def _unbuildable(self, error: ContractError) -> Failed:
        self._facts.compile_result = "failed"
        if isinstance(error, UnsupportedError):
            keyword = error.keyword or ""
            ending = Unsupported(keyword=keyword, pointer=error.pointer, reason=error.reason, receipt=Receipt())
            return self._facts.fill(ending)
        ending = CompileFailed(pointer=error.pointer, keyword=error.keyword, reason=str(error), receipt=Receipt())
        return self._facts.fill(ending)

    async def _run_operation(self, contract: Contract[T], key: OperationKey) -> Outcome[T, R]:
        from commitgate.ledger.operation import Operation

        effect = self._order.effect
        self._facts.operation_key_digest = operation_key_digest(key)
        if effect is not None:
            self._facts.effect_key = effect_key(key, effect.name, effect.version)
        generating = anyio.CancelScope()
        operation = Operation(
            self._ledger(),
            self._task_group,
            key,
            self._fingerprint(contract),
            effect,
            owner=secrets.token_hex(16),
            on_lease_lost=generating.cancel,
        )
        async with operation:
            if operation.replay is not None:
                return await self._replayed(contract, operation.replay)
            with generating:
                chosen = await self._choose_in_time(contract)
                return await self._commit(operation, chosen)
            raise LeaseLostError("this call's claim was lost while it generated; its value was not committed")

    def _fingerprint(self, contract: Contract[T]) -> Fingerprint:
        from commitgate.ledger import Fingerprint

        order = self._order
        given = order.input_fingerprint
        return Fingerprint(
            language_digest=contract.language_digest,
            effect_name=None if order.effect is None else order.effect.name,
            effect_version=None if order.effect is None else order.effect.version,
            input_fingerprint=(
                messages_fingerprint(order.conversation.asked(contract)) if given is None else given_fingerprint(given)
            ),
        )

    async def _commit(self, operation: Operation[T, R], chosen: Chosen[T] | Failed) -> Outcome[T, R]:
        if not isinstance(chosen, Chosen):
            await operation.release(chosen.name)
            return chosen
        remaining_s = self._ends_at - anyio.current_time()
        if remaining_s <= 0:
            timed_out = self._timed_out()
            await operation.release(timed_out.name)
            return timed_out
        assert self._facts.contract is not None, "a value is chosen under a contract"
        # The effect gets an instance of its own: what it changes there is neither handed on nor replayed.
        own = read_value(cast("Contract[T]", self._facts.contract), chosen.value_json, self._facts.value_digest)
        verdict = await operation.commit(
            own.value,
            value_json=chosen.value_json,
            receipt_json=dump_receipt(self._facts.receipt()),
            timeout_s=None if remaining_s == inf else remaining_s,
        )
        return self._settled(chosen, verdict)

    def _settled(self, chosen: Chosen[T], verdict: Verdict[R]) -> Outcome[T, R]:
        from commitgate.ledger.operation import Applied

        if isinstance(verdict, Applied):
            return self._committed(chosen, verdict.result)
        return self._facts.fill(self._not_applied(verdict))

    @staticmethod
    def _not_applied(verdict: Rejected | Doubt) -> EffectFailed | InDoubt:
        from commitgate.ledger.operation import Rejected

        if isinstance(verdict, Rejected):
            return EffectFailed(reason=verdict.reason, receipt=Receipt())
        return InDoubt(reason=verdict.reason, cause=verdict.error, receipt=Receipt())

    async def _replayed(self, contract: Contract[T], replay: Replay[R]) -> Outcome[T, R]:
        from commitgate.ledger.operation import Applied

        stored = replay.record
        receipt = read_receipt(stored.receipt, otherwise=self._facts.receipt())
        if not isinstance(replay.verdict, Applied):
            # The value is not needed, so one that cannot be loaded must not hide what the ledger says.
            return replace(self._not_applied(replay.verdict), receipt=receipt)
        chosen = read_value(contract, stored.value, receipt.value_digest)
        denied = await self._denied(contract, chosen.value)
        if denied is not None:
            return denied
        text = chosen.value_json.decode()
        result = cast(R, replay.verdict.result)
        return Committed(value=chosen.value, result=result, is_replayed=True, text=text, receipt=receipt)

    async def _denied(self, contract: Contract[T], value: T) -> Failed | None:
        """Ask whether the principal of this call may have what an earlier one committed."""
        checks = self._checks(contract)
        if not checks.authorize:
            return None
        with anyio.move_on_at(self._ends_at):
            judge = await run_in_thread(lambda: self._judge(contract, must_keep=True))
            self._facts.layers = judge.records
            denied = await judge.authorize(value, checks, self._context(contract, is_replay=True))
            return None if denied is None else self._facts.fill(denied)
        return self._timed_out()

    def _committed(self, chosen: Chosen[T], result: R | None) -> Committed[T, R]:
        return Committed(
            value=chosen.value, result=cast(R, result), text=self._facts.text, receipt=self._facts.receipt()
        )

    async def _choose_in_time(self, contract: Contract[T]) -> Chosen[T] | Failed:
        with anyio.move_on_at(self._ends_at):
            try:
                chosen = await self._choose(contract)
            except ContractError as error:
                return self._unbuildable(error)
            # A rule may have cancelled the call without waiting for anything, or have kept a cancellation.
            await checkpoint_if_cancelled()
            # Work that blocks the event loop keeps the scope above from noticing that the time is over.
            if anyio.current_time() < self._ends_at:
                return chosen
        return self._timed_out()

    def _timed_out(self) -> TimedOut:
        self._facts.value_digest = None
        timed_out = self._facts.out_of_time(self._order.timeouts)
        self._facts.cut_off(timed_out)
        return self._facts.fill(timed_out)

    async def _choose(self, contract: Contract[T]) -> Chosen[T] | Failed:
        order = self._order
        automaton, judge = await self._prepare(contract)
        asking = Asking(
            order=order,
            contract=contract,
            automaton=automaton,
            judge=judge,
            checks=self._checks(contract),
            context=self._context(contract),
            facts=self._facts,
            budget=self._budget,
            ends_at=self._ends_at,
            show=self._show,
        )
        result = await asking.run()
        if isinstance(result, Unavailable) and result.kind == "conflict":
            raise KeyConflictError(
                "the server knows this idempotency key from a request with another body; use another operation_key",
                differs=("request_body",),
            )
        return result if isinstance(result, Chosen) else self._facts.fill(result)

    def _checks(self, contract: Contract[T]) -> Checks[T]:
        return Checks[T].of_contract(contract).joined(self._order.checks)

    def _context(self, contract: Contract[T], *, is_replay: bool = False) -> CheckContext:
        return CheckContext(principal=self._order.principal, is_replay=is_replay, contract_name=contract.name)

    async def _prepare(self, contract: Contract[T]) -> tuple[Automaton, Judge[T]]:
        clock = time.perf_counter  # the event loop's clock cannot be read in worker threads
        must_keep = self._order.key is not None
        start = clock()
        automaton, judge = await run_in_thread(lambda: (compile(contract), self._judge(contract, must_keep=must_keep)))
        self._facts.compile_result = "compiled"
        self._facts.compile_s = clock() - start
        return automaton, judge

    @staticmethod
    def _judge(contract: Contract[T], *, must_keep: bool) -> Judge[T]:
        return Judge(contract, clock=time.perf_counter, must_keep=must_keep, run_blocking=run_in_thread)


__all__ = ["Call"]
