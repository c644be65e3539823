"""Compare bearer tokens, and keep none of them where it could be read.

Source: RFC 6750, section 2.1.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from commitgate.argument import check_text
from commitgate.errors import MisuseError

_SCHEME: Final = "bearer"
_LEAST_CHARACTERS: Final = 8


class BearerToken:
    """Know a secret by its digest alone, so that no dump, log or repr can tell it.

    Args:
        token: the secret; at least 8 characters of visible ASCII, as a header can carry them.

    Raises:
        MisuseError: it is shorter, or has other characters.
    """

    __slots__ = ("_digest",)

    def __init__(self, token: str) -> None:
        check_text("token", token)
        if len(token) < _LEAST_CHARACTERS or not all("!" <= sign <= "~" for sign in token):
            raise MisuseError(f"token must have at least {_LEAST_CHARACTERS} characters, all of them visible ASCII")
        self._digest = _digest(token)

    def matches(self, authorization: str | None) -> bool:
        """Say whether a header ``Authorization`` carries it, in a time that tells nothing of it."""
        return hmac.compare_digest(_digest(bearer_of(authorization)), self._digest)


def bearer_of(authorization: str | None) -> str:
    """Return the token in a header ``Authorization``; ``""`` where there is none."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip(" ") if scheme.lower() == _SCHEME else ""


def key_scope(authorization: str | None, key: str) -> bytes:
    """Return what an idempotency key stands for: two clients with two tokens never meet in one key."""
    # The first digest has a fixed length, so no token and key can be shifted into one another.
    return hashlib.sha256(_digest(bearer_of(authorization)) + key.encode()).digest()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


__all__ = ["BearerToken", "bearer_of", "key_scope"]
