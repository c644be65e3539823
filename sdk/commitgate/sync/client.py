"""Offer the client to programs without an event loop; ``commitgate.client`` does the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from typing_extensions import TypeVar

from commitgate import client as asynchronous
from commitgate.backends.base import Backend, Sampling
from commitgate.contract import Contract, Numbers
from commitgate.gate.checks import Approve, Authorize, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.json_value import JsonValue
from commitgate.outcome import Fallback, Outcome
from commitgate.retry import Retry, RetryBudget
from commitgate.run.conversation import MessageLike, PromptSchema
from commitgate.sync.bridge import Bridge
from commitgate.sync.structured_run import StructuredRun
from commitgate.timeouts import Timeouts

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from commitgate.effect import EffectFunction
    from commitgate.ledger import Ledger

T = TypeVar("T", default=JsonValue)
R = TypeVar("R", default=None)


class Client:
    """Make calls that block. Use it with ``with``; leaving it cancels what still runs and finishes commits.

    Args:
        backends: backends by name; ``local`` is always known. They stay the caller's to close.
        retry_budget: bounds the retries of all calls together; may be shared by clients.
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
        self._client = asynchronous.Client(backends=backends, ledger=ledger, retry_budget=retry_budget)
        self._bridge = Bridge(self._client, "client")

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
            )
        )

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
            approve: says whether a person must decide; then the call ends as ``NeedsApproval``.
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
            )
        )
        return StructuredRun(run, self._bridge)


__all__ = ["Client"]
