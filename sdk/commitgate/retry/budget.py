"""Bound how much all calls of a client together may retry."""

from __future__ import annotations

from commitgate.argument import check_finite, check_int
from commitgate.errors import MisuseError

_PARTS = 1_000_000_000
"""A token is counted in whole parts, so that ten tenths are exactly one."""


class RetryBudget:
    """Keep retries from multiplying the load on a server that is in trouble: a bucket of tokens, full at first.

    Every retry and restart spends one token; every call whose first request has ended gives ``refill`` back, up to
    ``tokens``. Once the bucket is empty, retries are at most ``refill`` of the calls. It is not locked: the clients
    that share it live in one event loop.

    Args:
        tokens: most retries in a row without any other call, >= 1.
        refill: tokens that one call gives back, in [0, 1].
    """

    __slots__ = ("_full", "_parts", "_refill")

    def __init__(self, *, tokens: int = 10, refill: float = 0.1) -> None:
        check_int("RetryBudget.tokens", tokens)
        if tokens < 1:
            raise MisuseError(f"RetryBudget.tokens must be an int >= 1, found {tokens}")
        wanted = "a number in [0, 1]"
        check_finite("RetryBudget.refill", refill, wanted)
        if not 0 <= refill <= 1:
            raise MisuseError(f"RetryBudget.refill must be {wanted}, found {refill!r}")
        self._full = tokens * _PARTS
        self._parts = self._full
        self._refill = round(refill * _PARTS)

    @property
    def has_token(self) -> bool:
        """``try_spend`` would succeed now."""
        return self._parts >= _PARTS

    def try_spend(self) -> bool:
        """Take one token for a retry; return False, and take none, where there is none."""
        if not self.has_token:
            return False
        self._parts -= _PARTS
        return True

    def deposit(self) -> None:
        """Give back for one call whose first request has ended, however it ended."""
        self._parts = min(self._full, self._parts + self._refill)


__all__ = ["RetryBudget"]
