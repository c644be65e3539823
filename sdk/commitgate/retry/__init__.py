"""Decide what may be tried again, and under which keys."""

from commitgate.retry.budget import RetryBudget
from commitgate.retry.decision import Again, AgainKind, GiveUp, GiveUpReason, Tries, decide
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
from commitgate.retry.policy import Retry

__all__ = [
    "MAX_OPERATION_KEY_BYTES",
    "Again",
    "AgainKind",
    "EffectKey",
    "GiveUp",
    "GiveUpReason",
    "OperationKey",
    "Retry",
    "RetryBudget",
    "Tries",
    "decide",
    "effect_key",
    "given_fingerprint",
    "messages_fingerprint",
    "operation_key",
    "operation_key_digest",
    "request_key",
]
