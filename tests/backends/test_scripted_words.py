"""The words of the providers are read by one table, and what stands in none commits nothing."""

import pytest

from commitgate.backends.base import Fault, Finish, FinishReason
from commitgate.backends.words import (
    FAULT_CODES,
    FAULT_WORDS,
    FINISH_WORDS,
    fault_kind,
    read_finish,
    safe_code,
)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("end_turn", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("eos_token", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("max_tokens", FinishReason.LENGTH),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("refusal", FinishReason.REFUSAL),
        ("pause_turn", FinishReason.PAUSED),
        ("repetition", FinishReason.MALFORMED),
        ("MALFORMED_FUNCTION_CALL", FinishReason.MALFORMED),
        ("abort", FinishReason.CANCELLED),
        # Words of calls of tools, odd ends, and words that nobody knows yet.
        ("tool_calls", FinishReason.UNKNOWN),
        ("tool_use", FinishReason.UNKNOWN),
        ("load", FinishReason.UNKNOWN),
        ("OTHER", FinishReason.UNKNOWN),
        ("Stop", FinishReason.UNKNOWN),
        ("", FinishReason.UNKNOWN),
        ("moon_phase", FinishReason.UNKNOWN),
    ],
)
def test_finish_word_has_its_meaning(word: str, reason: FinishReason) -> None:
    assert read_finish(word) == Finish(reason, word)


def test_every_reason_of_ours_is_a_word_of_its_own() -> None:
    for reason in FinishReason:
        assert FINISH_WORDS.get(reason.value, FinishReason.UNKNOWN) is reason


def test_finish_word_of_a_failure_is_a_fault() -> None:
    assert not FAULT_WORDS.keys() & FINISH_WORDS.keys()
    event = read_finish("insufficient_system_resource")
    assert isinstance(event, Fault)
    assert (event.kind, event.code) == ("overload", "insufficient_system_resource")


@pytest.mark.parametrize(
    ("status", "codes", "kind"),
    [
        (401, [], "auth"),
        (403, [], "auth"),
        (402, [], "quota"),
        (429, [], "rate_limit"),
        (429, ["insufficient_quota"], "quota"),
        (400, [], "bad_request"),
        (404, [], "bad_request"),
        (422, ["idempotency_key_reused"], "conflict"),
        (409, [], "in_progress"),
        (500, [], "server"),
        (504, [], "server"),
        (503, [], "overload"),
        (529, [], "overload"),
        (302, [], "protocol"),
        (None, [], "server"),
        (None, ["never heard of", "overloaded_error"], "overload"),
    ],
)
def test_failure_is_of_its_kind(status: int | None, codes: list[str], kind: str) -> None:
    assert fault_kind(status, codes) == kind


def test_code_that_may_be_payload_is_dropped() -> None:
    assert safe_code("rate_limit_error") == "rate_limit_error"
    assert safe_code("Your key sk-1234 is wrong") is None
    assert safe_code("x" * 65) is None
    assert safe_code(None) is None
    assert all(safe_code(code) == code for code in FAULT_CODES)
