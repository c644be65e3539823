"""Gather what a receipt tells, as it becomes known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import isfinite
from typing import Literal, TypeVar

from commitgate.backends.base import BackendIdentity, FinishReason, TextDelta
from commitgate.contract import Contract
from commitgate.gate.gate import Gate
from commitgate.gate.layers import Layer, LayerRecord
from commitgate.outcome import Ending, Receipt, Refused, Unavailable

E = TypeVar("E", bound=Ending)


@dataclass(slots=True)
class Facts:
    """Gather what is known of one call; ``receipt`` gives it as it stands.

    Attributes:
        contract: known once it is built.
        compile_result: as in the receipt.
        compile_s: as in the receipt.
        identity: what answers, known once an attempt is open.
        attempts: requests made.
        gate: judges the last attempt.
        layers: records of the layers that the text was taken through.
        value_digest: as in the receipt.
        operation_key_digest: as in the receipt.
        effect_key: as in the receipt.
    """

    contract: Contract[object] | None = None
    compile_result: Literal["compiled", "failed", "not_reached"] = "not_reached"
    compile_s: float | None = None
    identity: BackendIdentity | None = None
    attempts: int = 0
    gate: Gate | None = None
    layers: list[LayerRecord] = field(default_factory=list[LayerRecord])
    value_digest: str | None = None
    operation_key_digest: str | None = None
    effect_key: str | None = None
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
        return "" if self.gate is None else self.gate.evidence.text.decode(errors="replace")

    def begin_attempt(self, now: float) -> None:
        """Note that a request goes out; what the last attempt measured is forgotten."""
        self.attempts += 1
        self.gate = None
        self._requested_at = now
        self._first_text_at = self._last_text_at = None
        self._tokens = 0
        self._legal_mass_min, self._legal_mass_sum, self._legal_mass_count = None, 0.0, 0

    def note_text(self, delta: TextDelta, now: float) -> None:
        """Note when text arrived, how many tokens it was and how likely it was to the model."""
        if self._first_text_at is None:
            self._first_text_at = now
        self._last_text_at = now
        self._tokens = None if delta.tokens is None or self._tokens is None else self._tokens + delta.tokens
        if delta.legal_mass is not None and isfinite(delta.legal_mass):
            least = self._legal_mass_min
            self._legal_mass_min = delta.legal_mass if least is None else min(least, delta.legal_mass)
            self._legal_mass_sum += delta.legal_mass
            self._legal_mass_count += 1

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
            )
        if evidence is not None:
            receipt = replace(receipt, usage=evidence.usage, text_digest=sha256(evidence.text).hexdigest())
        return receipt

    def _time_per_token(self) -> float | None:
        if self._first_text_at is None or self._last_text_at is None:
            return None
        tokens = self._tokens
        if tokens is None and self.gate is not None:
            tokens = self.gate.evidence.usage.output_tokens
        return None if tokens is None or tokens < 2 else (self._last_text_at - self._first_text_at) / (tokens - 1)

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


__all__ = ["Facts"]
