"""Let people with a browser look at what a server recorded: codes that work once, and sessions in cookies.

A browser sends no bearer token by itself. A link that the server writes where it was started carries a code behind
``#``, which no browser sends, so that no log and no other server sees it; the page takes it out of the address and
trades it for a cookie that scripts cannot read and other sites cannot use. Codes and sessions are known by their
digests alone.

Source: RFC 9110, section 4.2.5 (fragments are not sent); RFC 6265, section 4.1.2.6 (HttpOnly);
draft-ietf-httpbis-rfc6265bis, "The SameSite Attribute".
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Final

from commitgate_local.server.authorization import BearerToken

COOKIE: Final = "commitgate_inspect"
"""Name of the cookie that carries a session."""

SESSION_S: Final = 43_200.0
"""Seconds for which a session lasts: a working day, and no night."""

MAX_SESSIONS: Final = 32
"""Most sessions at a time; the oldest makes room."""

MAX_LOGIN_BYTES: Final = 4_096
"""Size of the body by which somebody logs in."""

_SECRET_BYTES: Final = 32


class InspectAccess:
    """Know who may look.

    Args:
        token: the server's bearer token, which may be used in place of a code; None where there is none.
        clock: seconds that never go back.
        tell: is told of each new code, to write it where only who started the server reads; None for nobody.
    """

    def __init__(
        self, *, token: BearerToken | None, clock: Callable[[], float], tell: Callable[[str], None] | None = None
    ) -> None:
        self._token = token
        self._clock = clock
        self._tell = tell
        self._code: bytes | None = None
        self._sessions: dict[bytes, float] = {}

    @property
    def takes_token(self) -> bool:
        """Say whether the server's bearer token lets in."""
        return self._token is not None

    def new_code(self) -> str:
        """Return a code that works once; the one before it works no more."""
        code = secrets.token_urlsafe(_SECRET_BYTES)
        self._code = _digest(code)
        return code

    def log_in(self, *, code: str = "", token: str = "") -> str | None:
        """Return a new session for a code, which is then used up, or for the bearer token; None for neither.

        Args:
            code: the code; empty for none.
            token: the token; empty for none.
        """
        if self._code is not None and code and hmac.compare_digest(_digest(code), self._code):
            self._code = None
            session = self._new_session()
            if self._tell is not None:
                self._tell(self.new_code())
            return session
        if self._token is not None and token and self._token.matches(f"Bearer {token}"):
            return self._new_session()
        return None

    def allows(self, session: str | None, authorization: str | None) -> bool:
        """Say whether a cookie or a header ``Authorization`` lets somebody look."""
        if self._token is not None and authorization is not None and self._token.matches(authorization):
            return True
        until = None if not session else self._sessions.get(_digest(session))
        return until is not None and self._clock() < until

    def log_out(self, session: str | None) -> None:
        """End a session."""
        if session:
            self._sessions.pop(_digest(session), None)

    def _new_session(self) -> str:
        now = self._clock()
        self._sessions = {digest: until for digest, until in self._sessions.items() if now < until}
        while len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        session = secrets.token_urlsafe(_SECRET_BYTES)
        self._sessions[_digest(session)] = now + SESSION_S
        return session


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


__all__ = ["COOKIE", "MAX_LOGIN_BYTES", "MAX_SESSIONS", "SESSION_S", "InspectAccess"]
