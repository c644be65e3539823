"""Gather what a receipt tells, as it becomes known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeVar

from commitgate.backends.base import BackendIdentity, FinishReason, TextDelta, Usage
from commitgate.contract import Contract
from commitgate.gate.gate import Gate
from commitgate.gate.layers import Layer, LayerRecord
from commitgate.outcome import (
    Disconnected,
    Ending,
    Failed,
    Fallback,
    Invalid,
    Outcome,
    Receipt,
    ReceiptWarning,
    Refused,
    TimedOut,
    Truncated,
    TryRecord,
    Unavailable,
    Violated,
)
from commitgate.run.watch import Watch
from commitgate.timeouts import Timeouts

if TYPE_CHECKING:
    from commitgate.backends.translation import Translation

E = TypeVar("E", bound=Ending)

_MOST_TOKENS = 1_000_000_000

_REPLACEMENT = "\ufffd".encode()


@dataclass(slots=True)
class Facts:
    """Gather what is known of one call; ``receipt`` gives it as it stands.

    Attributes:
        contract: known once it is built.
        compile_result: as in the receipt.
        compile_s: as in the receipt.
        identity: what answers, known once an attempt is open.
        attempts: requests made.
        tries: one record for each request that has ended.
        request_key_digest: digest of the last request's idempotency key.
        fallback: as in the receipt.
        most_tokens: limit on the tokens of the last request's answer.
        last: how the last request ended, where it did not choose a value.
        gate: judges the last attempt.
        turn: text of its turn of tools, put back into the contract's shape; None where it came in that shape. Calls
            are taken from it, and what was left out must not come back as null.
        is_close_failed: its stream could not be closed, or not in time.
        layers: records of the layers that the text was taken through.
        value_digest: as in the receipt.
        proposed: JSON of the value about which a person must decide.
        operation_key_digest: as in the receipt.
        effect_key: as in the receipt.
        translation: the contract as a server was sent it; None where none was.
        watch: is told of the call's requests.
    """

    contract: Contract[object] | None = None
    compile_result: Literal["compiled", "failed", "not_reached"] = "not_reached"
    compile_s: float | None = None
    identity: BackendIdentity | None = None
    attempts: int = 0
    tries: list[TryRecord] = field(default_factory=list[TryRecord])
    request_key_digest: str | None = None
    fallback: Fallback | None = None
    most_tokens: int | None = None
    last: Failed | None = None
    gate: Gate | None = None
    turn: bytes | None = field(default=None, repr=False)
    is_close_failed: bool = False
    layers: list[LayerRecord] = field(default_factory=list[LayerRecord])
    value_digest: str | None = None
    proposed: bytes | None = field(default=None, repr=False)
    operation_key_digest: str | None = None
    effect_key: str | None = None
    translation: Translation | None = None
    watch: Watch = field(default_factory=Watch, repr=False)
    _pieces: int = 0
    _waited_s: float = 0.0
    _requested_at: float = 0.0
    _first_text_at: float | None = None
    _last_text_at: float | None = None
    _tokens: int | None = 0
    _legal_mass_min: float | None = None
    _legal_mass_sum: float = 0.0
    _legal_mass_count: int = 0

    @property
    def text(self) -> str:
        """Return the answer's text so far."""
        if self.turn is not None:
            return self.turn.decode(errors="replace")
        return "" if self.gate is None else self.gate.evidence.text.decode(errors="replace")

    @property
    def had_text(self) -> bool:
        """Say whether text of the last request's answer has passed."""
        return self.gate is not None and bool(self.gate.evidence.passed)

    def begin_attempt(self, now: float, *, waited_s: float = 0.0) -> None:
        """Note that a request goes out, and after which wait; what the last attempt measured is forgotten."""
        self.attempts += 1
        self.gate = self.turn = self.identity = self.value_digest = None
        self.layers = []
        self.is_close_failed = False
        self._waited_s = waited_s
        self._requested_at = now
        self._first_text_at = self._last_text_at = None
        self._tokens = 0
        self._pieces = 0
        self._legal_mass_min, self._legal_mass_sum, self._legal_mass_count = None, 0.0, 0

    def note_text(self, delta: TextDelta, now: float) -> None:
        """Note when text arrived, how many tokens it was and how likely it was to the model."""
        if self._first_text_at is None:
            self._first_text_at = now
        self._last_text_at = now
        self._pieces += delta.tokens or 1
        self._tokens = None if delta.tokens is None or self._tokens is None else self._tokens + delta.tokens
        if delta.legal_mass is not None and isfinite(delta.legal_mass):
            least = self._legal_mass_min
            self._legal_mass_min = delta.legal_mass if least is None else min(least, delta.legal_mass)
            self._legal_mass_sum += delta.legal_mass
            self._legal_mass_count += 1

    def end_attempt(self, ending: Failed | None) -> None:
        """Note how the request ended; None where its value was chosen."""
        self.last = ending
        identity = self.identity
        record = TryRecord(
            number=self.attempts,
            ending="committed" if ending is None else ending.name,
            detail=detail_of(ending),
            request_id=None if identity is None else identity.request_id,
            request_key_digest=self.request_key_digest,
            had_text=self.had_text,
            waited_s=self._waited_s,
            usage=Usage() if self.gate is None else self.gate.evidence.usage,
        )
        if isinstance(ending, Unavailable):
            record = replace(record, status=ending.status, request_id=ending.request_id or record.request_id)
        self.tries.append(record)
        self.watch.request_ended(record, self.receipt)

    def cut_off(self, ending: Failed) -> None:
        """Note what ended the call from outside; where a request was under way, that is how it ended."""
        if len(self.tries) < self.attempts:
            self.end_attempt(ending)

    def out_of_time(self, timeouts: Timeouts) -> TimedOut:
        """Return the ending of a call whose whole time is over, with the ending that was being waited out."""
        last = None if self.last is None else self.fill(self.last)
        return TimedOut(phase="total", limit_s=timeouts.total_s or 0.0, last=last, receipt=Receipt())

    def fill(self, ending: E) -> E:
        """Return the ending with receipt and partial text."""
        return replace(ending, receipt=self.receipt(), partial_text=self.text)

    def receipt(self) -> Receipt:
        """Return what is known now."""
        contract, identity, gate = self.contract, self.identity, self.gate
        evidence = None if gate is None else gate.evidence
        finish = None if evidence is None else evidence.finish
        count = self._legal_mass_count
        receipt = Receipt(
            compile_result=self.compile_result,
            compile_s=self.compile_s,
            attempts=self.attempts,
            value_digest=self.value_digest,
            operation_key_digest=self.operation_key_digest,
            effect_key=self.effect_key,
            finish=None if finish is None else finish.reason,
            finish_native=None if finish is None else finish.native,
            layers=self._all_layers(),
            time_to_first_token_s=None if self._first_text_at is None else self._first_text_at - self._requested_at,
            time_per_token_s=self._time_per_token(),
            legal_mass_min=self._legal_mass_min,
            legal_mass_mean=self._legal_mass_sum / count if count else None,
            is_accept_state=None if gate is None else gate.is_accepting,
            tries=tuple(self.tries),
            request_key_digest=self.request_key_digest,
            fallback=self.fallback,
            warnings=self._warnings(),
            usage=self._usage(),
            tokens_saved=self._tokens_saved(),
            first_violation=self._first_violation(),
        )
        if self.translation is not None:
            receipt = replace(
                receipt,
                sent_digest=self.translation.sent.language_digest,
                differences=self.translation.differences,
                enforcement_table=self.translation.table,
            )
        if contract is not None:
            receipt = replace(
                receipt,
                contract_name=contract.name,
                contract_version=contract.version,
                language_digest=contract.language_digest,
                full_digest=contract.full_digest,
            )
        if identity is not None:
            receipt = replace(
                receipt,
                backend=identity.backend,
                model=identity.model,
                model_revision=identity.model_revision,
                tokenizer_fingerprint=identity.tokenizer_fingerprint,
                request_id=identity.request_id,
                server_dedup=identity.server_dedup,
            )
        if self.tries and receipt.request_id is None:
            receipt = replace(receipt, request_id=self.tries[-1].request_id)
        if evidence is not None:
            receipt = replace(receipt, text_digest=sha256(evidence.text).hexdigest())
        return receipt

    def _usage(self) -> Usage:
        """Return the tokens of all requests, the one that has not ended yet included."""
        counted = [record.usage for record in self.tries]
        if self.gate is not None and len(self.tries) < self.attempts:
            counted.append(self.gate.evidence.usage)
        return Usage(
            _sum(usage.input_tokens for usage in counted),
            _sum(usage.output_tokens for usage in counted),
            _sum(usage.reasoning_tokens for usage in counted),
        )

    @property
    def is_at_limit(self) -> bool:
        """Say whether the provider said stop, and counts as many tokens as its limit allowed."""
        evidence = None if self.gate is None else self.gate.evidence
        if evidence is None or self.most_tokens is None or evidence.finish is None:
            return False
        return evidence.finish.reason is FinishReason.STOP and _of_answer(evidence.usage) == self.most_tokens

    def _warnings(self) -> tuple[ReceiptWarning, ...]:
        if self.gate is None:
            return ()
        evidence = self.gate.evidence
        found = list[ReceiptWarning](sorted(evidence.notices))
        finish = evidence.finish
        if finish is not None and evidence.is_line_lost:
            found.append("transport_closed_after_terminal")
        if self.is_at_limit:
            found.append("usage_equals_limit")
        if self.is_close_failed:
            found.append("close_failed")
        if _REPLACEMENT in evidence.passed:
            found.append("replacement_character")
        return tuple(found)

    def _first_violation(self) -> int | None:
        violation = None if self.gate is None else self.gate.evidence.violation
        return None if violation is None else violation.position

    def _tokens_saved(self) -> int | None:
        """Return what was saved by reading no further; None where the stream was read to its end."""
        if self.gate is None or self.most_tokens is None:
            return None
        evidence = self.gate.evidence
        is_stopped = evidence.violation is not None and isinstance(self.gate.verdict, Violated)
        if not is_stopped or evidence.finish is not None or evidence.is_line_lost or evidence.fault is not None:
            return None
        return max(0, self.most_tokens - self._pieces)

    def _time_per_token(self) -> float | None:
        if self._first_text_at is None or self._last_text_at is None:
            return None
        tokens = self._tokens
        if tokens is None and self.gate is not None:
            tokens = _of_answer(self.gate.evidence.usage)
        # A backend may count what no float can hold, and what nobody can have written.
        if tokens is None or not 2 <= tokens <= _MOST_TOKENS:
            return None
        return (self._last_text_at - self._first_text_at) / (tokens - 1)

    def _all_layers(self) -> tuple[LayerRecord, ...]:
        ran = {record.layer: record for record in (*self._stream_layers(), *self.layers)}
        return tuple(ran.get(layer) or LayerRecord(layer=layer, ran=False, passed=None) for layer in Layer)

    def _stream_layers(self) -> tuple[LayerRecord, ...]:
        gate = self.gate
        if gate is None or gate.verdict is None:
            return ()
        finish = gate.evidence.finish
        says_whole = finish is not None and finish.reason is FinishReason.STOP
        is_contradicted = isinstance(gate.verdict, Refused | Unavailable)
        record = LayerRecord(layer=Layer.FINISH, ran=True, passed=says_whole and not is_contradicted)
        if finish is None:
            return (record,)
        return record, LayerRecord(layer=Layer.ACCEPT, ran=True, passed=gate.is_accepting)


def detail_of(ending: Outcome[object, object] | None) -> str | None:
    """Return an ending's own kind, phase or layer; None where it has none."""
    match ending:
        case TimedOut(phase=detail) | Invalid(layer=detail):
            return str(detail)
        case Truncated(kind=detail) | Disconnected(kind=detail) | Violated(kind=detail) | Unavailable(kind=detail):
            return detail
        case _:
            return None


def _of_answer(usage: Usage) -> int | None:
    """Return the tokens of the answer alone; its limit is on these."""
    return None if usage.output_tokens is None else usage.output_tokens - (usage.reasoning_tokens or 0)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


__all__ = ["Facts", "detail_of"]
