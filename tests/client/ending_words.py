"""Words by which other tools name their endings, and the ending that each is here: one table for every test."""

from dataclasses import dataclass

from commitgate.errors import KeyConflictError
from commitgate.outcome import (
    Cancelled,
    Committed,
    Disconnected,
    EffectFailed,
    Filtered,
    InDoubt,
    Invalid,
    Outcome,
    Refused,
    TimedOut,
    Truncated,
    Unavailable,
    Unsupported,
    Violated,
)


@dataclass(frozen=True)
class Named:
    """Name an ending, or the error raised in its place, and which kinds, layers or codes of it a word may stand for."""

    ending: type[object]
    kinds: tuple[str, ...] = ()


WORDS = {
    "committed": Named(Committed),
    "complete": Named(Committed),
    "refused": Named(Refused),
    "content_filtered": Named(Filtered),
    "filtered": Named(Filtered),
    "truncated_length": Named(Truncated, ("max_tokens", "context")),
    "truncated": Named(Truncated, ("max_tokens", "context")),
    "paused": Named(Truncated, ("paused",)),
    "truncated_stream": Named(Disconnected, ("ended",)),
    "connection_lost": Named(Disconnected, ("lost",)),
    "interrupted": Named(Disconnected, ("ended", "lost")),
    "aborted": Named(Disconnected, ("aborted",)),
    "cancelled": Named(Cancelled),
    "timeout": Named(TimedOut, ("pool", "connect", "first_event", "idle", "progress", "total")),
    "provider_error": Named(Unavailable, ("server", "overload")),
    "server_error": Named(Unavailable, ("server", "overload")),
    "rate_limited": Named(Unavailable, ("rate_limit", "quota")),
    "auth_error": Named(Unavailable, ("auth",)),
    "bad_request": Named(Unavailable, ("bad_request",)),
    "request_error": Named(Unavailable, ("bad_request", "in_progress")),
    "protocol_error": Named(Unavailable, ("protocol",)),
    "unknown_finish": Named(Unavailable, ("unknown_finish",)),
    "idempotency_conflict": Named(KeyConflictError),
    "unsupported_schema": Named(Unsupported),
    "constraint_error": Named(Unsupported),
    "malformed_output": Named(Violated, ("not_json", "not_accepting", "limit")),
    "malformed": Named(Violated, ("server_malformed",)),
    "output_too_large": Named(Violated, ("limit",)),
    "schema_invalid": Named(Invalid, ("schema", "type")),
    "business_invalid": Named(Invalid, ("rules",)),
    "validator_error": Named(Invalid, ("rule_error",)),
    "commit_failed": Named(EffectFailed),
    "commit_in_doubt": Named(InDoubt),
}


def kind_of(outcome: Outcome[object, object]) -> str | None:
    """Return the kind, layer or code of an ending; the code where a rule broke."""
    match outcome:
        case Truncated(kind=kind) | Disconnected(kind=kind) | Violated(kind=kind) | Unavailable(kind=kind):
            return kind
        case TimedOut(phase=phase):
            return phase
        case Invalid(layer=layer, failures=failures):
            return "rule_error" if failures[0].code == "rule_error" else str(layer)
        case _:
            return None


def is_named(outcome: Outcome[object, object], word: str) -> bool:
    """Say whether the word stands for this ending."""
    named = WORDS[word]
    kind = kind_of(outcome)
    return isinstance(outcome, named.ending) and (kind in named.kinds if named.kinds else kind is None)
