"""Take out of a receipt what a trace keeps of it."""

from __future__ import annotations

from commitgate.gate.layers import LayerRecord
from commitgate.outcome import Receipt
from commitgate.trace.trace import TraceFailure, TraceLayer, TraceReceipt


def layer_facts(record: LayerRecord) -> TraceLayer:
    """Return how a layer went, without the values that it found."""
    return TraceLayer(
        layer=str(record.layer),
        ran=record.ran,
        passed=record.passed,
        time_s=record.time_s,
        failures=tuple(
            TraceFailure(code=each.code, pointer=each.pointer, message=each.message) for each in record.failures
        ),
    )


def receipt_facts(receipt: Receipt) -> TraceReceipt:
    """Return the facts that a person asks for first."""
    return TraceReceipt(
        model=receipt.model,
        model_revision=receipt.model_revision,
        tokenizer_fingerprint=receipt.tokenizer_fingerprint,
        finish=None if receipt.finish is None else str(receipt.finish),
        finish_native=receipt.finish_native,
        compile_s=receipt.compile_s,
        time_to_first_token_s=receipt.time_to_first_token_s,
        time_per_token_s=receipt.time_per_token_s,
        legal_mass_min=receipt.legal_mass_min,
        legal_mass_mean=receipt.legal_mass_mean,
        input_tokens=receipt.usage.input_tokens,
        output_tokens=receipt.usage.output_tokens,
        attempts=receipt.attempts,
        fallback=receipt.fallback,
        first_violation=receipt.first_violation,
        warnings=tuple(receipt.warnings),
        operation_key_digest=receipt.operation_key_digest,
        effect_key=receipt.effect_key,
    )


__all__ = ["layer_facts", "receipt_facts"]
