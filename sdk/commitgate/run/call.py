"""Take one call along its way: contract, claim, automaton, attempt, layers, commit.

Everything here runs in one task that the client owns, so the caller's task may be cancelled, natively or by a scope,
without tearing a commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import anyio
from anyio.lowlevel import checkpoint_if_cancelled

from commitgate.contract import Contract
from commitgate.effect_kind import EffectKind
from commitgate.errors import ContractError, KeyConflictError, MisuseError, UnsupportedError
from commitgate.gate.checks import Checks
from commitgate.gate.judge import Chosen, Judge
from commitgate.outcome import (
    Cancelled,
    Committed,
    CompileFailed,
    Failed,
    Outcome,
    Receipt,
    TimedOut,
    Unavailable,
    Unsupported,
)
from commitgate.preview import Preview, Reset
from commitgate.retry.keys import OperationKey
from commitgate.run.asking import Asking
from commitgate.run.facts import Facts
from commitgate.run.given import Given
from commitgate.run.order import Order
from commitgate.run.scrutiny import Scrutiny
from commitgate.run.shared import Shared
from commitgate.run.watch import Watch
from commitgate.run.wording import Wording, unconstrained, undecoded, unproven, worded
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation
    from commitgate.ledger import Ledger

T = TypeVar("T")
R = TypeVar("R")


class Call(Generic[T, R]):
    """Run one order, once.

    Args:
        order: what to do.
        shared: what it shares with all calls of its client.
        show: takes what is to be shown; None where nobody looks.

    Attributes:
        watch: tells the client's observers of it.
    """

    def __init__(
        self,
        order: Order[T, R],
        shared: Shared,
        *,
        show: Callable[[Preview | Reset], None] | None,
    ) -> None:
        self._order = order
        self._shared = shared
        self._show = show
        self.watch = Watch(shared.observers, cast("Order[object, object]", order))
        self._facts = Facts(watch=self.watch)
        self._ends_at = inf

    @property
    def translation(self) -> Translation | None:
        """Return the contract as a server is sent it; None until that is settled, and where none is sent."""
        return self._facts.translation

    @property
    def contract(self) -> Contract[object] | None:
        """Return what an answer must satisfy; None until it is built."""
        given = self._order.schema
        return cast("Contract[object]", given) if isinstance(given, Contract) else self._facts.contract

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
            ReviewedContractError: it may set off an effect, and the client allows other contracts for that.
        """
        limit_s = self._order.timeouts.total_s
        self._ends_at = inf if limit_s is None else anyio.current_time() + limit_s
        try:
            contract = await run_in_thread(self._contract)
        except ContractError as error:
            return self._unbuildable(error)
        self._shared.reviewed.check(contract, self._order.effect)
        self._facts.contract = contract
        self.watch.contract_built(contract)
        if self._order.key is not None:
            return await self._run_operation(contract, self._order.key)
        chosen = await self._choose_in_time(contract)
        return await self._handed_over(chosen) if isinstance(chosen, Chosen) else chosen

    def _contract(self) -> Contract[T]:
        return Contract.of(cast("type[T]", self._order.schema), numbers=self._order.numbers)

    def _unbuildable(self, error: ContractError) -> Failed:
        self._facts.compile_result = "failed"
        if isinstance(error, UnsupportedError):
            unsupported = Unsupported(
                keyword=error.keyword or "",
                pointer=error.pointer,
                reason=error.reason,
                position=error.position,
                receipt=Receipt(),
            )
            return self._facts.fill(unsupported)
        failed = CompileFailed(
            pointer=error.pointer,
            keyword=error.keyword,
            reason=str(error),
            position=error.position,
            receipt=Receipt(),
        )
        return self._facts.fill(failed)

    async def _run_operation(self, contract: Contract[T], key: OperationKey) -> Outcome[T, R]:
        from commitgate.run.keyed import Keyed

        return await Keyed(
            order=self._order,
            key=key,
            contract=contract,
            facts=self._facts,
            scrutiny=self._scrutiny(contract),
            ledger=self._checked_ledger(),
            task_group=self._shared.task_group,
            lease_s=self._shared.lease_s,
            ends_at=self._ends_at,
            choose=lambda: self._choose_in_time(contract),
            timed_out=self._timed_out,
        ).run()

    def _checked_ledger(self) -> Ledger:
        ledger, effect = self._shared.ledger(), self._order.effect
        if effect is not None and effect.kind is EffectKind.TRANSACTIONAL and not ledger.has_transactions:
            raise MisuseError(
                f"the transactional effect {effect.name} needs a ledger in a database that can hold its rows too; use "
                "SqliteLedger or PostgresLedger"
            )
        return ledger

    def _scrutiny(self, contract: Contract[T]) -> Scrutiny[T]:
        checks = Checks[T].of_contract(contract).joined(self._order.checks)
        return Scrutiny(contract=contract, checks=checks, principal=self._order.principal, facts=self._facts)

    async def _handed_over(self, chosen: Chosen[T]) -> Outcome[T, R]:
        text = self._facts.text or chosen.value_json.decode()
        receipt = self._facts.receipt()
        committed = Committed[T, R](value=chosen.value, result=cast(R, None), text=text, receipt=receipt)
        if self._order.look_up is None:
            return committed
        with anyio.move_on_at(self._ends_at):
            return await self._order.look_up(committed)
        return self._timed_out()

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
        scrutiny = self._scrutiny(contract)
        if self._order.given is not None:
            judge = await run_in_thread(lambda: self._judge(contract, must_keep=self._order.key is not None))
            given = Given(text=self._order.given, judge=judge, scrutiny=scrutiny, facts=self._facts)
            return await given.choose()
        return await self._ask(contract, scrutiny)

    async def _ask(self, contract: Contract[T], scrutiny: Scrutiny[T]) -> Chosen[T] | Failed:
        order = self._order
        acts = order.acts or order.effect is not None
        unfit = await unproven(order.backend, order.model, contract, acts=acts)
        if unfit is not None:
            return self._facts.fill(unfit)
        wording, judge = await self._prepare(contract)
        asking = Asking(
            order=order,
            contract=contract,
            wording=wording,
            judge=judge,
            checks=scrutiny.checks,
            context=scrutiny.context(),
            facts=self._facts,
            budget=self._shared.budget,
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

    async def _prepare(self, contract: Contract[T]) -> tuple[Wording, Judge[T]]:
        clock = time.perf_counter  # the event loop's clock cannot be read in worker threads
        must_keep = self._order.key is not None
        start = clock()
        wording = await self._worded(contract)
        judge = await run_in_thread(lambda: self._judge(contract, must_keep=must_keep))
        self._facts.compile_result = "compiled"
        self._facts.compile_s = clock() - start
        self._facts.translation = wording.translation
        return wording, judge

    async def _worded(self, contract: Contract[T]) -> Wording:
        order = self._order
        try:
            wording = await worded(order.backend, contract, tools=order.tools, prompt_schema=order.prompt_schema)
        except UnsupportedError:
            if order.fallback is None:
                raise
            self._facts.fallback = order.fallback
            return await unconstrained(contract, prompt_schema=order.prompt_schema)
        error = undecoded(contract, wording) if order.require == "decoded" else None
        if error is not None:
            raise error
        return wording

    @staticmethod
    def _judge(contract: Contract[T], *, must_keep: bool) -> Judge[T]:
        return Judge(contract, clock=time.perf_counter, must_keep=must_keep, run_blocking=run_in_thread)


__all__ = ["Call"]
