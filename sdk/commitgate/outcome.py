"""Define the sealed set of endings that a call can have, and the receipt that each carries.

Every call ends in exactly one of these types; ``match`` over them with ``assert_never`` is exhaustive.
``unwrap()`` gives the value of a ``Committed`` and raises the ending's own exception for all others.
Source: design, "Endings".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Generic, Literal, NoReturn, TypeAlias

from typing_extensions import TypeVar

from commitgate.backends.base import DeadEndCause, FaultKind, FinishReason, ServerDedup, Usage
from commitgate.difference import Difference
from commitgate.effect_kind import RUN_AGAIN
from commitgate.errors import (
    CancelledEndingError,
    CompileFailedError,
    DeadEndError,
    DisconnectedError,
    EffectFailedError,
    EndingError,
    FilteredError,
    InDoubtError,
    InvalidError,
    NeedsApprovalError,
    RefusedError,
    TimedOutError,
    TruncatedError,
    UnavailableError,
    UnsupportedContractError,
    ViolatedError,
)
from commitgate.gate.layers import Failure, Layer, LayerRecord

T_co = TypeVar("T_co", covariant=True, default=object)
R_co = TypeVar("R_co", covariant=True, default=None)

TimeoutPhase: TypeAlias = Literal["pool", "connect", "first_event", "idle", "progress", "total"]


_ADVICE: Mapping[FaultKind, str] = MappingProxyType(
    {
        "rate_limit": "; call again later",
        "overload": "; call again later",
        "server": "; call again later",
        "auth": "; check the key, and what it may be used for",
        "quota": "; the account has to be topped up or its limits raised",
        "unreachable": "; check the address, and that something runs there",
        "untrusted": "; verify= says whom else to trust",
        "protocol": "; check that base_url leads to a server of this kind",
    }
)

Fallback: TypeAlias = Literal["prompt_only"]
"""``prompt_only``: JSON was asked for by the prompt alone; the gate judged it all the same."""

ReceiptWarning: TypeAlias = Literal[
    "missing_done",
    "junk_after_finish",
    "reasoning_cut",
    "transport_closed_after_terminal",
    "usage_equals_limit",
    "close_failed",
    "replacement_character",
]
"""``missing_done``: the wire's end marker did not come after the finish. ``junk_after_finish``: bytes that are no
event came between the finish and the end of the stream. ``reasoning_cut``: the model's thoughts were
ended for it, because their limit was reached. ``transport_closed_after_terminal``: the line
broke after the finish. ``usage_equals_limit``: the provider said stop, and counts as many tokens as its limit
allowed. ``close_failed``: the backend's stream could not be closed, or not in time.
``replacement_character``: U+FFFD stands in the text; a server may have put it in place of what it could not spell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TryRecord:
    """Record how one request of a call went, payload-free.

    Attributes:
        number: from 1.
        ending: name of the ending that it amounted to; ``committed`` where its value was chosen.
        detail: the ending's own kind, phase or layer; None where it has none.
        status: HTTP status of a failure, where there is one.
        request_id: the provider's own name of the request, where it gives one.
        request_key_digest: digest of the idempotency key that went out with it; equal for retries of one question.
        had_text: answer text of it had passed.
        waited_s: wait before it.
        usage: tokens counted.
    """

    number: int
    ending: str
    detail: str | None = None
    status: int | None = None
    request_id: str | None = None
    request_key_digest: str | None = None
    had_text: bool = False
    waited_s: float = 0.0
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Record how a call went, payload-free: digests, names, counts and times alone.

    Digests are lower-case hexadecimal SHA-256. Times are seconds. None means not known or not reached.

    Attributes:
        contract_name: the contract's name.
        contract_version: the caller's version of it.
        language_digest: digest of what constrains: the schema without prose, or the source of a text, and its limits.
        full_digest: digest of the whole contract, prose included.
        text_digest: digest of the answer's bytes as received.
        value_digest: digest of the JSON of the value that was committed, or that a person must decide about.
        backend: the backend's name.
        model: the model's name.
        model_revision: what tells versions of the model apart.
        tokenizer_fingerprint: digest of the vocabulary that steered the masks.
        compile_result: whether the contract was compiled.
        compile_s: time to compile it.
        time_to_first_token_s: from the request to the first text of the answer; thoughts come before it.
        time_per_token_s: mean time of the tokens after the first.
        finish: why the provider stopped.
        finish_native: the provider's own word for it.
        layers: one record a layer, in order.
        attempts: requests made; 0 where none was.
        usage: tokens counted, over all requests.
        operation_key_digest: digest of the operation key.
        effect_key: the key handed to the effect for downstream calls.
        legal_mass_min: least legal mass of the steps that were drawn, in [0, 1].
        legal_mass_mean: mean legal mass of the steps that were drawn, in [0, 1].
        is_accept_state: the automaton stood in an accept state at the end of the text.
        tries: one record for each request, in order.
        request_id: the provider's own name of the last request.
        request_key_digest: digest of the idempotency key that went out with the last request.
        fallback: what was done in place of enforcing the contract; None where it was enforced.
        server_dedup: what the server told about its own use of the idempotency key.
        sent_digest: SHA-256 of what a server was asked to enforce: the language digest of the contract as sent. None
            where nothing was sent.
        differences: where the constraint as sent is not the contract's.
        enforcement_table: version of the table of what servers enforce by which it was translated.
        tokens_saved: most tokens that the model could still have written when the stream was stopped at the first byte
            that no value can have, each piece of text counted as one where the server does not count them; None where
            it was not stopped.
        first_violation: offset of that byte in the text received; None where there was none.
        warnings: short stable names of what was odd and changed no verdict.
    """

    contract_name: str | None = None
    contract_version: str | None = None
    language_digest: str | None = None
    full_digest: str | None = None
    text_digest: str | None = None
    value_digest: str | None = None
    backend: str | None = None
    model: str | None = None
    model_revision: str | None = None
    tokenizer_fingerprint: str | None = None
    compile_result: Literal["compiled", "failed", "not_reached"] = "not_reached"
    compile_s: float | None = None
    time_to_first_token_s: float | None = None
    time_per_token_s: float | None = None
    finish: FinishReason | None = None
    finish_native: str | None = None
    layers: tuple[LayerRecord, ...] = ()
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    operation_key_digest: str | None = None
    effect_key: str | None = None
    legal_mass_min: float | None = None
    legal_mass_mean: float | None = None
    is_accept_state: bool | None = None
    tries: tuple[TryRecord, ...] = ()
    request_id: str | None = None
    request_key_digest: str | None = None
    fallback: Fallback | None = None
    server_dedup: ServerDedup = "unknown"
    sent_digest: str | None = None
    differences: tuple[Difference, ...] = ()
    enforcement_table: str | None = None
    tokens_saved: int | None = None
    first_violation: int | None = None
    warnings: tuple[ReceiptWarning, ...] = ()


@dataclass(frozen=True, kw_only=True)  # no slots: they break Generic[...](...) on a frozen class
class Committed(Generic[T_co, R_co]):
    """Hand over a value that is whole, valid and allowed; its effect, if any, ran and was recorded.

    Attributes:
        value: the value, of the type asked for.
        result: what the effect returned; None where there was none.
        is_replayed: an earlier call committed it, and this one only read it from the ledger. False where this call
            committed a value that an earlier one had chosen: one that a person allowed since, or whose effect it ran
            again. The receipt is that of the call that chose the value, either way.
        text: the answer's text; for a replay the value's JSON as it was stored.
    """

    name: ClassVar[str] = "committed"
    value: T_co = field(repr=False)
    result: R_co = field(default=None, repr=False)  # pyright: ignore[reportAssignmentType] - R is None where no effect is
    is_replayed: bool = False
    text: str = field(default="", repr=False)
    receipt: Receipt = field(repr=False)

    @property
    def is_fallback(self) -> bool:
        """Say whether the contract was not enforced while the answer was written; the gate judged it all the same."""
        return self.receipt.fallback is not None

    def unwrap(self) -> T_co:
        """Return the value."""
        return self.value

    def summary(self) -> str:
        """Return one payload-free sentence, as every other ending does."""
        return "the value was committed before; here it is again" if self.is_replayed else "the value is committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Base of every outcome that hands over no value.

    Attributes:
        partial_text: the text received so far; for display and diagnosis, never a value.
        receipt: how the call went.
    """

    name: ClassVar[str]
    error: ClassVar[type[EndingError]]
    partial_text: str = field(default="", repr=False)
    receipt: Receipt = field(repr=False)

    def unwrap(self) -> NoReturn:
        """Raise the ending's exception, with this outcome on ``.outcome``."""
        raise self.error(self)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Ending):
    """Say that the model declined to answer.

    Attributes:
        text: what it said.
    """

    name: ClassVar[str] = "refused"
    error: ClassVar[type[EndingError]] = RefusedError
    text: str = field(default="", repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return "the model refused to answer; change the request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered(Ending):
    """Say that a safety filter cut or blocked the answer."""

    name: ClassVar[str] = "filtered"
    error: ClassVar[type[EndingError]] = FilteredError

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return "a safety filter cut or blocked the answer; change the request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated(Ending):
    """Say that a limit cut the answer, whatever its text looks like.

    Attributes:
        kind: which limit: on tokens, on the context, the server's own, or on the turns of a run of tools.
    """

    name: ClassVar[str] = "truncated"
    error: ClassVar[type[EndingError]] = TruncatedError
    kind: Literal["max_tokens", "context", "paused", "turns"] = "max_tokens"

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return f"the answer was cut by its limit ({self.kind}); call again with a larger one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(Ending):
    """Say that the caller cancelled; nothing was committed."""

    name: ClassVar[str] = "cancelled"
    error: ClassVar[type[EndingError]] = CancelledEndingError

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return "the call was cancelled; nothing was committed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut(Ending):
    """Say that one of our own time limits ran out.

    Attributes:
        phase: which limit.
        limit_s: its length in seconds.
        last: how the last request before it ended, where one had ended: what was being waited for.
    """

    name: ClassVar[str] = "timed_out"
    error: ClassVar[type[EndingError]] = TimedOutError
    phase: TimeoutPhase
    limit_s: float
    last: Failed | None = field(default=None, repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return f"the {self.phase} limit of {self.limit_s} s ran out; call again or raise the limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Disconnected(Ending):
    """Say that the stream ended without proof of an end; the text may look whole and is not to be trusted.

    Attributes:
        kind: ``ended`` cleanly but without the provider's finish; ``lost`` by a broken line; ``aborted`` by the
            provider, which says so in its finish.
    """

    name: ClassVar[str] = "disconnected"
    error: ClassVar[type[EndingError]] = DisconnectedError
    kind: Literal["ended", "lost", "aborted"] = "ended"

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return "the stream ended without the provider saying that the answer is whole; call again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported(Ending):
    """Say that the contract cannot be enforced as asked; nothing was generated.

    Attributes:
        keyword: the keyword that cannot be enforced; of what is no schema, its kind; empty where it is no single one.
        pointer: JSON pointer of its place in the schema.
        reason: why, and what to write instead.
        position: offset of the place in the text of a pattern or grammar, in characters from 0; None elsewhere.
        detail: what a server that refused it says in its own words, which may quote the schema; None of no server.
    """

    name: ClassVar[str] = "unsupported"
    error: ClassVar[type[EndingError]] = UnsupportedContractError
    keyword: str
    pointer: str
    reason: str
    position: int | None = None
    detail: str | None = field(default=None, repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        if not self.keyword:
            return f"the contract cannot be enforced: {self.reason}{_pointed(self.detail)}"
        place = self.pointer or "the root" if self.position is None else f"character {self.position}"
        return f"{self.keyword} at {place} cannot be enforced: {self.reason}{_pointed(self.detail)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileFailed(Ending):
    """Say that the contract could not be compiled; nothing was generated.

    Attributes:
        pointer: JSON pointer of the place at fault.
        keyword: the keyword at fault, None where no single one is; of what is no schema, its kind.
        reason: what is wrong and what to do.
        position: as of ``Unsupported``.
    """

    name: ClassVar[str] = "compile_failed"
    error: ClassVar[type[EndingError]] = CompileFailedError
    pointer: str
    keyword: str | None
    reason: str
    position: int | None = None

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        # What is wrong with a pattern or grammar says itself where it is.
        where = "" if self.position is not None else f" at {self.pointer or 'the root'}"
        return f"the contract could not be compiled{where}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd(Ending):
    """Say that no token was legal. Never retried as if it were noise.

    Attributes:
        cause: which part made it impossible.
        prefix_tokens: tokens written before it.
        explanation: what the automaton expected, in words.
    """

    name: ClassVar[str] = "dead_end"
    error: ClassVar[type[EndingError]] = DeadEndError
    cause: DeadEndCause
    prefix_tokens: int
    explanation: str

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return f"no token was legal after {self.prefix_tokens} tokens ({self.cause}): {self.explanation}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated(Ending):
    """Say that the backend sent what the constraint forbids; it counts against the backend.

    Attributes:
        kind: what was broken.
        position: byte offset in the text of the first byte that cannot be part of a value.
        explanation: what the automaton expected there, in words.
    """

    name: ClassVar[str] = "violated"
    error: ClassVar[type[EndingError]] = ViolatedError
    kind: Literal["not_json", "not_accepting", "whitespace", "limit", "constraint", "server_malformed"]
    position: int
    explanation: str

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return f"the backend broke the constraint ({self.kind}) at byte {self.position}: {self.explanation}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalid(Ending):
    """Say that one layer refused a whole, well-formed answer.

    Attributes:
        layer: the layer that refused.
        failures: what it found, at least one.
    """

    name: ClassVar[str] = "invalid"
    error: ClassVar[type[EndingError]] = InvalidError
    layer: Layer
    failures: tuple[Failure, ...]

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return f"the {self.layer} layer refused the answer: " + "; ".join(
            f"{f.code} at {f.pointer or 'the root'}: {f.message}" for f in self.failures
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsApproval(Ending):
    """Say that the value passed every layer and that a person must decide about it. Nothing was done with it.

    ``partial_text`` is the whole proposal as the model wrote it, or, from the ledger, as it was stored, for the person
    to read; it is not a value yet.

    Attributes:
        reason: why, in the words of ``approve``.
    """

    name: ClassVar[str] = "needs_approval"
    error: ClassVar[type[EndingError]] = NeedsApprovalError
    reason: str = field(repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return "the value is valid, but a person must decide about it; nothing was done"


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectFailed(Ending):
    """Say that nothing happened: the effect declined cleanly, its transaction was rolled back, or it was found out so.

    Attributes:
        reason: what the effect said, or what is known of it.
        cause: the exception for which its transaction was rolled back, where this process saw it.
    """

    name: ClassVar[str] = "effect_failed"
    error: ClassVar[type[EndingError]] = EffectFailedError
    reason: str = field(repr=False)
    cause: BaseException | None = field(default=None, repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        return "the effect did not happen: it declined, was rolled back, or was found not to have been applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt(Ending):
    """Say that it cannot be known whether the effect happened. Look downstream before doing it again.

    The operation key stays taken, so no later call runs the effect a second time, unless its kind makes that harmless.

    Attributes:
        reason: what went wrong, without payload.
        cause: the exception that the effect or the ledger raised, where this process saw it.
    """

    name: ClassVar[str] = "in_doubt"
    error: ClassVar[type[EndingError]] = InDoubtError
    reason: str
    cause: BaseException | None = field(default=None, repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        # Where the reason says what to do, a second advice would contradict it.
        advice = "" if self.reason.endswith(RUN_AGAIN) else "; look downstream before doing it again"
        return f"it is unknown whether the effect happened ({self.reason}){advice}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable(Ending):
    """Say that the provider failed to serve the request.

    Attributes:
        kind: what sort of failure.
        message: what happened, without payload.
        status: HTTP status where there is one.
        code: the provider's own code where there is one.
        retry_after_s: seconds that the provider asks to wait, where it does.
        request_id: the provider's own name of the request, where it gives one.
        detail: the provider's own words, where it gives some; they may quote the request.
    """

    name: ClassVar[str] = "unavailable"
    error: ClassVar[type[EndingError]] = UnavailableError
    kind: FaultKind
    message: str
    status: int | None = None
    code: str | None = None
    retry_after_s: float | None = None
    request_id: str | None = None
    detail: str | None = field(default=None, repr=False)

    def summary(self) -> str:
        """Return one payload-free sentence: what ended the call and what to do."""
        advice = "; check the model's name, and base_url" if self.status == 404 else _ADVICE.get(self.kind, "")
        return f"the backend failed ({self.kind}): {self.message}{advice}{_pointed(self.detail)}"


def _pointed(detail: str | None) -> str:
    """Return where a server's words are to be found, as they may hold payload."""
    return "" if detail is None else "; outcome.detail has the server's own words"


Failed: TypeAlias = (
    Refused
    | Filtered
    | Truncated
    | Cancelled
    | TimedOut
    | Disconnected
    | Unsupported
    | CompileFailed
    | DeadEnd
    | Violated
    | Invalid
    | NeedsApproval
    | EffectFailed
    | InDoubt
    | Unavailable
)
"""Every ending that hands over no value."""

Outcome: TypeAlias = Committed[T_co, R_co] | Failed
"""Every ending that a call can have."""

__all__ = [
    "Cancelled",
    "Committed",
    "CompileFailed",
    "DeadEnd",
    "Disconnected",
    "EffectFailed",
    "Ending",
    "Failed",
    "Fallback",
    "Filtered",
    "InDoubt",
    "Invalid",
    "NeedsApproval",
    "Outcome",
    "Receipt",
    "ReceiptWarning",
    "Refused",
    "TimedOut",
    "TimeoutPhase",
    "Truncated",
    "TryRecord",
    "Unavailable",
    "Unsupported",
    "Violated",
]
