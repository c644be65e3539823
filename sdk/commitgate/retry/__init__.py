"""Decide what may be tried again, and under which keys."""

from commitgate.retry.keys import (
    MAX_OPERATION_KEY_BYTES,
    EffectKey,
    OperationKey,
    effect_key,
    given_fingerprint,
    messages_fingerprint,
    operation_key,
    operation_key_digest,
    request_key,
)

__all__ = [
    "MAX_OPERATION_KEY_BYTES",
    "EffectKey",
    "OperationKey",
    "effect_key",
    "given_fingerprint",
    "messages_fingerprint",
    "operation_key",
    "operation_key_digest",
    "request_key",
]
