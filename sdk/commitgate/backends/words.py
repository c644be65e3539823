"""Say what the words of the providers mean: why an answer ended, and what sort of failure an error is.

Words are compared exactly. One that stands in no table is unknown, and an unknown finish commits nothing. The finish
words of calls of tools are unknown on purpose where no tools were offered: they say that the model wants a call, not
that an answer is whole.
Source: the wire formats of OpenAI (Chat and Responses), Anthropic, Gemini, vLLM, SGLang, llama.cpp, TGI and Ollama.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from commitgate.backends.base import Fault, FaultKind, Finish, FinishReason

_BY_REASON: Mapping[FinishReason, tuple[str, ...]] = {
    FinishReason.STOP: (
        "stop",
        "STOP",
        "end_turn",
        "stop_sequence",  # it may have cut the text; the automaton tells
        "completed",
        "eos",
        "eos_token",
        "word",
    ),
    FinishReason.LENGTH: (
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "max_output_tokens",
        "model_context_window_exceeded",
        "limit",
        "incomplete",
        "budget_exceeded",
    ),
    FinishReason.CONTENT_FILTER: (
        "content_filter",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "MODEL_ARMOR",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ),
    FinishReason.REFUSAL: ("refusal",),
    FinishReason.PAUSED: ("paused", "pause_turn", "requires_continuation"),
    FinishReason.MALFORMED: (
        "malformed",
        "repetition",
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
    ),
    FinishReason.CANCELLED: ("cancelled", "abort"),
}

FINISH_WORDS: Mapping[str, FinishReason] = {word: reason for reason, words in _BY_REASON.items() for word in words}
"""What each finish word means."""

TOOL_FINISH_WORDS = frozenset({"tool_calls", "tool_use", "function_call", "requires_action"})
"""Words by which a server says that a turn of calls is whole."""

FAULT_WORDS: Mapping[str, FaultKind] = {
    "error": "server",
    "failed": "server",
    "insufficient_system_resource": "overload",
}
"""Finish words that tell of a failure."""

_BY_KIND: Mapping[FaultKind, tuple[str, ...]] = {
    "rate_limit": (
        "rate_limit_error",
        "rate_limit_exceeded",
        "RESOURCE_EXHAUSTED",
        "resource_exhausted",
        "RateLimitError",
        "too_many_requests",
    ),
    "quota": ("insufficient_quota", "billing_error", "billing_hard_limit_reached", "quota_exceeded"),
    "overload": (
        "overloaded_error",
        "overloaded",
        "unavailable_error",
        "UNAVAILABLE",
        "unavailable",
        "ServiceUnavailableError",
        "slow_down",
    ),
    "server": ("timeout_error", "DEADLINE_EXCEEDED", "deadline_exceeded", "generation", "incomplete_generation"),
    "auth": (
        "authentication_error",
        "permission_error",
        "invalid_api_key",
        "UNAUTHENTICATED",
        "unauthenticated",
        "PERMISSION_DENIED",
        "permission_denied",
        "API_KEY_INVALID",
        "AuthenticationError",
        "PermissionDeniedError",
    ),
    "bad_request": (
        "not_found_error",
        "model_not_found",
        "request_too_large",
        "not_supported_error",
        "exceed_context_size_error",
        "context_length_exceeded",
        "invalid_prompt",
        "invalid_json_schema",
        "validation",
        "NotFoundError",
    ),
    "in_progress": ("idempotency_in_progress",),
    "conflict": ("idempotency_key_reused",),
}

_GENERIC: Mapping[FaultKind, tuple[str, ...]] = {
    "server": (
        "server_error",
        "api_error",
        "INTERNAL",
        "internal",
        "internal_error",
        "internal_server_error",
        "InternalServerError",
    ),
    "bad_request": (
        "invalid_request_error",
        "invalid_request",
        "BadRequestError",
        "UnprocessableEntityError",
        "INVALID_ARGUMENT",
        "invalid_argument",
        "FAILED_PRECONDITION",
        "failed_precondition",
        "NOT_FOUND",
        "not_found",
    ),
}

GENERIC_CODES = frozenset(code for codes in _GENERIC.values() for code in codes)
"""Words that some providers send with every status of a kind: one of these says less than the status beside it."""

_TELLING_CODES: Mapping[str, FaultKind] = {code: kind for kind, codes in _BY_KIND.items() for code in codes}

FAULT_CODES: Mapping[str, FaultKind] = {
    **_TELLING_CODES,
    **{code: kind for kind, codes in _GENERIC.items() for code in codes},
}
"""What sort of failure the codes and types of error objects mean."""

_STATUS_KINDS: Mapping[int, FaultKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "server",
    409: "in_progress",
    424: "server",
    429: "rate_limit",
    503: "overload",
    529: "overload",
}

_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


def read_finish(word: str, *, offers_tools: bool = False) -> Finish | Fault:
    """Return what a provider's finish word says.

    Args:
        word: it.
        offers_tools: tools were offered, so the words of their calls are known.
    """
    kind = FAULT_WORDS.get(word)
    if kind is not None:
        return Fault(kind, "its finish word tells of a failure", code=word)
    if offers_tools and word in TOOL_FINISH_WORDS:
        return Finish(FinishReason.STOP, word)
    return Finish(FINISH_WORDS.get(word, FinishReason.UNKNOWN), word)


def fault_kind(status: int | None, codes: Iterable[str]) -> FaultKind:
    """Return what sort of failure an error is.

    Args:
        status: the status that it came with, or that its object names, where there is one >= 300.
        codes: the codes and types that its object names, the most telling first. A known one beats the status, unless
            it is one of those that say no more than that the request or the server is to blame.
    """
    known = _TELLING_CODES if status is not None and status >= 400 else FAULT_CODES
    kind: FaultKind | None = next((known[code] for code in codes if code in known), None)
    if kind is not None and not (status == 429 and kind == "overload"):
        return kind
    if status is None:
        return "server"
    if status < 400:
        return "protocol"
    return _STATUS_KINDS.get(status, "bad_request" if status < 500 else "server")


def safe_code(word: object) -> str | None:
    """Return a provider's code where it looks like one; anything else could be payload."""
    return word if isinstance(word, str) and _CODE.fullmatch(word) else None


__all__ = [
    "FAULT_CODES",
    "FAULT_WORDS",
    "FINISH_WORDS",
    "GENERIC_CODES",
    "TOOL_FINISH_WORDS",
    "fault_kind",
    "read_finish",
    "safe_code",
]
