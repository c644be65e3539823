"""Name what OpenTelemetry's conventions have no word for: every name that begins with ``commitgate.`` stands here.

``docs/telemetry.md`` says what each holds, and is compared with this module.
"""

from __future__ import annotations

from typing import Final

CALL_ID: Final = "commitgate.call.id"
CALL_KIND: Final = "commitgate.call.kind"
BACKEND: Final = "commitgate.backend"
MODEL_REVISION: Final = "commitgate.model.revision"
CONTRACT_NAME: Final = "commitgate.contract.name"
CONTRACT_VERSION: Final = "commitgate.contract.version"
CONTRACT_DIGEST: Final = "commitgate.contract.digest"
LANGUAGE_DIGEST: Final = "commitgate.contract.language_digest"
EFFECT_NAME: Final = "commitgate.effect.name"
OPERATION_KEY_DIGEST: Final = "commitgate.operation_key.digest"
OUTCOME: Final = "commitgate.outcome"
OUTCOME_DETAIL: Final = "commitgate.outcome.detail"
REPLAYED: Final = "commitgate.replayed"
REFUSED: Final = "commitgate.refused"
LAYER: Final = "commitgate.layer"
LAYER_VERDICT: Final = "commitgate.layer.verdict"
LAYERS_PASSED: Final = "commitgate.layers.passed"
ATTEMPTS: Final = "commitgate.attempts"
COMPILE_RESULT: Final = "commitgate.compile.result"
COMPILE_TIME: Final = "commitgate.compile.time"
TIME_PER_TOKEN: Final = "commitgate.time_per_token"
FINISH: Final = "commitgate.finish"
FALLBACK: Final = "commitgate.fallback"
LEGAL_MASS_MIN: Final = "commitgate.legal_mass.min"
LEGAL_MASS_MEAN: Final = "commitgate.legal_mass.mean"
TOKENS_SAVED: Final = "commitgate.tokens_saved"
WARNING: Final = "commitgate.warning"
WARNINGS: Final = "commitgate.warnings"
SERVER_DEDUP: Final = "commitgate.server_dedup"
LEDGER_STATE: Final = "commitgate.ledger.state"

REQUEST_NUMBER: Final = "commitgate.request.number"
REQUEST_WAITED: Final = "commitgate.request.waited"
REQUEST_ENDING: Final = "commitgate.request.ending"
REQUEST_DETAIL: Final = "commitgate.request.detail"
REQUEST_STATUS: Final = "commitgate.request.status"
REQUEST_ID: Final = "commitgate.request.id"
REQUEST_HAD_TEXT: Final = "commitgate.request.had_text"
REQUEST_INPUT_TOKENS: Final = "commitgate.request.input_tokens"
REQUEST_OUTPUT_TOKENS: Final = "commitgate.request.output_tokens"

CALLS: Final = "commitgate.client.calls"
CALL_DURATION: Final = "commitgate.client.call.duration"
ACTIVE_CALLS: Final = "commitgate.client.active_calls"
REQUESTS: Final = "commitgate.client.requests"
REPLAYS: Final = "commitgate.client.replays"
LAYERS: Final = "commitgate.client.layers"
COMPILE_DURATION: Final = "commitgate.client.compile.duration"
TOKEN_DURATION: Final = "commitgate.client.token.duration"
LEAST_LEGAL_MASS: Final = "commitgate.client.legal_mass.min"
MEAN_LEGAL_MASS: Final = "commitgate.client.legal_mass.mean"
SAVED_TOKENS: Final = "commitgate.client.tokens_saved"
RECEIPT_WARNINGS: Final = "commitgate.client.warnings"
OPERATIONS: Final = "commitgate.client.operations"
LEDGER_ROWS: Final = "commitgate.ledger.rows"
LEDGER_OLDEST: Final = "commitgate.ledger.oldest"
LEDGER_READABLE: Final = "commitgate.ledger.readable"

CALL_SPAN: Final = "commitgate call"
"""Name of the span of a call that asks no model and runs no tool."""

REQUEST_SPAN: Final = "commitgate request"
"""Name of the span of one request."""

TOKEN_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5)
"""Buckets of the time of one token, in seconds."""

COMPILE_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets of the time of a compilation, in seconds."""

MASS: Final = (1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)
"""Buckets of legal mass: close at both ends, where an answer is not to be believed, or fully the model's own."""

__all__ = [
    "ACTIVE_CALLS",
    "ATTEMPTS",
    "BACKEND",
    "CALLS",
    "CALL_DURATION",
    "CALL_ID",
    "CALL_KIND",
    "CALL_SPAN",
    "COMPILE_DURATION",
    "COMPILE_RESULT",
    "COMPILE_SECONDS",
    "COMPILE_TIME",
    "CONTRACT_DIGEST",
    "CONTRACT_NAME",
    "CONTRACT_VERSION",
    "EFFECT_NAME",
    "FALLBACK",
    "FINISH",
    "LANGUAGE_DIGEST",
    "LAYER",
    "LAYERS",
    "LAYERS_PASSED",
    "LAYER_VERDICT",
    "LEAST_LEGAL_MASS",
    "LEDGER_OLDEST",
    "LEDGER_READABLE",
    "LEDGER_ROWS",
    "LEDGER_STATE",
    "LEGAL_MASS_MEAN",
    "LEGAL_MASS_MIN",
    "MASS",
    "MEAN_LEGAL_MASS",
    "MODEL_REVISION",
    "OPERATIONS",
    "OPERATION_KEY_DIGEST",
    "OUTCOME",
    "OUTCOME_DETAIL",
    "RECEIPT_WARNINGS",
    "REFUSED",
    "REPLAYED",
    "REPLAYS",
    "REQUESTS",
    "REQUEST_DETAIL",
    "REQUEST_ENDING",
    "REQUEST_HAD_TEXT",
    "REQUEST_ID",
    "REQUEST_INPUT_TOKENS",
    "REQUEST_NUMBER",
    "REQUEST_OUTPUT_TOKENS",
    "REQUEST_SPAN",
    "REQUEST_STATUS",
    "REQUEST_WAITED",
    "SAVED_TOKENS",
    "SERVER_DEDUP",
    "TIME_PER_TOKEN",
    "TOKENS_SAVED",
    "TOKEN_DURATION",
    "TOKEN_SECONDS",
    "WARNING",
    "WARNINGS",
]
