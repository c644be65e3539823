"""Offer the library's public face: a client that makes calls and owns what outlives them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Never, Self, cast, overload

import anyio
from typing_extensions import TypeVar

from commitgate.argument import check_finite, check_int, check_kind, check_text
from commitgate.backends.base import Backend, Sampling
from commitgate.backends.registry import BackendRegistry
from commitgate.contract import Contract, Numbers
from commitgate.errors import MisuseError
from commitgate.finding import BY_CALL
from commitgate.gate.checks import Approve, Authorize, Checks, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonValue
from commitgate.languages import Language
from commitgate.outcome import Fallback, Invalid, Outcome
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry, RetryBudget
from commitgate.retry.keys import operation_key as checked_key
from commitgate.reviewed import Reviewed
from commitgate.run.active import ActiveCalls, Drained
from commitgate.run.approval import (
    PendingApproval,
    WaitingOrders,
    check_person,
    check_stored,
    going_on,
    order_of_stored,
    pending,
    unknown_order,
)
from commitgate.run.conversation import MessageLike, PromptSchema
from commitgate.run.order import DEFAULT_APPROVAL_EXPIRES_S, InProgress, Order, Require, checked_effect
from commitgate.run.shared import Shared
from commitgate.run.structured_run import StructuredRun
from commitgate.run.watch import checked_observers
from commitgate.telemetry.observer import Observer
from commitgate.timeouts import DEFAULT_LEASE_S, Timeouts
from commitgate.tools.face import ToolsFace
from commitgate.worker_thread import run_in_thread

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.effect import EffectFunction
    from commitgate.ledger import Ledger

T = TypeVar("T", default=JsonValue)
R = TypeVar("R", default=None)


class Client(ToolsFace):
    """Make calls. Use it with ``async with``; leaving it cancels what still runs and finishes commits.

    Args:
        backends: backends by name; they stay the caller's to close. ``local`` is always known. A server's backend, as
            ``vllm`` or ``openai``, is made at its first use from its environment variables where none is given here.
        retry_budget: bounds the retries of all calls together; may be shared by clients of one event loop.
        ledger: a ledger, which stays the caller's to close; the path of a SQLite file; None for the file that
            ``COMMITGATE_LEDGER`` names, or else one in the user's data folder. Opened with the first operation key.
        lease_s: seconds, > 0, for which an operation key stays taken after its process was killed. It is renewed while
            the process lives, however long a call takes.
        reviewed: digests of the contracts that somebody reviewed: each a contract's ``full_digest`` or a template's
            ``digest``. Then what has an effect, or a contract of ``Risk.EFFECT``, must use one of them; everything else
            raises ``ReviewedContractError`` before anything is sent or written. None asks for no review.
        observers: who is told how calls go, as an ``OpenTelemetryObserver``.

    Raises:
        MisuseError: an argument is none of these.
    """

    def __init__(
        self,
        *,
        backends: Mapping[str, Backend] | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        retry_budget: RetryBudget | None = None,
        lease_s: float = DEFAULT_LEASE_S,
        reviewed: Iterable[str] | None = None,
        observers: Iterable[Observer] = (),
    ) -> None:
        if retry_budget is not None:
            check_kind("retry_budget", retry_budget, RetryBudget, "a RetryBudget")
        wanted = "a number of seconds > 0"
        check_finite("lease_s", lease_s, wanted)
        if lease_s <= 0:
            raise MisuseError(f"lease_s must be {wanted}, found {lease_s!r}")
        self._lease_s = lease_s
        self._reviewed = Reviewed.of(reviewed)
        self._observers = checked_observers(observers)
        self._retry_budget = retry_budget or RetryBudget()
        self._registry = BackendRegistry({} if backends is None else backends)
        _check_ledger(ledger)
        self._ledger_place = ledger
        self._ledger: Ledger | None = None
        self._shared: Shared | None = None

    async def __aenter__(self) -> Self:
        """Start to own tasks.

        Raises:
            MisuseError: it is entered already.
        """
        if self._shared is not None:
            raise MisuseError("this client is entered already")
        self._shared = Shared(
            task_group=await anyio.create_task_group().__aenter__(),
            ledger=self._open_ledger,
            budget=self._retry_budget,
            active=ActiveCalls(),
            waiting=WaitingOrders(),
            lease_s=self._lease_s,
            reviewed=self._reviewed,
            observers=self._observers,
        )
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel the runs, wait for them and their commits, and close what was opened here."""
        del error_type, error, trace
        shared, self._shared = self._shared, None
        assert shared is not None, "a client is left after it was entered"
        task_group = shared.task_group
        task_group.cancel_scope.cancel()
        try:
            # No exception is handed in: the group would wrap it, and nothing in the group depends on it.
            await task_group.__aexit__(None, None, None)
        finally:
            with anyio.CancelScope(shield=True):
                await self._close()

    async def generate_structured(
        self,
        model: str,
        schema: type[T] | TypeAdapter[T] | Contract[T] | Language[T] | Mapping[str, object] | bool,
        *,
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        sampling: Sampling | None = None,
        reasoning: Reasoning | None = None,
        rules: Sequence[Rule[T]] | None = None,
        content: Sequence[ContentCheck[T]] | None = None,
        evidence: Sequence[Evidence[T]] | None = None,
        authorize: Authorize[T] | None = None,
        approve: Approve[T] | None = None,
        principal: object = None,
        effect: EffectFunction[T, R] | None = None,
        operation_key: str | None = None,
        input_fingerprint: str | None = None,
        timeouts: Timeouts | None = None,
        retry: Retry | None = None,
        fallback: Fallback | None = None,
        prompt_schema: PromptSchema | None = None,
        numbers: Numbers | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
        require: Require = "checked",
        watch: bool = False,
    ) -> Outcome[T, R]:
        """Make one call and wait for its end. The arguments are those of ``stream_structured``.

        Raises:
            MisuseError: the call contradicts itself.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
            ReviewedContractError: it may set off an effect, and this client allows other contracts for that.
        """
        backend, name = self._registry.find(model)
        order = Order[T, R].of(
            backend,
            name,
            schema,
            prompt=prompt,
            messages=messages,
            system=system,
            sampling=sampling,
            reasoning=reasoning,
            rules=rules,
            content=content,
            evidence=evidence,
            authorize=authorize,
            approve=approve,
            principal=principal,
            effect=effect,
            operation_key=operation_key,
            input_fingerprint=input_fingerprint,
            timeouts=timeouts,
            retry=retry,
            fallback=fallback,
            prompt_schema=prompt_schema,
            numbers=numbers,
            forced=forced,
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
            require=require,
            watch=watch,
        )
        async with self._run(order, is_watched=False) as run:
            return await run.outcome()

    def stream_structured(
        self,
        model: str,
        schema: type[T] | TypeAdapter[T] | Contract[T] | Language[T] | Mapping[str, object] | bool,
        *,
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        sampling: Sampling | None = None,
        reasoning: Reasoning | None = None,
        rules: Sequence[Rule[T]] | None = None,
        content: Sequence[ContentCheck[T]] | None = None,
        evidence: Sequence[Evidence[T]] | None = None,
        authorize: Authorize[T] | None = None,
        approve: Approve[T] | None = None,
        principal: object = None,
        effect: EffectFunction[T, R] | None = None,
        operation_key: str | None = None,
        input_fingerprint: str | None = None,
        timeouts: Timeouts | None = None,
        retry: Retry | None = None,
        fallback: Fallback | None = None,
        prompt_schema: PromptSchema | None = None,
        numbers: Numbers | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
        require: Require = "checked",
        watch: bool = False,
    ) -> StructuredRun[T, R]:
        """Prepare one call; it starts when the returned run is entered.

        Args:
            model: ``backend/name``, split at the first slash; ``local`` alone is the bundled model, and
                ``local/<path>`` a model folder or GGUF file.
            schema: a pydantic model, dataclass, TypedDict, ``list[T]``, scalar type, ``TypeAdapter``, JSON Schema or
                ``Contract``; or ``Regex``, ``Grammar``, ``Choices``, ``Machine``, whose value is the text itself, or
                ``AnyJson``. One that cannot be enforced ends the call as ``Unsupported`` or ``CompileFailed``.
            prompt: what to ask, as one user message. Without prompt and messages, the schema's own title and
                descriptions are the prompt.
            messages: what to ask, as a conversation of ``Message`` or of dicts of ``role`` and ``content``.
            system: the system message.
            sampling: how tokens are drawn; None takes the likeliest.
            reasoning: how a thinking model may think before it answers; None lets it answer at once.
            rules: business rules beside those of the contract; all must be content.
            content: checks of the texts in the value, beside those of the contract.
            evidence: checks of the value against an authority, beside those of the contract.
            authorize: says whether the principal may have it done; asked right before the effect, and for a replay.
            approve: says whether a person must decide; then the call ends as ``NeedsApproval``. With an operation key
                the value is stored, and ``Client.approve`` goes on with it.
            principal: who asks, handed to ``evidence``, ``authorize`` and ``approve``.
            effect: what a committed value sets off, at most once for each operation key.
            operation_key: names the business act; a second call with it replays the first. None keeps no record.
            input_fingerprint: names the input under the key; None takes a digest of what is asked.
            timeouts: limits on the waits; None takes the defaults.
            retry: what may be asked again; None takes the defaults: up to three requests as long as nothing came.
            fallback: ``prompt_only`` lets a contract of ``Risk.DRAFT`` be asked for by the prompt alone where the
                backend cannot enforce it; the gate judges the answer all the same, and the outcome says so.
            prompt_schema: whether the schema is shown to the model (``append``) or not (``none``); None shows it where
                the server does not do so by itself.
            numbers: whether non-integers of plain JSON come as ``"float"`` or ``"decimal"``; None takes what a contract
                says, else floats.
            forced: whether runs that only one text can follow may be fed without asking the model.
            in_progress: ``"raise"`` raises ``InProgressError`` where another call holds the operation key; ``"wait"``
                waits until that call has ended or died, and then replays or goes on.
            approval_expires_s: seconds that a person may take to decide, where ``approve`` asks for one; None without
                a limit.
            require: ``"decoded"`` ends a call as ``Unsupported`` before anything is sent where part of its contract
                could be enforced only after the answer was written; ``"checked"`` leaves that part to the gate.
            watch: an answer is read to its end whatever stands in it, and not stopped at the first impossible byte. Its
                verdict is the same; the receipt's ``first_violation`` tells where it would have been stopped.

        Raises:
            MisuseError: the call contradicts itself; nothing was sent or written.
        """
        backend, name = self._registry.find(model)
        order = Order[T, R].of(
            backend,
            name,
            schema,
            prompt=prompt,
            messages=messages,
            system=system,
            sampling=sampling,
            reasoning=reasoning,
            rules=rules,
            content=content,
            evidence=evidence,
            authorize=authorize,
            approve=approve,
            principal=principal,
            effect=effect,
            operation_key=operation_key,
            input_fingerprint=input_fingerprint,
            timeouts=timeouts,
            retry=retry,
            fallback=fallback,
            prompt_schema=prompt_schema,
            numbers=numbers,
            forced=forced,
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
            require=require,
            watch=watch,
        )
        return self._run(order, is_watched=True)

    async def outcome(
        self,
        operation_key: str,
        schema: type[T] | TypeAdapter[T] | Contract[T] | Language[T] | Mapping[str, object] | bool = True,
        *,
        authorize: Authorize[T] | None = None,
        principal: object = None,
    ) -> Outcome[T, JsonValue] | None:
        """Tell from the ledger how a key's operation ended. No model is asked, no effect is run, nothing is written.

        Args:
            operation_key: names the business act.
            schema: what to read the value as; True reads plain JSON.
            authorize: says whether the principal may have it, beside the contract's own.
            principal: who asks.

        Returns:
            How it ended, with the effect's result as plain JSON; None where no value was chosen under this key.

        Raises:
            MisuseError: an argument is of the wrong kind, or the client was not entered.
            LedgerError: a call is at it (``InProgressError``), or the ledger or its row cannot be read.
        """
        from commitgate.run.facts import Facts
        from commitgate.run.scrutiny import Scrutiny
        from commitgate.run.standing import outcome_of

        ledger = self._entered().ledger()
        key = checked_key(operation_key)
        contract = await self._contract(schema)
        checks = Checks[T].of_contract(contract).joined(Checks[T].of(authorize=authorize))
        scrutiny = Scrutiny(contract=contract, checks=checks, principal=principal, facts=Facts(contract=contract))
        row = await ledger.read(key)
        return await outcome_of(row, contract, scrutiny, now=await ledger.now())

    async def approvals(self, *, limit: int = 100) -> tuple[PendingApproval, ...]:
        """Return what waits for a person, longest first.

        Args:
            limit: most entries, >= 1.

        Raises:
            MisuseError: the client was not entered, or ``limit`` is out of range.
            LedgerError: the ledger cannot be read.
        """
        check_int("limit", limit)
        if limit < 1:
            raise MisuseError(f"limit must be >= 1, found {limit}")
        return await pending(self._entered().ledger(), limit=limit)

    @overload
    async def approve(
        self, operation_key: str, *, by: str, value_digest: str | None = None
    ) -> Outcome[object, object]: ...
    @overload
    async def approve(
        self,
        operation_key: str,
        *,
        by: str,
        value_digest: str | None = None,
        schema: type[T] | TypeAdapter[T] | Contract[T] | Language[T] | Mapping[str, object] | bool,
        effect: EffectFunction[T, R] | None = None,
        rules: Sequence[Rule[T]] | None = None,
        content: Sequence[ContentCheck[T]] | None = None,
        evidence: Sequence[Evidence[T]] | None = None,
        authorize: Authorize[T] | None = None,
        principal: object = None,
        timeouts: Timeouts | None = None,
    ) -> Outcome[T, R]: ...
    async def approve(
        self,
        operation_key: str,
        *,
        by: str,
        value_digest: str | None = None,
        schema: object = None,
        effect: EffectFunction[Any, Any] | None = None,
        rules: Sequence[Rule[Any]] | None = None,
        content: Sequence[ContentCheck[Any]] | None = None,
        evidence: Sequence[Evidence[Any]] | None = None,
        authorize: Authorize[Any] | None = None,
        principal: object = None,
        timeouts: Timeouts | None = None,
    ) -> Outcome[object, object]:
        """Record that a person allows the stored value, and go on with it: judge it again, authorize, run its effect.

        The client that made the call knows what is to be done. Another one is told by ``schema`` and ``effect``, as the
        call had them. The approval is recorded first: where going on fails, making the call again with the same key
        goes on too.

        There the checks are those given here and those of the contract: leaving out ``authorize`` switches off the
        call's own. What must never be left out belongs into the ``Contract``.

        Args:
            operation_key: names the business act.
            by: who allows it.
            value_digest: ``PendingApproval.value_digest`` of the value that was looked at; None allows whichever is
                stored.
            schema: what the call asked for; None where this client made it.
            effect: what the call was to set off.
            rules: business rules, beside those of the contract.
            content: checks of the texts, beside those of the contract.
            evidence: checks against an authority, beside those of the contract.
            authorize: says whether the principal may have it done, beside the contract's own.
            principal: for whom it is done.
            timeouts: limits on the waits; None takes the defaults.

        Returns:
            How it went. ``Invalid`` of the layer ``authorize`` where it had expired or is not allowed.

        Raises:
            MisuseError: this client does not know the call and is not told it, or the client was not entered or is
                being closed. Nothing was recorded.
            ContractError: ``schema`` cannot be made a contract, or is none that this client allows
                (``ReviewedContractError``). Nothing was recorded.
            LedgerError: nothing waits under this key, or not this value (``DecisionError``); another schema or effect
                than the call's (``KeyConflictError``); the ledger cannot be used.
        """
        check_person(by)
        if value_digest is not None:
            check_text("value_digest", value_digest)
        given = (effect, rules, content, evidence, authorize, principal, timeouts)
        if schema is None and any(each is not None for each in given):
            raise MisuseError("what is to be done is told as a whole: give schema= too, or nothing but the key")
        shared, key = self._entered(), checked_key(operation_key)
        shared.active.check_open()
        known = shared.waiting.find(key)
        if schema is None and known is None:
            raise unknown_order()
        contract = None if schema is None else await self._contract(cast("type[object]", schema))
        checks = Checks[Any].of(rules=rules, content=content, evidence=evidence, authorize=authorize)
        made = None if effect is None else checked_effect(effect)
        if timeouts is not None:
            check_kind("timeouts", timeouts, Timeouts, "a Timeouts")
        if contract is not None:
            shared.reviewed.check(contract, made)
            await check_stored(shared.ledger(), key, contract, made)
        row = await shared.ledger().approve(key, by=by, value_digest=value_digest)
        if contract is not None:
            order = order_of_stored(row, contract, made, checks=checks, principal=principal, timeouts=timeouts)
        else:
            assert known is not None, "checked above"
            order = going_on(known, row)
        async with self._run(order, is_watched=False) as run:
            return await run.outcome()

    async def reject(self, operation_key: str, *, by: str, reason: str = "") -> Invalid:
        """Record that a person forbids the stored value. Its effect will never run.

        Args:
            operation_key: names the business act.
            by: who forbids it.
            reason: why; kept in the ledger.

        Returns:
            The ending that every later call with this key has.

        Raises:
            MisuseError: an argument is of the wrong kind, or the client was not entered.
            LedgerError: nothing waits under this key (``DecisionError``), or the ledger cannot be used.
        """
        from commitgate.run.standing import rejected

        check_person(by)
        check_text("reason", reason)
        shared, key = self._entered(), checked_key(operation_key)
        row = await shared.ledger().reject(key, by=by, reason=reason)
        shared.waiting.forget(key)
        return rejected(row)

    async def reconcile(
        self,
        operation_key: str,
        effect: EffectFunction[Never, object],
        *,
        by: str = BY_CALL,
    ) -> Outcome[JsonValue, JsonValue] | None:
        """Have the effect's own ``reconcile`` function look for one that is in doubt, and record what it finds.

        Args:
            operation_key: names the business act.
            effect: the effect of its call, marked with ``reconcile=``.
            by: who had it looked at.

        Returns:
            As ``outcome``.

        Raises:
            MisuseError: the effect has no ``reconcile`` function, or it returned something else than a finding.
            LedgerError: nothing is in doubt under this key, the effect is still running, the row belongs to another
                effect, or the ledger cannot be used.
        """
        from commitgate.run.reconciling import reconcile_key

        check_person(by)
        await reconcile_key(self._entered().ledger(), checked_key(operation_key), checked_effect(effect), by=by)
        return await self.outcome(operation_key)

    async def aclose(self, *, finish_s: float = 0.0) -> Drained:
        """Take no further calls, bring those that run to an end, and report how each ended.

        Leaving the client does the same at once, without a report. Commits that have begun are always finished.

        Args:
            finish_s: seconds that running calls may take to end by themselves, >= 0; then they are cancelled.

        Raises:
            MisuseError: ``finish_s`` is out of range, the client was not entered, or one of its own calls asks for it.
        """
        wanted = "a number of seconds >= 0"
        check_finite("finish_s", finish_s, wanted)
        if finish_s < 0:
            raise MisuseError(f"finish_s must be {wanted}, found {finish_s!r}")
        return await self._entered().active.drain(finish_s)

    async def _contract(
        self, schema: type[T] | TypeAdapter[T] | Contract[T] | Language[T] | Mapping[str, object] | bool
    ) -> Contract[T]:
        return await run_in_thread(lambda: Contract.of(cast("type[T]", schema)))

    def _entered(self) -> Shared:
        if self._shared is None:
            raise MisuseError("enter the client first: async with Client() as client")
        return self._shared

    def _run(self, order: Order[T, R], *, is_watched: bool) -> StructuredRun[T, R]:
        return StructuredRun(order, self._entered(), is_watched=is_watched)

    def _open_ledger(self) -> Ledger:
        if self._ledger is None:
            from commitgate.ledger import ledger_at

            self._ledger = ledger_at(self._ledger_place, os.environ)
        return self._ledger

    async def _close(self) -> None:
        await self._registry.aclose()
        is_own = self._ledger is not self._ledger_place
        if self._ledger is not None and is_own:
            await self._ledger.aclose()
        self._ledger = None


def _check_ledger(place: object) -> None:
    # Whoever hands over a ledger has imported the package already; a path does not need it yet.
    if place is not None and not isinstance(place, str | os.PathLike):
        from commitgate.ledger.location import checked_ledger

        checked_ledger(cast("Ledger", place))


__all__ = ["Client", "StructuredRun"]
