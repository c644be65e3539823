"""Offer the client to programs without an event loop; ``commitgate.client`` does the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Never, Self, cast, overload

from typing_extensions import TypeVar

from commitgate import client as asynchronous
from commitgate.backends.base import Backend, Sampling
from commitgate.contract import Contract, Numbers
from commitgate.finding import BY_CALL
from commitgate.gate.checks import Approve, Authorize, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonValue
from commitgate.languages import Language
from commitgate.outcome import Fallback, Invalid, Outcome
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry, RetryBudget
from commitgate.run.active import Drained
from commitgate.run.approval import PendingApproval
from commitgate.run.conversation import MessageLike, PromptSchema
from commitgate.run.order import DEFAULT_APPROVAL_EXPIRES_S, InProgress, Require
from commitgate.sync.bridge import Bridge
from commitgate.sync.connections import WithConnections
from commitgate.sync.structured_run import StructuredRun
from commitgate.sync.tools_face import ToolsFace
from commitgate.telemetry.observer import Observer
from commitgate.timeouts import DEFAULT_LEASE_S, Timeouts

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.effect import EffectFunction
    from commitgate.ledger import Ledger

T = TypeVar("T", default=JsonValue)
R = TypeVar("R", default=None)


class Client(ToolsFace):
    """Make calls that block. Use it with ``with``; leaving it cancels what still runs and finishes commits.

    Args:
        backends: backends by name; ``local`` is always known. They stay the caller's; of those that ask
            a server, the connections are closed when the client is left.
        retry_budget: bounds the retries of all calls together; may be shared by clients.
        ledger: a ledger, which stays the caller's to close; the path of a SQLite file; None for the file that
            ``COMMITGATE_LEDGER`` names, or else one in the user's data folder. Opened with the first operation key.
        lease_s: seconds, > 0, for which an operation key stays taken after its process was killed. It is renewed while
            the process lives, however long a call takes.
        reviewed: digests of the contracts that somebody reviewed: each a contract's ``full_digest`` or a template's
            ``digest``. Then what has an effect, or a contract of ``Risk.EFFECT``, must use one of them; everything else
            raises ``ReviewedContractError`` before anything is sent or written. None asks for no review.
        observers: who is told how calls go; called in the thread of the event loop behind this client.

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
        self._client = asynchronous.Client(
            backends=backends,
            ledger=ledger,
            retry_budget=retry_budget,
            lease_s=lease_s,
            reviewed=reviewed,
            observers=observers,
        )
        self._bridge = Bridge(WithConnections(self._client, (backends or {}).values()), "client")

    def __enter__(self) -> Self:
        """Start the client's thread.

        Raises:
            MisuseError: it is entered already, or this thread runs an event loop.
        """
        self._bridge.__enter__()
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel the runs, wait for them and their commits, and end the thread."""
        self._bridge.__exit__(error_type, error, trace)

    def generate_structured(
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
        """
        return self._bridge.wait(
            lambda: self._client.generate_structured(
                model,
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
        )

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
        run = self._bridge.call(
            lambda: self._client.stream_structured(
                model,
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
        )
        return StructuredRun(run, self._bridge)

    def outcome(
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
        return self._bridge.wait(
            lambda: self._client.outcome(operation_key, schema, authorize=authorize, principal=principal)
        )

    def approvals(self, *, limit: int = 100) -> tuple[PendingApproval, ...]:
        """Return what waits for a person, longest first.

        Args:
            limit: most entries, >= 1.

        Raises:
            MisuseError: the client was not entered, or ``limit`` is out of range.
            LedgerError: the ledger cannot be read.
        """
        return self._bridge.wait(lambda: self._client.approvals(limit=limit))

    @overload
    def approve(self, operation_key: str, *, by: str, value_digest: str | None = None) -> Outcome[object, object]: ...
    @overload
    def approve(
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
    def approve(
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
            ContractError: ``schema`` cannot be made a contract. Nothing was recorded.
            LedgerError: nothing waits under this key, or not this value (``DecisionError``); another schema or effect
                than the call's (``KeyConflictError``); the ledger cannot be used.
        """
        approve = cast("Callable[..., Coroutine[Any, Any, Outcome[object, object]]]", self._client.approve)
        return self._bridge.wait(
            lambda: approve(
                operation_key,
                by=by,
                value_digest=value_digest,
                schema=schema,
                effect=effect,
                rules=rules,
                content=content,
                evidence=evidence,
                authorize=authorize,
                principal=principal,
                timeouts=timeouts,
            )
        )

    def reject(self, operation_key: str, *, by: str, reason: str = "") -> Invalid:
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
        return self._bridge.wait(lambda: self._client.reject(operation_key, by=by, reason=reason))

    def reconcile(
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
        return self._bridge.wait(lambda: self._client.reconcile(operation_key, effect, by=by))

    def aclose(self, *, finish_s: float = 0.0) -> Drained:
        """Take no further calls, bring those that run to an end, and report how each ended.

        Leaving the client does the same at once, without a report. Commits that have begun are always finished.

        Args:
            finish_s: seconds that running calls may take to end by themselves, >= 0; then they are cancelled.

        Raises:
            MisuseError: ``finish_s`` is out of range, the client was not entered, or one of its own calls asks for it.
        """
        return self._bridge.wait(lambda: self._client.aclose(finish_s=finish_s))


__all__ = ["Client"]
