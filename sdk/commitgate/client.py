"""Offer the library's public face: a client that makes calls and owns what outlives them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

import anyio
from anyio.abc import TaskGroup
from typing_extensions import TypeVar

from commitgate.argument import check_kind
from commitgate.backends.base import Backend, Sampling
from commitgate.backends.registry import BackendRegistry
from commitgate.contract import Contract, Numbers
from commitgate.errors import MisuseError
from commitgate.gate.checks import Approve, Authorize, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonValue
from commitgate.outcome import Fallback, Outcome
from commitgate.retry import Retry, RetryBudget
from commitgate.run.conversation import MessageLike, PromptSchema
from commitgate.run.order import DEFAULT_APPROVAL_EXPIRES_S, InProgress, Order
from commitgate.run.structured_run import StructuredRun
from commitgate.timeouts import Timeouts

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.effect import EffectFunction
    from commitgate.ledger import Ledger

T = TypeVar("T", default=JsonValue)
R = TypeVar("R", default=None)


class Client:
    """Make calls. Use it with ``async with``; leaving it cancels what still runs and finishes commits.

    Args:
        backends: backends by name; ``local`` is always known. They stay the caller's to close.
        retry_budget: bounds the retries of all calls together; may be shared by clients of one event loop.
        ledger: a ledger, which stays the caller's to close; the path of a SQLite file; None for the file that
            ``COMMITGATE_LEDGER`` names, or else one in the user's data folder. Opened with the first operation key.

    Raises:
        MisuseError: an argument is none of these.
    """

    def __init__(
        self,
        *,
        backends: Mapping[str, Backend] | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        retry_budget: RetryBudget | None = None,
    ) -> None:
        if retry_budget is not None:
            check_kind("retry_budget", retry_budget, RetryBudget, "a RetryBudget")
        self._retry_budget = retry_budget or RetryBudget()
        self._registry = BackendRegistry({} if backends is None else backends)
        _check_ledger(ledger)
        self._ledger_place = ledger
        self._ledger: Ledger | None = None
        self._task_group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Start to own tasks.

        Raises:
            MisuseError: it is entered already.
        """
        if self._task_group is not None:
            raise MisuseError("this client is entered already")
        self._task_group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel the runs, wait for them and their commits, and close what was opened here."""
        del error_type, error, trace
        task_group, self._task_group = self._task_group, None
        assert task_group is not None, "a client is left after it was entered"
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
        schema: type[T] | TypeAdapter[T] | Contract[T] | Mapping[str, object] | bool,
        *,
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        sampling: Sampling | None = None,
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
        prompt_schema: PromptSchema = "append",
        numbers: Numbers | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
    ) -> Outcome[T, R]:
        """Make one call and wait for its end. The arguments are those of ``stream_structured``.

        Raises:
            MisuseError: the call contradicts itself.
            BackendError: the model cannot be had.
            LedgerError: the key conflicts, is in progress, or the ledger cannot be used.
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
        )
        async with self._run(order, is_watched=False) as run:
            return await run.outcome()

    def stream_structured(
        self,
        model: str,
        schema: type[T] | TypeAdapter[T] | Contract[T] | Mapping[str, object] | bool,
        *,
        prompt: str | None = None,
        messages: Sequence[MessageLike] | None = None,
        system: str | None = None,
        sampling: Sampling | None = None,
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
        prompt_schema: PromptSchema = "append",
        numbers: Numbers | None = None,
        forced: bool = True,
        in_progress: InProgress = "raise",
        approval_expires_s: float | None = DEFAULT_APPROVAL_EXPIRES_S,
    ) -> StructuredRun[T, R]:
        """Prepare one call; it starts when the returned run is entered.

        Args:
            model: ``backend/name``, split at the first slash; ``local`` alone is the bundled model, and
                ``local/<path>`` a model folder or GGUF file.
            schema: a pydantic model, dataclass, TypedDict, ``list[T]``, scalar type, ``TypeAdapter``, JSON Schema or
                ``Contract``. One that cannot be enforced ends the call as ``Unsupported`` or ``CompileFailed``.
            prompt: what to ask, as one user message. Without prompt and messages, the schema's own title and
                descriptions are the prompt.
            messages: what to ask, as a conversation of ``Message`` or of dicts of ``role`` and ``content``.
            system: the system message.
            sampling: how tokens are drawn; None takes the likeliest.
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
            prompt_schema: whether the schema is shown to the model.
            numbers: whether non-integers of plain JSON come as ``"float"`` or ``"decimal"``; None takes what a contract
                says, else floats.
            forced: whether runs that only one text can follow may be fed without asking the model.
            in_progress: ``"raise"`` raises ``InProgressError`` where another call holds the operation key; ``"wait"``
                waits until that call has ended or died, and then replays or goes on.
            approval_expires_s: seconds that a person may take to decide, where ``approve`` asks for one; None without
                a limit.

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
        )
        return self._run(order, is_watched=True)

    def _run(self, order: Order[T, R], *, is_watched: bool) -> StructuredRun[T, R]:
        if self._task_group is None:
            raise MisuseError("enter the client first: async with Client() as client")
        return StructuredRun(
            order,
            task_group=self._task_group,
            ledger=self._open_ledger,
            budget=self._retry_budget,
            is_watched=is_watched,
        )

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
