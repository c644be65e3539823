"""Derive every key and fingerprint from the one key that the caller chooses.

The *operation key* names the business act: it is the ledger's primary key and is never sent anywhere. The *effect
key* is handed to the effect, for downstream calls that know idempotency keys. The *request key* goes out with every
attempt of one request. The last two are hashes, so neither gives the operation key away.

Random ids come in as arguments. Source: design, "Keys and the ledger".
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import NewType

from commitgate.argument import check_text
from commitgate.backends.base import Message
from commitgate.errors import MisuseError

OperationKey = NewType("OperationKey", str)
EffectKey = NewType("EffectKey", str)

MAX_OPERATION_KEY_BYTES = 1_024
"""Longest operation key, in bytes of UTF-8: it is an index key, not a place for payload."""


def operation_key(text: str) -> OperationKey:
    """Check that ``text`` can name a business act.

    Args:
        text: 1 to 1,024 bytes as UTF-8.

    Raises:
        MisuseError: it is empty, too long or not encodable. The message never shows it.
    """
    check_text("operation_key", text)
    size_bytes = len(text.encode())
    if not 1 <= size_bytes <= MAX_OPERATION_KEY_BYTES:
        raise MisuseError(f"operation_key must be 1 to {MAX_OPERATION_KEY_BYTES} bytes long, found {size_bytes}")
    return OperationKey(text)


def operation_key_digest(key: OperationKey) -> str:
    """Return the hexadecimal SHA-256 of an operation key, for receipts."""
    return sha256(key.encode()).hexdigest()


def effect_key(key: OperationKey, effect_name: str, effect_version: str) -> EffectKey:
    """Return the key that stands for this effect of this operation: 64 hexadecimal digits."""
    return EffectKey(_hash(b"effect key", key.encode(), effect_name.encode(), effect_version.encode()).hex())


def request_key(*, operation_key: OperationKey | None, call_id: str | None, re_ask: int, body: bytes) -> str:
    """Return the key that goes out with every attempt of one request: 43 characters of base64url.

    Args:
        operation_key: the business act; None where the call has none.
        call_id: a random id of the call, used only where there is no operation key.
        re_ask: how often the model was asked again, from 0: asking again is another request.
        body: the request as serialised once.

    Raises:
        MisuseError: there is neither an operation key nor a call id.
    """
    if operation_key is not None:
        subject = (b"operation key", operation_key.encode())
    elif call_id:
        subject = (b"call id", call_id.encode())
    else:
        raise MisuseError("a request key needs an operation key or a random call id")
    digest = _hash(b"request key", *subject, str(re_ask).encode(), sha256(body).digest())
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def messages_fingerprint(messages: Sequence[Message]) -> str:
    """Return the default input fingerprint, hexadecimal: what the model is asked, role by role."""
    parts = (part.encode() for message in messages for part in (message.role, message.content))
    return _hash(b"messages", *parts).hex()


def given_fingerprint(text: str) -> str:
    """Return the hexadecimal fingerprint of an input that the caller names by itself, so that no payload is stored.

    Raises:
        MisuseError: it is no text that UTF-8 can encode.
    """
    check_text("input_fingerprint", text)
    return _hash(b"given input", text.encode()).hex()


def _hash(*parts: bytes) -> bytes:
    """Hash parts so that moving a byte from one part to the next changes the result."""
    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


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
