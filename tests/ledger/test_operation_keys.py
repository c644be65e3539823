"""Keys and fingerprints: what they accept, and that they tell apart what differs."""

import re
import traceback

import pytest

from commitgate.backends.base import Message
from commitgate.errors import MisuseError
from commitgate.retry import (
    MAX_OPERATION_KEY_BYTES,
    effect_key,
    given_fingerprint,
    messages_fingerprint,
    operation_key,
    operation_key_digest,
    request_key,
)

KEY = operation_key("case-4711")
HEXADECIMAL = re.compile(r"[0-9a-f]{64}")


@pytest.mark.parametrize(
    "text", ["a", "a" * MAX_OPERATION_KEY_BYTES, "ü" * (MAX_OPERATION_KEY_BYTES // 2), "a\0b", " "]
)
def test_a_key_within_its_limit_is_taken_as_it_is(text: str) -> None:
    assert operation_key(text) == text


@pytest.mark.parametrize(
    "text", ["", "canary" * 200, "ü" * (MAX_OPERATION_KEY_BYTES // 2 + 1), "canary\ud800", 4711, None, b"canary"]
)
def test_a_key_outside_its_limits_is_misuse_and_is_not_shown(text: object) -> None:
    with pytest.raises(MisuseError) as caught:
        operation_key(text)  # pyright: ignore[reportArgumentType] - callers without a type checker
    assert "canary" not in str(caught.value)
    assert "canary" not in "".join(traceback.format_exception_only(caught.value))
    assert caught.value.__cause__ is None


def test_an_effect_key_depends_on_key_name_and_version_and_shows_none() -> None:
    keys = {
        effect_key(KEY, "shop.refund", "1"),
        effect_key(KEY, "shop.refund", "2"),
        effect_key(KEY, "shop.charge", "1"),
        effect_key(operation_key("case-4712"), "shop.refund", "1"),
        effect_key(operation_key("case-4711shop"), ".refund", "1"),
    }
    assert len(keys) == 5
    assert all(HEXADECIMAL.fullmatch(key) for key in keys)


def test_an_effect_key_stays_the_same_between_versions_of_this_library() -> None:
    assert effect_key(KEY, "shop.refund", "1") == "ce9032bbf4352c7e017c73b0645b7eb726ea019b23aa77680d21f2e26d8176e9"


def test_a_request_key_is_the_same_for_the_same_request_and_fits_a_header() -> None:
    first = request_key(operation_key=KEY, call_id=None, re_ask=0, body=b"{}")
    assert first == request_key(operation_key=KEY, call_id="ignored", re_ask=0, body=b"{}")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", first)


def test_a_request_key_depends_on_call_re_ask_and_body() -> None:
    keys = {
        request_key(operation_key=KEY, call_id=None, re_ask=0, body=b"{}"),
        request_key(operation_key=KEY, call_id=None, re_ask=1, body=b"{}"),
        request_key(operation_key=KEY, call_id=None, re_ask=0, body=b"[]"),
        request_key(operation_key=None, call_id=KEY, re_ask=0, body=b"{}"),
        request_key(operation_key=None, call_id="other", re_ask=0, body=b"{}"),
    }
    assert len(keys) == 5


@pytest.mark.parametrize("call_id", [None, ""])
def test_a_request_key_without_key_and_call_id_is_misuse(call_id: str | None) -> None:
    with pytest.raises(MisuseError):
        request_key(operation_key=None, call_id=call_id, re_ask=0, body=b"{}")


def test_a_fingerprint_of_messages_tells_roles_and_borders_apart() -> None:
    fingerprints = {
        messages_fingerprint([]),
        messages_fingerprint([Message("user", "ab")]),
        messages_fingerprint([Message("system", "ab")]),
        messages_fingerprint([Message("user", "a"), Message("user", "b")]),
        given_fingerprint("ab"),
    }
    assert len(fingerprints) == 5
    assert all(HEXADECIMAL.fullmatch(fingerprint) for fingerprint in fingerprints)


def test_an_input_that_utf_8_cannot_encode_is_misuse() -> None:
    with pytest.raises(MisuseError, match="input_fingerprint must be text that UTF-8 can encode"):
        given_fingerprint("a\ud800")


def test_a_digest_of_a_key_is_its_sha256() -> None:
    assert operation_key_digest(operation_key("abc")) == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
