"""Hold what a caller asked for, and refuse calls that contradict themselves before anything is sent or written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeAlias, cast, get_args

from typing_extensions import TypeVar

from commitgate.argument import check_choice, check_finite, check_kind, check_text
from commitgate.backends.base import Backend, Sampling
from commitgate.contract import Contract, Numbers
from commitgate.errors import MisuseError
from commitgate.gate.checks import Approve, Authorize, Checks, ContentCheck, Evidence
from commitgate.gate.rules import Rule
from commitgate.outcome import Committed, Failed, Fallback, Invalid, Outcome
from commitgate.reasoning import Reasoning
from commitgate.retry import Retry
from commitgate.retry.keys import OperationKey
from commitgate.retry.keys import operation_key as checked_key
from commitgate.risk import Risk
from commitgate.run.conversation import Conversation, MessageLike, PromptSchema
from commitgate.timeouts import Timeouts

if TYPE_CHECKING:
    from commitgate.effect import Effect, EffectFunction
    from commitgate.tools.offer import ToolOffer

T = TypeVar("T")
R = TypeVar("R", default=None)

InProgress: TypeAlias = Literal["raise", "wait"]
"""What to do where another call holds the operation key: raise ``InProgressError``, or wait for it to end."""

Require: TypeAlias = Literal["checked", "decoded"]
"""``checked``: what cannot be enforced while the answer is written is enforced by the gate after it. ``decoded``: a
contract with anything of that kind is ``Unsupported``, before anything is sent."""

DEFAULT_APPROVAL_EXPIRES_S = 604_800.0
"""Seconds that a person may take to decide: a week. What was proposed in another week may not be wanted any more."""


LookUp: TypeAlias = Callable[[Committed[T, R]], Awaitable[Outcome[T, R]]]
"""Runs what only reads with a value that was judged, and returns how the call ended."""


class Refusals(Protocol):
    """Keep what was refused under a key, which itself stays free; asked while the key is claimed, so by one at a time.

    What stands in it has been told to somebody who went another way, so it must not be done any more.
    """

    async def read(self) -> Invalid | None:
        """Return the refusal; None where there was none."""
        ...

    async def keep(self, refused: Invalid) -> Failed:
        """Put a refusal on record; return it, or what kept it from being recorded."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Generic[T, R]):
    """Hold one call as asked for, checked as far as it can be without building the contract.

    Attributes:
        backend: whom to ask.
        model: the model's name at the backend.
        schema: what ``Contract.of`` takes.
        conversation: the caller's words.
        sampling: how tokens are drawn.
        checks: what the call asks of a value beside what its contract does.
        principal: who asks, for ``evidence``, ``authorize`` and ``approve``.
        effect: what a committed value sets off.
        key: the operation key.
        input_fingerprint: the caller's own name of the input.
        timeouts: limits on the waits.
        retry: what may be asked again.
        fallback: what may be done where the contract cannot be enforced; None nothing.
        prompt_schema: whether the model is shown the schema; None leaves it to what the server does by itself.
        numbers: how non-integers of plain JSON come out; None leaves it to the contract.
        forced: as in the request.
        in_progress: what to do where another call holds the key.
        approval_expires_s: seconds that a person may take to decide; None without a limit.
        require: how the contract must be enforced.
        watch: the acceptor only reports; the stream is read to its end.
        acts: something is done because of the value, by whoever made this order.
        given: the answer's JSON where no model is asked for it; the backend may be None then.
        input_digest: the input's fingerprint as a row holds it, for what goes on with that row; None makes it anew.
        tool: name of the tool whose arguments are given; None of no tool.
        look_up: runs, with the arguments, a tool that only reads; None where nothing is run, or the effect is.
        tools: what the answer may call, where the contract is that of a turn of tools.
        strict_limit: an answer that counts as many tokens as its limit allowed is taken for a cut one.
        refusals: keeps what is refused under the key; None where the key is free again, and nothing more.
        reasoning: how the model may think before it answers.
    """

    backend: Backend | None = field(repr=False)
    model: str
    schema: object = field(repr=False)
    conversation: Conversation
    sampling: Sampling
    checks: Checks[T] = field(repr=False)
    principal: object = field(repr=False)
    effect: Effect[T, R] | None = field(repr=False)
    key: OperationKey | None = field(repr=False)
    input_fingerprint: str | None = field(repr=False)
    timeouts: Timeouts
    retry: Retry
    fallback: Fallback | None
    prompt_schema: PromptSchema | None
    numbers: Numbers | None
    forced: bool
    in_progress: InProgress
    approval_expires_s: float | None
    require: Require = "checked"
    watch: bool = False
    acts: bool = False
    given: bytes | None = field(default=None, repr=False)
    tool: str | None = None
    look_up: LookUp[T, R] | None = field(default=None, repr=False)
    input_digest: str | None = field(default=None, repr=False)
    tools: ToolOffer | None = field(default=None, repr=False)
    strict_limit: bool = False
    refusals: Refusals | None = field(default=None, repr=False)
    reasoning: Reasoning | None = None

    @staticmethod
    def of(
        backend: Backend,
        model: str,
        schema: object,
        *,
        prompt: str | None,
        messages: Sequence[MessageLike] | None,
        system: str | None,
        sampling: Sampling | None,
        reasoning: Reasoning | None,
        rules: Sequence[Rule[T]] | None,
        content: Sequence[ContentCheck[T]] | None,
        evidence: Sequence[Evidence[T]] | None,
        authorize: Authorize[T] | None,
        approve: Approve[T] | None,
        principal: object,
        effect: EffectFunction[T, R] | None,
        operation_key: str | None,
        input_fingerprint: str | None,
        timeouts: Timeouts | None,
        retry: Retry | None,
        fallback: Fallback | None,
        prompt_schema: PromptSchema | None,
        numbers: Numbers | None,
        forced: bool,
        in_progress: InProgress,
        approval_expires_s: float | None,
        require: Require,
        watch: bool,
    ) -> Order[T, R]:
        """Check what was asked for; the arguments are those of ``Client.stream_structured``.

        Raises:
            MisuseError: it contradicts itself, or an argument is of another type.
        """
        if effect is not None and operation_key is None:
            raise MisuseError("an effect needs an operation_key: without one it could happen twice")
        if input_fingerprint is not None and operation_key is None:
            raise MisuseError("input_fingerprint is for the ledger; give an operation_key too")
        for name, value, kind in (
            ("sampling", sampling, Sampling),
            ("reasoning", reasoning, Reasoning),
            ("timeouts", timeouts, Timeouts),
            ("retry", retry, Retry),
        ):
            if value is not None:
                check_kind(name, value, kind, f"a {kind.__name__}")
        if input_fingerprint is not None:
            check_text("input_fingerprint", input_fingerprint)
        check_kind("forced", forced, bool, "a bool")
        if prompt_schema not in (None, "append", "none"):
            raise MisuseError(f"prompt_schema must be 'append', 'none' or None, found {prompt_schema!r}")
        check_choice("require", require, get_args(Require))
        check_kind("watch", watch, bool, "a bool")
        if fallback is not None and require == "decoded":
            raise MisuseError("require='decoded' and a fallback contradict each other; give one of them")
        if numbers not in (None, "float", "decimal"):
            raise MisuseError(f"numbers must be 'float' or 'decimal', found {numbers!r}")
        if fallback not in (None, "prompt_only"):
            raise MisuseError(f"fallback must be 'prompt_only' or None, found {fallback!r}")
        if in_progress not in ("raise", "wait"):
            raise MisuseError(f"in_progress must be 'raise' or 'wait', found {in_progress!r}")
        check_expiry(approval_expires_s)
        if fallback is not None:
            _check_may_fall_back(schema, effect)
        check_larger(retry or Retry(), sampling or Sampling())
        return Order(
            backend=backend,
            model=model,
            schema=schema,
            conversation=Conversation.of(prompt, messages, system),
            sampling=sampling or Sampling(),
            checks=Checks[T].of(rules=rules, content=content, evidence=evidence, authorize=authorize, approve=approve),
            principal=principal,
            effect=None if effect is None else checked_effect(effect),
            key=None if operation_key is None else checked_key(operation_key),
            input_fingerprint=input_fingerprint,
            timeouts=timeouts or Timeouts(),
            retry=retry or Retry(),
            fallback=fallback,
            prompt_schema=prompt_schema,
            numbers=numbers,
            forced=forced,
            in_progress=in_progress,
            approval_expires_s=approval_expires_s,
            require=require,
            watch=watch,
            reasoning=reasoning,
        )


def order_of_given(
    contract: Contract[T],
    given: bytes,
    effect: Effect[T, R] | None,
    *,
    key: OperationKey,
    input_fingerprint: str,
    principal: object,
    timeouts: Timeouts | None,
    in_progress: InProgress,
    approval_expires_s: float | None,
) -> Order[T, R]:
    """Return the order of a value that is given and not asked for; the arguments are those of ``Order``."""
    return Order(
        backend=None,
        model="",
        schema=contract,
        conversation=Conversation.of(None, None, None),
        sampling=Sampling(),
        checks=Checks[T](),
        principal=principal,
        effect=effect,
        key=key,
        input_fingerprint=input_fingerprint,
        timeouts=timeouts or Timeouts(),
        retry=Retry(),
        fallback=None,
        prompt_schema="none",
        numbers=None,
        forced=True,
        in_progress=in_progress,
        approval_expires_s=approval_expires_s,
        given=given,
    )


def check_expiry(approval_expires_s: float | None) -> None:
    """Check how long a person may take to decide.

    Raises:
        MisuseError: it is no number of seconds > 0.
    """
    if approval_expires_s is None:
        return
    wanted = "a number of seconds > 0, or None for no limit"
    check_finite("approval_expires_s", approval_expires_s, wanted)
    if approval_expires_s <= 0:
        raise MisuseError(f"approval_expires_s must be {wanted}, found {approval_expires_s!r}")


def _check_may_fall_back(schema: object, effect: object) -> None:
    if effect is not None:
        raise MisuseError("an effect never falls back: leave out fallback or effect")
    # A raw schema says nothing of what hangs on its value, and is no draft by default.
    if not isinstance(schema, Contract) or cast("Contract[object]", schema).risk is not Risk.DRAFT:
        raise MisuseError("fallback is for a Contract of Risk.DRAFT alone: Contract.of(schema, risk=Risk.DRAFT)")


def check_larger(retry: Retry, sampling: Sampling) -> None:
    """Check that asking with a larger limit asks with a larger one.

    Raises:
        MisuseError: it does not.
    """
    larger = retry.larger_max_tokens
    if larger is not None and larger <= sampling.max_tokens:
        raise MisuseError(
            f"Retry.larger_max_tokens must be > Sampling.max_tokens ({sampling.max_tokens}), found {larger}"
        )


def checked_effect(effect: EffectFunction[T, R]) -> Effect[T, R]:
    """Return the effect of a caller's function.

    Raises:
        MisuseError: it is none, or has no name that can be stored.
    """
    from commitgate.effect import Effect

    made = Effect[T, R].of(effect)
    check_text("effect_name", made.name)
    check_text("effect_version", made.version)
    return made


__all__ = [
    "DEFAULT_APPROVAL_EXPIRES_S",
    "InProgress",
    "LookUp",
    "Order",
    "Refusals",
    "Require",
    "check_expiry",
    "check_larger",
    "checked_effect",
    "order_of_given",
]
