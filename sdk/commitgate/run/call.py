"""Take one call along its way: contract, claim, automaton, attempt, layers, commit.

Everything here runs in one task that the client owns, so the caller's task may be cancelled, natively or by a scope,
without tearing a commit.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint_if_cancelled

from commitgate.automaton import Automaton, compile
from commitgate.backends.base import GenerationRequest
from commitgate.contract import Contract
from commitgate.errors import ContractError, LeaseLostError, UnsupportedError
from commitgate.gate.judge import Chosen, Judge
from commitgate.gate.rules import Rule
from commitgate.gate.verdict import Outside, Whole
from commitgate.outcome import (
    Cancelled,
    Committed,
    CompileFailed,
    EffectFailed,
    Failed,
    InDoubt,
    Invalid,
    Outcome,
    Receipt,
    TimedOut,
    Unsupported,
)
from commitgate.preview import Preview
from commitgate.retry.keys import (
    OperationKey,
    effect_key,
    given_fingerprint,
    messages_fingerprint,
    operation_key_digest,
)
from commitgate.run.attempt import Attempt
from commitgate.run.facts import Facts
from commitgate.run.order import Order
from commitgate.run.receipt_json import dump_receipt
from commitgate.run.replay import read_receipt, read_value

if TYPE_CHECKING:
    from commitgate.ledger import Fingerprint, Ledger
    from commitgate.ledger.operation import Operation, Replay, Verdict
    from commitgate.ledger.verdict import Doubt, Rejected

T = TypeVar("T")
R = TypeVar("R")

LARGE_TEXT_BYTES = 65_536
"""Texts larger than this are parsed and validated in a worker thread: that takes milliseconds and more."""


class Call(Generic[T, R]):
    """Run one order, once.

    Args:
        order: what to do.
        task_group: the client's, for the task that keeps the ledger's row.
        ledger: opens the client's ledger; used only with an operation key.
        show: takes previews; None where nobody looks.
    """

    def __init__(
        self,
        order: Order[T, R],
        *,
        task_group: TaskGroup,
        ledger: Callable[[], Ledger],
        show: Callable[[Preview], None] | None,
    ) -> None:
        self._order = order
        self._task_group = task_group
        self._ledger = ledger
        self._show = show
        self._facts = Facts()
        self._ends_at: float | None = None

    def cancelled(self) -> Cancelled:
        """Return the ending of a call that was cancelled where it stands."""
        return self._facts.fill(Cancelled(receipt=Receipt()))

    async def run(self) -> Outcome[T, R]:
        """Run the call to its end.

        Raises:
            MisuseError: the schema is none, or an optional part is missing.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
        """
        limit_s = self._order.timeouts.total_s
        self._ends_at = None if limit_s is None else anyio.current_time() + limit_s
        try:
            contract = await anyio.to_thread.run_sync(self._contract, abandon_on_cancel=True)
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
                return self._replayed(contract, operation.replay)
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
                messages_fingerprint(order.conversation.asked(contract.schema))
                if given is None
                else given_fingerprint(given)
            ),
        )

    async def _commit(self, operation: Operation[T, R], chosen: Chosen[T] | Failed) -> Outcome[T, R]:
        if not isinstance(chosen, Chosen):
            await operation.release(chosen.name)
            return chosen
        remaining_s = None if self._ends_at is None else self._ends_at - anyio.current_time()
        if remaining_s is not None and remaining_s <= 0:
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
            timeout_s=remaining_s,
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

    def _replayed(self, contract: Contract[T], replay: Replay[R]) -> Outcome[T, R]:
        from commitgate.ledger.operation import Applied

        stored = replay.record
        receipt = read_receipt(stored.receipt, otherwise=self._facts.receipt())
        if not isinstance(replay.verdict, Applied):
            # The value is not needed, so one that cannot be loaded must not hide what the ledger says.
            return replace(self._not_applied(replay.verdict), receipt=receipt)
        chosen = read_value(contract, stored.value, receipt.value_digest)
        text = chosen.value_json.decode()
        result = cast(R, replay.verdict.result)
        return Committed(value=chosen.value, result=result, is_replayed=True, text=text, receipt=receipt)

    def _committed(self, chosen: Chosen[T], result: R | None) -> Committed[T, R]:
        return Committed(
            value=chosen.value, result=cast(R, result), text=self._facts.text, receipt=self._facts.receipt()
        )

    async def _choose_in_time(self, contract: Contract[T]) -> Chosen[T] | Failed:
        with anyio.move_on_at(float("inf") if self._ends_at is None else self._ends_at):
            try:
                chosen = await self._choose(contract)
            except ContractError as error:
                return self._unbuildable(error)
            # A rule may have cancelled the call without waiting for anything, or have kept a cancellation.
            await checkpoint_if_cancelled()
            # Work that blocks the event loop keeps the scope above from noticing that the time is over.
            if self._ends_at is None or anyio.current_time() < self._ends_at:
                return chosen
        return self._timed_out()

    def _timed_out(self) -> TimedOut:
        self._facts.value_digest = None
        limit_s = self._order.timeouts.total_s or 0.0
        return self._facts.fill(TimedOut(phase="total", limit_s=limit_s, receipt=Receipt()))

    async def _choose(self, contract: Contract[T]) -> Chosen[T] | Failed:
        automaton, judge = await self._prepare(contract)
        order = self._order
        request = GenerationRequest(
            model=order.model,
            contract=contract,
            messages=order.conversation.to_send(contract.schema, order.prompt_schema, contract.documents),
            sampling=order.sampling,
            forced=order.forced,
        )
        attempt = Attempt(
            order.backend, request, automaton, timeouts=order.timeouts, facts=self._facts, show=self._show
        )
        verdict = await attempt.run()
        match verdict:
            case Whole(text):
                result = await self._judge(judge, text, (*contract.rules, *order.rules))
            case Outside():
                result = judge.explain(verdict)
            case _:
                result = verdict
        return result if isinstance(result, Chosen) else self._facts.fill(result)

    async def _prepare(self, contract: Contract[T]) -> tuple[Automaton, Judge[T]]:
        clock = time.perf_counter  # the event loop's clock cannot be read in worker threads
        must_keep = self._order.key is not None
        start = clock()
        automaton, judge = await anyio.to_thread.run_sync(
            lambda: (compile(contract), Judge(contract, clock=clock, must_keep=must_keep)), abandon_on_cancel=True
        )
        self._facts.compile_result = "compiled"
        self._facts.compile_s = clock() - start
        self._facts.layers = judge.records
        return automaton, judge

    async def _judge(self, judge: Judge[T], text: bytes, rules: tuple[Rule[T], ...]) -> Chosen[T] | Invalid:
        if len(text) > LARGE_TEXT_BYTES:
            chosen = await anyio.to_thread.run_sync(judge.choose, text)
        else:
            chosen = judge.choose(text)
        if not isinstance(chosen, Chosen):
            return chosen
        refused = await judge.check_rules(rules, chosen.value)
        if refused is not None:
            return refused
        self._facts.value_digest = sha256(chosen.value_json).hexdigest()
        return chosen


__all__ = ["Call"]
